"""How a model takes its parameters: conversion, precision and checks in one place."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tacit._light_programs import normal
from tacit._types import Array, Float, x64_for


def is_concrete(value: Any) -> bool:
    """Whether `value` holds numbers that can be checked, which a traced array does not."""
    return not isinstance(value, jax.core.Tracer)


def parameter(name: str, value: Any, axes: tuple[str, ...]) -> Float[Array, "..."]:
    """`value` as a real floating JAX array with the axes named, in its own precision.

    Lists and integers become float64. Shapes are always checked, values only where there are
    any: a model may be made inside `jit` or `vmap`.
    """
    if not isinstance(value, jax.Array):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise ValueError(
                f"{name}: received {value!r}, it must be a rectangular array"
            ) from error
    if value.ndim != len(axes):
        raise ValueError(
            f"{name}: received the shape {value.shape}, it must have the axes ({', '.join(axes)}); "
            "reshape it (a single vector needs an axis of length 1)"
        )
    if 0 in value.shape:
        raise ValueError(f"{name}: received the shape {value.shape}, it must not be empty")
    if not jnp.issubdtype(value.dtype, jnp.floating):
        if not (np.issubdtype(value.dtype, np.integer) or value.dtype == np.bool_):
            raise ValueError(
                f"{name}: received the dtype {value.dtype}, it must be real; a complex spectrum is "
                "what ConjugatePairs is for"
            )
        value = np.asarray(value, np.float64) if is_concrete(value) else value.astype(float)
    if is_concrete(value) and not np.all(np.isfinite(np.asarray(value, np.float64))):
        raise ValueError(f"{name}: received NaN or infinity among its entries, it must be finite")
    with x64_for(value):
        return jnp.asarray(value)


def check_length(length: int, name: str = "length") -> None:
    """Refuse a number of lags or units that is not a positive integer."""
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 1:
        raise ValueError(f"{name}: received {length!r}, it must be a positive integer")


def check_rows(name: str, value: Float[Array, "..."], width: int) -> None:
    """Refuse an array whose first axis is not the state's."""
    if value.ndim != 2 or value.shape[0] != width:
        raise ValueError(
            f"{name}: received {value.shape}, it must have the shape (width = {width}, n); give "
            "one vector a second axis of length 1"
        )


def gaussian(shape: tuple[int, ...], *, scale: Any, dtype: Any, key: Any) -> Float[Array, "..."]:
    """Independent normal entries with standard deviation `scale`."""
    if is_concrete(scale) and not (np.ndim(scale) == 0 and np.isfinite(scale) and scale >= 0):
        raise ValueError(
            f"scale: received {scale!r}, it must be a finite number that is not negative"
        )
    dtype = np.dtype(dtype)
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(
            f"dtype: received {dtype}, it must be a real floating one; use float64 or float32"
        )
    with x64_for(dtype):
        return normal(key, shape, dtype) * jnp.asarray(scale, dtype)
