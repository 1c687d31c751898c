"""Eigenvalues for teachers: evenly spaced, or at random."""

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Float, PRNGKeyArray


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


def _check_spectrum(order: int, low: float, high: float) -> None:
    if order < 1:
        raise ValueError(f"order: received {order!r}, it must be at least 1")
    if not low <= high:
        raise ValueError(f"low: received {low!r}, it must not be above high = {high!r}")
