"""What the statements of all papers share: margins, and derivatives exact to rounding."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def residual(found: Any, expected: Any, *, scale: float | None = None) -> float:
    """The largest difference between entries, divided by `scale`.

    By default `scale` is the largest entry of either array. Entries that are not finite give
    infinity: Python's `max` would pass over a NaN.
    """
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape != other.shape:
        raise ValueError(
            f"found, expected: received the shapes {one.shape} and {other.shape}, allowed are "
            "equal shapes"
        )
    if one.size == 0:
        return 0.0
    if not (np.all(np.isfinite(one)) and np.all(np.isfinite(other))):
        return np.inf
    size = max(np.max(np.abs(one)), np.max(np.abs(other))) if scale is None else scale
    return float(np.max(np.abs(one - other)) / size) if size > 0 else 0.0


def slack(smaller: Any, larger: Any) -> float:
    """The smallest (larger − smaller), divided by the size of the larger of the two.

    It is negative where the inequality is violated. A NaN on either side, or an infinite smaller
    side, gives minus infinity; an infinite larger side is no constraint.
    """
    left, right = np.broadcast_arrays(np.asarray(smaller, float), np.asarray(larger, float))
    if np.any(np.isnan(left) | np.isnan(right) | np.isposinf(left)):
        return -np.inf
    bounded = ~np.isposinf(right)
    if not np.any(bounded):
        return 1.0
    left, right = left[bounded], right[bounded]
    size = np.maximum(np.abs(left), np.abs(right))
    return float(np.min(np.divide(right - left, size, out=np.zeros_like(size), where=size > 0)))


def complex_step(function: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    """The gradient of a real analytic function by complex steps, exact to rounding.

    The function must not use `abs`, `conj` or `.real`.
    """
    gradient = np.empty(at.shape)
    for where in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[where] += 1e-30j
        gradient[where] = np.imag(function(moved)) / 1e-30
    return gradient


def is_symmetric(matrix: np.ndarray) -> bool:
    """Whether a matrix equals its transpose to rounding."""
    return residual(matrix, matrix.T) <= 1e-12
