"""Teachers of `memoryless`: without memory, linear of any order, and their wrong continuations."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models import Dense, LinearRNN

_TAIL = 1e-18  # the energy left out of a teacher's norm, as a fraction


@precise
def memoryless_teacher(weight: ArrayLike) -> LinearRNN:
    """y_t = W* x_t: A = 0, so that the response is W* at lag 0 and zero after it.

    `weight` is w*, a number, or the matrix W* (outputs, inputs).
    """
    matrix = np.asarray(weight, dtype=float)
    if matrix.ndim == 0:
        matrix = matrix[None, None]
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ValueError(
            f"weight must be a finite number or matrix (outputs, inputs), got {weight!r}"
        )
    inputs = matrix.shape[1]
    return LinearRNN(Dense(np.zeros((inputs, inputs))), np.eye(inputs), matrix)


def linear_teacher(order: int, *, radius: float = 0.9, key: PRNGKeyArray) -> LinearRNN:
    """A random linear teacher with one input and output, of the given order.

    The paper does not say how its teachers with memory are drawn. Here A, B and C are Gaussian, A
    is scaled to the spectral radius `radius`, below one, so that the response decays, and C so
    that its energy Σ_j (C A^j B)² over all lags is one: the zero response then has a mean squared
    error of nearly one at every length, whatever the order and the seed.
    """
    if isinstance(order, bool) or order < 1:
        raise ValueError(f"order must be at least 1, got {order!r}")
    if not 0 < radius < 1:
        raise ValueError(f"radius must lie between 0 and 1, so that memory fades, got {radius!r}")
    with jax.enable_x64(True):
        A, B, C = (
            np.asarray(jax.random.normal(part, shape, jnp.float64))
            for part, shape in zip(
                jax.random.split(key, 3), ((order, order), (order, 1), (1, order)), strict=True
            )
        )
        A = radius / np.max(np.abs(np.linalg.eigvals(A))) * A
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


def wrong_continuation(
    response: Float[Array | np.ndarray, "lags outputs inputs"], length: int, *, size: float = 1.0
) -> Float[np.ndarray, "lags outputs inputs"]:
    """The response with `size` (in every entry) added at the lags k, 2k, 3k, … for k = `length`.

    Right below lag k, wrong from there on: for a memoryless teacher and `size` = w* it is the
    response of the cyclic shift of width k (memoryless, Proposition 5.1), which fits sequences of
    length k perfectly.
    """
    if isinstance(length, bool) or length < 1:
        raise ValueError(f"length must be at least 1, got {length!r}")
    wrong = np.array(response, dtype=float)
    wrong[length::length] += size
    return wrong
