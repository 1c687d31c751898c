"""Linear teachers with a balanced state space (lowdim, appendix B.2.1).

A balanced teacher has a diagonal A and B = Cᵀ, so its impulse response is Σ p_i λ_i^j with weights
p_i = B_i² ≥ 0: the moments of a positive measure on its eigenvalues.
"""

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models import Diagonal, LinearRNN


def even_spectrum(order: int, low: float, high: float) -> Float[np.ndarray, " order"]:
    """Eigenvalues evenly spaced over [low, high], ends included."""
    _check_spectrum(order, low, high)
    return np.linspace(low, high, order)


def random_spectrum(
    order: int, low: float, high: float, *, key: PRNGKeyArray
) -> Float[np.ndarray, " order"]:
    """Eigenvalues drawn uniformly from [low, high], sorted."""
    _check_spectrum(order, low, high)
    with jax.enable_x64(True):
        drawn = jax.random.uniform(key, (order,), jnp.float64, low, high)
    return np.sort(np.asarray(drawn))


def gaussian_weights(order: int, *, key: PRNGKeyArray) -> Float[np.ndarray, " order"]:
    """Entries of B = Cᵀ drawn from N(0.5, 1), as in appendix B.2.1."""
    with jax.enable_x64(True):
        return np.asarray(0.5 + jax.random.normal(key, (order,), jnp.float64))


def equal_weights(order: int) -> Float[np.ndarray, " order"]:
    """Equal entries of B = Cᵀ: every mode is as visible as the others."""
    return np.ones(order)


@precise
def balanced_teacher(
    eigenvalues: Float[Array | np.ndarray, " order"], weights: Float[Array | np.ndarray, " order"]
) -> LinearRNN:
    """The balanced teacher with these eigenvalues and B = Cᵀ ∝ `weights`, scaled so that CB = 1."""
    norm = float(np.linalg.norm(np.asarray(weights)))
    if not norm > 0 or not np.isfinite(norm):
        raise ValueError(f"weights must be finite and not all zero, got {weights!r}")
    return LinearRNN(Diagonal(eigenvalues), np.asarray(weights)[:, None] / norm, None)


def _check_spectrum(order: int, low: float, high: float) -> None:
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order!r}")
    if not low <= high:
        raise ValueError(f"low must not be above high, got {low!r} and {high!r}")
