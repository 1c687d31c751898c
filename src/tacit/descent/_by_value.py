"""Functions compared by what they do, so that a program compiled for one serves its equal.

`optax.adam(1e-3)` written twice makes two pairs of functions. Python compares functions by
identity, so a cache of compiled programs keyed by them would compile twice. `ByValue` compares
them by content instead: the code, the defaults, the values in the closure and the values of the
globals that the code names, each recursively.

Two equal keys must mean the same program. So numbers are compared with their type and their bits
(1, 1.0, True and −0.0 all differ), arrays by their bytes, and an object about which nothing is
known makes the whole key fall back to identity.
"""

import builtins
import dataclasses
import enum
import functools
import hashlib
import types
from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

import jax
import numpy as np

T = TypeVar("T")


class ByValue(Generic[T]):
    """A value that equals another when both have the same content, and hashes by it."""

    __slots__ = ("_hash", "_key", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self._key = value_key(value)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByValue):
            return NotImplemented
        return self._hash == other._hash and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"ByValue({self.value!r})"


def value_key(value: Any) -> Hashable:
    """A hashable key: equal keys mean values that do the same."""
    try:
        return _Walk().key(value)
    except (_UnknownError, RecursionError):
        return ("itself", _itself(value))


class _UnknownError(Exception):
    """Something whose content cannot be read."""


class _Is:
    """An object compared by identity, and kept alive so that its identity stays its own."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Is) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def _itself(value: Any) -> Hashable:
    """The value by its own equality, or by identity if it cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        return _Is(value)
    return value


class _Plain:
    """An instance of a class with nothing in it but its `__dict__`."""


# Immutable as far as a compiled program is concerned.
_BY_IDENTITY = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, enum.Enum)
_LIBRARIES = ("jax", "jaxlib", "numpy")


class _Walk:
    """One walk through a value. What is met a second time is named by when it was first met."""

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._alive: list[Any] = []  # or an id could be given away during the walk

    def key(self, value: Any) -> Hashable:
        """The key of a value, by its kind."""
        if value is None or value is Ellipsis or value is NotImplemented:
            return (_Is(value),)
        if type(value) in (bool, int, str, bytes):
            return (type(value), value)
        if type(value) is float:
            return (float, value.hex())
        if type(value) is complex:
            return (complex, value.real.hex(), value.imag.hex())
        if isinstance(value, _BY_IDENTITY):
            return (_Is(value),)
        if isinstance(value, np.dtype):
            return (np.dtype, value)
        if isinstance(value, jax.Array | np.ndarray | np.generic):
            return _array_key(value)
        if id(value) in self._met:
            return ("again", self._met[id(value)])
        self._met[id(value)] = len(self._met)
        self._alive.append(value)
        return (type(value), *self._content(value))

    def _content(self, value: Any) -> Iterator[Hashable]:
        if isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from (self.key(value.__func__), self.key(value.__self__))
        elif isinstance(value, functools.partial):
            yield from (self.key(value.func), self.key(value.args), self.key(value.keywords))
        elif isinstance(value, tuple | list):  # NamedTuples too: the type is in the key
            yield from map(self.key, value)
        elif type(value) in (dict, types.MappingProxyType):
            yield from ((self.key(name), self.key(item)) for name, item in value.items())
        elif type(value) in (set, frozenset):
            yield frozenset(map(self.key, value))
        elif callable(value) and type(value).__module__.split(".")[0] in _LIBRARIES:
            yield _Is(value)  # a function that was compiled, or has a derivative of its own
        elif _has_own_equality(value):
            yield value
        elif type(value).__basicsize__ == _Plain.__basicsize__ and hasattr(value, "__dict__"):
            yield from ((name, self.key(item)) for name, item in vars(value).items())
        else:
            raise _UnknownError

    def _function(self, function: types.FunctionType) -> Iterator[Hashable]:
        # Code by identity: equal code from two runs of a notebook's cell may see other globals.
        yield _Is(function.__code__)
        yield _Is(function.__globals__)
        yield self.key(function.__defaults__)
        yield self.key(function.__kwdefaults__)
        for name, value in function.__dict__.items():
            yield (name, self.key(value))
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                yield "empty"
            else:
                yield self.key(content)
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                yield (name, _global_key(function.__globals__[name]))


def _names(code: types.CodeType) -> set[str]:
    """Every name that the code, or code within it, may look up among the globals."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names - set(vars(builtins))


def _global_key(value: Any) -> Hashable:
    """Numbers and words by value, and NumPy's arrays, which may change; others by identity."""
    if isinstance(value, bool | int | float | complex | str | bytes | np.ndarray):
        return value_key(value)
    return _Is(value)


def _array_key(array: Any) -> Hashable:
    if isinstance(array, jax.core.Tracer):
        raise _UnknownError
    kind: tuple[Hashable, ...] = (array.shape, str(array.dtype))
    if isinstance(array, jax.Array):
        if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        kind = (*kind, array.weak_type, array.sharding, array.committed)
    host = np.asarray(array)
    if host.dtype.hasobject:
        raise _UnknownError
    return (type(array), *kind, hashlib.sha256(np.ascontiguousarray(host).tobytes()).digest())


def _has_own_equality(value: Any) -> bool:
    """Whether the type compares by content, and can be hashed.

    A frozen dataclass made by hand is one; a module of Equinox hashes the arrays in it, which
    cannot be hashed, and is read field by field instead.
    """
    if type(value).__eq__ is object.__eq__ or dataclasses.is_dataclass(value):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True
