"""The dtypes of safetensors files, as NumPy's."""

from typing import Any

import ml_dtypes
import numpy as np

NAMES: dict[str, Any] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "I64": np.dtype(np.int64),
    "I32": np.dtype(np.int32),
    "I16": np.dtype(np.int16),
    "I8": np.dtype(np.int8),
    "U64": np.dtype(np.uint64),
    "U32": np.dtype(np.uint32),
    "U16": np.dtype(np.uint16),
    "U8": np.dtype(np.uint8),
    "BOOL": np.dtype(np.bool_),
}
"""NumPy's dtype for each name that a header may have."""

_BY_DTYPE = {dtype: name for name, dtype in NAMES.items()}


def name_of(dtype: np.dtype) -> str | None:
    """The name of a dtype in a header; None if it has none."""
    return _BY_DTYPE.get(np.dtype(dtype).newbyteorder("="))
