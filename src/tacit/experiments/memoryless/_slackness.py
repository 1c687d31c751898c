"""Symmetric and free students of a memoryless teacher under gradient descent: fig3's cells."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import Lanes, Record, Stop, descend
from tacit.experiments.memoryless._moments import recorded_steps
from tacit.experiments.memoryless._responses import responses
from tacit.experiments.memoryless._students import linear_student
from tacit.experiments.memoryless.fig3 import Fig3Config
from tacit.models import Dense, LinearRNN, Symmetric
from tacit.problems import half_population_loss, memoryless_teacher
from tacit.sweep import Batch


@functools.cache
def free_descent() -> optax.GradientTransformation:
    """Gradient descent; the rate comes apart."""
    return optax.sgd(1.0)


@functools.cache
def symmetric_descent() -> optax.GradientTransformation:
    """Gradient descent on the entries of A, B and C, for a student that is symmetric by parameters.

    An off-diagonal parameter of `Symmetric` and a parameter of B in a balanced student each stand
    at two entries, so that their derivatives are twice those by either entry. Half of them gives
    the step that descent on the free entries makes from the same symmetric point, (5)-(7).
    """
    return optax.chain(optax.stateless(_by_entry), optax.sgd(1.0))


def _by_entry(gradient: LinearRNN, _: Any) -> LinearRNN:
    transition = gradient.transition
    assert isinstance(transition, Symmetric)  # `started` makes no other
    upper = transition.upper
    row, column = np.triu_indices(transition.width)
    share = jnp.asarray(np.where(row == column, 1.0, 0.5), upper.dtype)
    return eqx.tree_at(
        lambda model: (model.transition.upper, model.B),
        gradient,
        (share * upper, 0.5 * gradient.B),
    )


def started(start: str, width: int, seed: int) -> LinearRNN:
    """The student at its start: Xavier's, or made symmetric with B = Cᵀ, or with A = I."""
    free = linear_student(width, gain=1.0, key=jax.random.fold_in(jax.random.key(3), seed))
    if start == "literal":
        return free
    A = np.asarray(free.transition.matrix())
    full = np.eye(width) if start == "identity" else (A + A.T) / 2
    return LinearRNN(Symmetric.from_matrix(full), free.B, None)


def align(batch: Batch, config: Fig3Config) -> Mapping[str, Any]:
    """Students, descent, eigenvalues and projections of one batch, in that order."""
    students = Lanes.stack(
        [started(batch.one("start"), config.width, int(seed)) for seed in batch.column("seed")]
    )
    symmetric = batch.one("start") != "literal"
    result = descend(
        students,
        half_population_loss(memoryless_teacher(config.weight), config.length),
        symmetric_descent() if symmetric else free_descent(),
        stop=Stop(config.steps, loss=config.goal),
        rate=config.rate,
        record=Record(recorded_steps(config.steps).tolist(), {"image": _image_norm}),
        title=batch.label,
    )
    A, B, C = _entries(result.model.tree)
    spectra = [spectrum(*lane, symmetric=symmetric) for lane in zip(A, B, strict=True)]
    response = responses(A, B, C, config.horizon)
    return {
        "outcome": result.outcome,
        "loss": result.records["loss"],
        "image_norm": result.records["image"],
        "final_loss": result.loss,
        "eigenvalue": np.stack([value for value, _ in spectra]),
        "projection": np.stack([projection for _, projection in spectra]),
        "slackness": np.array([np.max(value * projection) for value, projection in spectra]),
        "transition_norm": np.linalg.norm(A, axis=(1, 2)),
        "tail": np.max(np.abs(response[:, config.length :]), axis=1),
    }


def _entries(models: LinearRNN) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C of stacked students, written out."""
    B, transition = np.asarray(models.B), models.transition
    if isinstance(transition, Dense):
        return np.asarray(transition.entries), B, np.asarray(models.C)
    assert isinstance(transition, Symmetric)
    A = np.empty((len(B), B.shape[1], B.shape[1]))
    row, column = np.triu_indices(B.shape[1])
    A[:, row, column] = A[:, column, row] = np.asarray(transition.upper)
    return A, B, B.swapaxes(1, 2)


def spectrum(A: np.ndarray, B: np.ndarray, *, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """|λ_i|, the largest first, and |u_i| for u = V⁻¹B, which is VᵀB where A is symmetric.

    The columns of V have norm one. Without symmetry V is not orthogonal, but C A^j B is still
    a sum over i in which λ_i^j stands beside u_i.
    """
    if symmetric:
        values, vectors = np.linalg.eigh(A)
        projection = vectors.T @ B[:, 0]
    else:
        values, vectors = np.linalg.eig(A)
        projection = np.linalg.solve(vectors, B[:, 0].astype(complex))
    order = np.argsort(-np.abs(values))
    return np.abs(values)[order], np.abs(projection)[order]


def _image_norm(model: LinearRNN) -> jax.Array:
    """‖AB‖, which is ‖(λ_i u_i)‖ for a symmetric A."""
    return jnp.sqrt(jnp.sum(model.transition.apply(model.B) ** 2))
