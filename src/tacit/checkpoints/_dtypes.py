"""Which dtypes have a spectrum here, and what a change in them is computed in."""

import numpy as np

from tacit._tensors import name_of

_ANALYSED = ("F64", "F32", "F16", "BF16")


def is_analysed(dtype: np.dtype) -> bool:
    """Whether a change in this dtype has a spectrum here: floats of 16 bits or more."""
    return name_of(dtype) in _ANALYSED


def working(dtype: np.dtype) -> np.dtype:
    """The dtype that a change is computed in: float64 for float64, else float32."""
    return np.dtype(np.float64 if np.dtype(dtype) == np.float64 else np.float32)
