"""Measures work in the namespace of their input: JAX in, JAX out; anything else, NumPy float64."""

from types import ModuleType
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, Float

#: An array of either namespace.
AnyArray: TypeAlias = Array | np.ndarray
#: A number: a NumPy scalar, or a JAX array without axes.
Scalar: TypeAlias = np.float64 | Float[Array, ""]


def namespace_of(*arrays: Any) -> ModuleType:
    """`jax.numpy` if any of the arrays is a JAX one, traced or not, else `numpy`."""
    return jnp if any(isinstance(array, jax.Array) for array in arrays) else np


def as_real(name: str, value: Any, ndims: tuple[int, ...], expected: str) -> AnyArray:
    """`value` as a real array: a JAX array as it is, all else as NumPy float64.

    JAX arrays keep their dtype (integers become floats) and may hold NaN, since a diverged run is
    an outcome to carry along; NumPy's decompositions fail on them, so `finite` guards those.
    """
    if not isinstance(value, jax.Array):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise ValueError(f"{name}: received {value!r}, it must be {expected}") from error
    if value.ndim not in ndims or 0 in value.shape:
        raise ValueError(
            f"{name}: received the shape {value.shape}, it must be {expected} and not empty"
        )
    if value.dtype == object or jnp.issubdtype(value.dtype, jnp.complexfloating):
        raise ValueError(f"{name}: received the dtype {value.dtype}, it must be real")
    if isinstance(value, np.ndarray):
        try:
            return value.astype(np.float64)
        except ValueError as error:
            raise ValueError(
                f"{name}: received the dtype {value.dtype}, it must hold numbers"
            ) from error
    return value if jnp.issubdtype(value.dtype, jnp.floating) else value.astype(float)


def finite(name: str, value: AnyArray) -> AnyArray:
    """`value`, or an error if it is a NumPy array with NaN or infinity in it."""
    if isinstance(value, np.ndarray) and not np.all(np.isfinite(value)):
        raise ValueError(
            f"{name}: received NaN or infinity, it must be finite; leave diverged runs out"
        )
    return value
