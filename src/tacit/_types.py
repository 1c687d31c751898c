"""Array aliases and the precision mechanism: the one file that every room may import.

Without its x64 mode, JAX silently makes float32 arrays. Every public function that computes in
JAX is therefore wrapped in `precise`: it looks at the arrays that it was given and, if any of
them is a 64-bit one, computes inside `jax.enable_x64(True)`. The user's settings are never changed,
and what goes in as float64 comes out as float64.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import jax
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

__all__ = [
    "Array", "Float", "Int", "PRNGKeyArray", "PyTree",
    "has_64_bit", "precise", "x64_for",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

_WIDE_FLOAT = frozenset({"float64", "complex128"})


def _dtype_name(leaf: Any) -> str | None:
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        return leaf.dtype.name if isinstance(leaf.dtype, np.dtype) else str(leaf.dtype)
    if (isinstance(leaf, type) and issubclass(leaf, np.generic)) or isinstance(leaf, np.dtype):
        return np.dtype(leaf).name
    return None


def has_64_bit(*trees: PyTree) -> bool:
    """Whether any array (or dtype object) in `trees` has 64-bit floats."""
    return any(_dtype_name(leaf) in _WIDE_FLOAT for leaf in jax.tree.leaves(trees))


@contextlib.contextmanager
def x64_for(*trees: PyTree) -> Iterator[None]:
    """A context in which the arrays in `trees` keep their precision.

    With 64-bit floats among them JAX's x64 mode is on inside; otherwise nothing changes: float32
    arrays stay float32 in either mode.
    """
    if has_64_bit(*trees):
        with jax.enable_x64(True):
            yield
    else:
        yield


def precise(door: Callable[P, R]) -> Callable[P, R]:
    """Make a public function or method compute in the precision of its arguments."""

    @functools.wraps(door)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with x64_for(args, kwargs):
            return door(*args, **kwargs)

    return wrapped
