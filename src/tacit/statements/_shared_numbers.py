"""What checks share: margins, and derivatives to rounding error."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def residual(found: Any, expected: Any, *, scale: float | None = None) -> float:
    """The largest difference of entries over `scale`: the largest entry of either unless given.

    What is not finite gives infinity, which no `max` of Python's passes over as it does a NaN.
    """
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape != other.shape:
        raise ValueError(f"found, expected: the shapes {one.shape} and {other.shape} differ")
    if one.size == 0:
        return 0.0
    if not (np.all(np.isfinite(one)) and np.all(np.isfinite(other))):
        return np.inf
    size = max(np.max(np.abs(one)), np.max(np.abs(other))) if scale is None else scale
    return float(np.max(np.abs(one - other)) / size) if size > 0 else 0.0


def slack(smaller: Any, larger: Any) -> float:
    """The least of (larger − smaller) over the larger size of the two: negative where violated.

    A NaN on either side, or a smaller side that is infinite, gives minus infinity; an infinite
    larger side is no constraint.
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

    The function must be written without `abs`, `conj` or `.real`.
    """
    gradient = np.empty(at.shape)
    for where in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[where] += 1e-30j
        gradient[where] = np.imag(function(moved)) / 1e-30
    return gradient


def is_symmetric(matrix: np.ndarray) -> bool:
    """Whether a matrix is its own transpose to rounding."""
    return residual(matrix, matrix.T) <= 1e-12
