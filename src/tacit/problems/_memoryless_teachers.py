"""Teachers of `memoryless`: without memory, and linear of any order."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, key, number, numbers, whole
from tacit._light_programs import normal
from tacit._types import PRNGKeyArray, precise
from tacit.models import Dense, LinearRNN

_TAIL = 1e-18  # the energy left out of a teacher's norm, as a fraction


@door(weight=numbers())
@precise
def memoryless_teacher(weight: float | ArrayLike) -> LinearRNN:
    """y_t = W* x_t: A = 0, so that the response is W* at lag 0 and zero after it.

    `weight` is w*, a number, or the matrix W* (outputs, inputs).
    """
    matrix = np.asarray(weight, dtype=float)
    if matrix.ndim == 0:
        matrix = matrix[None, None]
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ValueError(
            f"weight: received {weight!r}, it must be a finite number or matrix (outputs, inputs)"
        )
    inputs = matrix.shape[1]
    return LinearRNN(Dense(np.zeros((inputs, inputs))), np.eye(inputs), matrix)


@door(order=whole(1, 100_000), radius=number(above=0, below=1), key=key)
def linear_teacher(order: int, *, radius: float = 0.9, key: PRNGKeyArray) -> LinearRNN:
    """A random linear teacher with one input and output, of the given order.

    The paper does not say how its teachers with memory are drawn. Here A is `radius`, below one,
    times a random orthogonal matrix: every mode fades alike, so that none hides behind the others
    and the order is really there. B and C are Gaussian, and C is scaled so that the energy
    Σ_j (C A^j B)² over all lags is one: the zero response then has a mean squared error of nearly
    one at every length, whatever the order and the seed.
    """
    if isinstance(order, bool) or order < 1:
        raise ValueError(f"order: received {order!r}, it must be at least 1")
    if not 0 < radius < 1:
        raise ValueError(
            f"radius: received {radius!r}, it must lie between 0 and 1, so that memory fades"
        )
    with jax.enable_x64(True):
        drawn = np.asarray(normal(key, (order, order + 2), jnp.float64))
        A, B, C = drawn[:, :order], drawn[:, order : order + 1], drawn[:, order + 1 :].T
        # With R's diagonal made positive, Q is uniform over all orthogonal matrices.
        Q, R = np.linalg.qr(A)
        A = radius * Q * np.sign(np.diag(R))
        return LinearRNN(Dense(A), B, C / np.sqrt(_energy(A, B, C)))


def _energy(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> float:
    """Σ_j (C A^j B)² = C P Cᵀ with P = Σ_j A^j B Bᵀ (Aᵀ)^j, by doubling."""
    power, gramian = A, B @ B.T
    for _ in range(64):
        term = power @ gramian @ power.T
        gramian = gramian + term
        if np.trace(term) <= _TAIL * np.trace(gramian):
            break
        power = power @ power
    return float((C @ gramian @ C.T)[0, 0])
