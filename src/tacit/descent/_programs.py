"""Compiled programs, kept while they are in use.

JAX keeps whatever it has compiled for a function for as long as the function lives, thousands of
programs if need be. Here every program is a function of its own, found by what it was compiled for,
and the ones that were not used lately are let go with their memory.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax

from tacit._light_programs import first_level, light_options, may_choose
from tacit._types import PyTree
from tacit.descent._by_value import ByValue

V = TypeVar("V")


class Recent(Generic[V]):
    """The `most` values that were asked for last; others are dropped, with what they hold."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()  # sweeps may descend in threads
        self._values: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of `key`, made if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            value = self._values.setdefault(key, value)
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._values)


PROGRAMS_KEPT = 256  # of this process; one small program takes a few megabytes
_PROGRAMS: Recent[Callable[..., Any]] = Recent(PROGRAMS_KEPT)

R = TypeVar("R")


def static_kind(tree: PyTree) -> Hashable:
    """What of a tree is fixed when a program is compiled: all but the values of its arrays."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple(_array_kind(leaf) or ByValue(leaf) for leaf in leaves)


def run_compiled(
    function: Callable[..., R],
    kind: Hashable,
    fixed: PyTree,
    *reused: PyTree,
    loop_options: Callable[[], dict[str, Any]] = first_level,
) -> R:
    """`function(fixed, *reused)`, compiled; the memory of the arrays in `reused` is given away.

    `fixed` may hold things that are not arrays; `kind` tells one such `fixed` from another (see
    `static_kind`), and `loop_options` goes by `kind`.
    """
    arrays, rest = eqx.partition(fixed, eqx.is_array)
    leaves, structure = jax.tree.flatten((arrays, reused))
    shapes = structure, tuple(map(_array_kind, leaves))
    # LLVM's first level compiles loops up to a quarter faster, and they run as fast. What reuses
    # nothing is no loop.
    options = (loop_options if reused else light_options)() if may_choose() else None

    def make() -> Callable[..., R]:
        def program(arrays: PyTree, *reused: PyTree) -> R:
            return function(eqx.combine(arrays, rest), *reused)

        donated = tuple(range(1, len(reused) + 1))
        return jax.jit(program, donate_argnums=donated, compiler_options=options)

    return _PROGRAMS.get((function, kind, shapes, options is None), make)(arrays, *reused)


def _array_kind(leaf: Any) -> Hashable:
    """The shape and type of an array; None for anything else."""
    if not eqx.is_array(leaf):
        return None
    return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)
