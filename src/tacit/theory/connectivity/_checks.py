"""Checks of the arguments that this room's public functions share."""

import numbers
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

#: Learning times: one, or an array of them.
Times: TypeAlias = float | int | ArrayLike


def checked_strength(g: Any) -> float:
    """The strength g of the initial connectivity, in [0, 1)."""
    value = checked_number("g", g)
    if not 0 <= value < 1:
        raise ValueError(
            f"g: received {g!r}, it must lie in [0, 1); from 1 on the linear network is unstable"
        )
    return value


def checked_number(name: str, value: Any) -> float:
    """A finite real number."""
    alone = isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not alone or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"{name}: received {value!r}, it must be a finite number")
    return float(value)


def checked_fraction(name: str, value: SupportsFloat) -> float:
    """A number strictly between 0 and 1."""
    number = checked_number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name}: received {value!r}, it must lie between 0 and 1")
    return number


def checked_times(times: Times) -> Float[np.ndarray, "..."]:
    """Learning times τ ≥ 0, of any shape."""
    array = np.asarray(times)
    if array.dtype.kind not in "fiu" or not np.all(array >= 0):
        raise ValueError(f"times: received {times!r}, they must be numbers from 0 on")
    return array.astype(np.float64)


def checked_vector(name: str, value: ArrayLike, size: int | None = None) -> np.ndarray:
    """A finite real vector, of a given size."""
    array = np.asarray(value)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        raise ValueError(
            f"{name}: received the dtype {array.dtype} and shape {array.shape}, it must be a real "
            "vector"
        )
    if size is not None and array.size != size:
        raise ValueError(
            f"{name}: received {array.size} entries, it must have {size}, one for each row of W0"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: received NaN or infinity, it must be finite")
    return array.astype(np.float64)


def checked_square(name: str, value: ArrayLike) -> Float[np.ndarray, "n n"]:
    """A finite real square matrix."""
    array = np.asarray(value)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.size > 0
    if not square or array.dtype.kind not in "fiu":
        raise ValueError(
            f"{name}: received the dtype {array.dtype} and shape {array.shape}, it must be a real "
            "square matrix"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: received NaN or infinity, it must be finite")
    return array.astype(np.float64)
