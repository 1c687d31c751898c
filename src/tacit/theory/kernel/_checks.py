"""What the kernel functions refuse: variances, lengths and sequences that make no sense."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float


def checked_variance(name: str, value: Any) -> float:
    """A variance: a finite number that is not negative."""
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "fiu" or not 0 <= float(number) < math.inf:
        raise ValueError(f"{name}: received {value!r}, a variance is a finite number ≥ 0")
    return float(number)


def checked_length(length: Any, name: str = "length") -> int:
    """A number of lags: a positive integer."""
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 1:
        raise ValueError(f"{name}: received {length!r}, it must be a positive integer")
    return int(length)


def checked_array(name: str, value: Any, axes: tuple[str, ...]) -> Float[np.ndarray, "..."]:
    """A finite real array in float64 with exactly these axes."""
    array = _real(name, value)
    if array.ndim != len(axes) or 0 in array.shape:
        raise ValueError(
            f"{name}: received the shape {array.shape}, it must have the axes ({', '.join(axes)}), "
            "none of them empty"
        )
    return array


def checked_sequences(name: str, value: Any) -> Float[np.ndarray, "..."]:
    """Sequences (…, time, inputs) in float64, with any leading axes."""
    array = _real(name, value)
    if array.ndim < 2 or 0 in array.shape[-2:]:
        raise ValueError(
            f"{name}: received the shape {array.shape}, it must have the axes (…, time, inputs); "
            "give a scalar sequence a last axis of length 1"
        )
    return array


def _real(name: str, value: Any) -> Float[np.ndarray, "..."]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name}: received the dtype {array.dtype}, it must be real numbers")
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: received NaN or infinity among its entries, it must be finite")
    return array
