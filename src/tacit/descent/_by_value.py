"""Functions and problems compared by what they do, so that equal ones share a compiled program.

`optax.adam(1e-3)` written twice makes two pairs of functions. Python compares functions by
identity, so a cache of compiled programs keyed by them would compile twice. `ByValue` compares
them by content instead: the code, the defaults, the values in the closure, the values of the
globals that the code names, and the attributes of objects and of their classes, each recursively.
What belongs to Python or to an installed package does not change while a process runs, and is
compared by identity.

Two equal keys must mean the same program. So numbers are compared with their type and their bits
(1, 1.0, True and −0.0 all differ), and arrays by their bytes. Where something cannot be read, a
function is compared by identity, as `jax.jit` does, and any other object equals nothing.
"""

import contextlib
import dataclasses
import dis
import enum
import functools
import hashlib
import sys
import sysconfig
import types
import weakref
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import jax
import numpy as np

T = TypeVar("T")


class ByValue(Generic[T]):
    """A value that equals another when both have the same content, and hashes by it."""

    __slots__ = ("_hash", "key", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self.key = value_key(value)
        self._hash = hash(self.key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByValue):
            return NotImplemented
        return self._hash == other._hash and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"ByValue({self.value!r})"


def value_key(value: Any) -> Hashable:
    """A hashable key: equal keys mean values that do the same."""
    try:
        return _Walk().key(value)
    except (_UnknownError, RecursionError):
        # Functions, and transformations made of them, by identity; anything else may change.
        return (
            "itself",
            value if isinstance(value, types.FunctionType | tuple) else Same(object()),
        )


class _UnknownError(Exception):
    """Something whose content cannot be read."""


class Same:
    """An object compared by identity, and kept alive so that its identity stays its own."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


_BY_IDENTITY = (types.BuiltinFunctionType, types.CodeType, enum.Enum)
_COMPILED = ("jax", "jaxlib", "numpy")  # their callables hold compiled code
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")
)


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a top-level package is Python's own, installed, or tacit: it does not change."""
    if package in ("tacit", "builtins") or package in sys.stdlib_module_names:
        return package != "__main__"
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and any(folder in Path(file).resolve().parents for folder in _INSTALLED)


def _from_installed(thing: Any) -> bool:
    """Whether a class or a function is defined in an installed package."""
    module = getattr(thing, "__module__", None)
    return isinstance(module, str) and is_installed(module.partition(".")[0])


class _Walk:
    """One walk through a value. What is met a second time is named by when it was first met."""

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._alive: list[Any] = []  # or an id could be given away during the walk

    def key(self, value: Any) -> Hashable:
        """The key of a value, by its kind."""
        if value is None or value is Ellipsis or value is NotImplemented:
            return (Same(value),)
        if type(value) in (bool, int, str, bytes):
            return (type(value), value)
        if type(value) is float:
            return (float, value.hex())
        if type(value) is complex:
            return (complex, value.real.hex(), value.imag.hex())
        if isinstance(value, _BY_IDENTITY):
            return (Same(value),)
        if isinstance(value, np.dtype):
            return (np.dtype, value)
        if type(value) is np.ndarray or isinstance(value, jax.Array | np.generic):
            return _array_key(value)
        if isinstance(value, type) and _from_installed(value):
            return (Same(value),)
        if id(value) in self._met:
            return ("again", self._met[id(value)])
        self._met[id(value)] = len(self._met)
        self._alive.append(value)
        if isinstance(value, type):
            return (Same(value), *self._attributes(value))
        return (self.key(type(value)), *self._content(value))

    def _content(self, value: Any) -> Iterator[Hashable]:
        if isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from (self.key(value.__func__), self.key(value.__self__))
        elif isinstance(value, functools.partial):
            yield from (self.key(value.func), self.key(value.args), self.key(value.keywords))
        elif type(value) in (tuple, list) or _is_named_tuple(value):
            yield from map(self.key, value)
            yield from map(self.key, getattr(value, "__dict__", {}).items())
        elif type(value) in (dict, types.MappingProxyType):
            yield from ((self.key(name), self.key(item)) for name, item in value.items())
        elif type(value) in (set, frozenset):
            yield frozenset(map(self.key, value))
        elif isinstance(value, staticmethod | classmethod):
            yield self.key(value.__func__)
        elif isinstance(value, property):
            yield from map(self.key, (value.fget, value.fset))
        elif callable(value) and type(value).__module__.split(".")[0] in _COMPILED:
            yield Same(value)  # a function that was compiled, or has a derivative of its own
        elif _has_own_equality(value):
            yield value
        else:
            kind: Any = type(value)
            slots = _slots(kind)
            for name, slot in slots.items():
                with contextlib.suppress(AttributeError):  # nothing was put there
                    yield (name, self.key(slot.__get__(value)))
            attributes = getattr(value, "__dict__", {})
            yield from ((name, self.key(item)) for name, item in attributes.items())

    def _function(self, function: types.FunctionType) -> Iterator[Hashable]:
        # Code by identity: equal code from two runs of a notebook's cell may see other globals.
        yield Same(function.__code__)
        yield Same(function.__globals__)
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
        names = _names(function.__code__)
        for name in sorted(_global_names(function.__code__) & function.__globals__.keys()):
            yield (name, self._named(function.__globals__[name], names))

    def _named(self, value: Any, names: set[str]) -> Hashable:
        """The key of a global; of a module, those of its attributes that the code may name."""
        if isinstance(value, types.FunctionType) and _from_installed(value):
            return (Same(value),)
        if not isinstance(value, types.ModuleType):
            return self.key(value)
        if is_installed(value.__name__.partition(".")[0]):
            return (Same(value),)
        named = sorted(names & vars(value).keys())
        return (Same(value), *((name, self._named(vars(value)[name], names)) for name in named))

    def _attributes(self, kind: type) -> Iterator[Hashable]:
        """What a class of the user's own, and its bases, say of their instances."""
        for base in kind.__mro__:
            for name, value in () if _from_installed(base) else vars(base).items():
                own = name == "__call__" or not name.startswith(("__", "_abc_"))
                if own and not isinstance(value, types.MemberDescriptorType):
                    yield (name, self.key(value))


def _names(code: types.CodeType) -> set[str]:
    """Every name in the code, or in code within it: of globals, and of attributes."""
    return {name for one in _codes(code) for name in one.co_names}


@functools.lru_cache(1024)
def _global_names(code: types.CodeType) -> frozenset[str]:
    """The names that the code, or code within it, looks up among the globals.

    Not those of attributes: `model.w` does not depend on a variable `w` of the user's script.
    """
    return frozenset(
        str(step.argval)
        for one in _codes(code)
        for step in dis.get_instructions(one)
        if "GLOBAL" in step.opname or step.opname == "LOAD_NAME"
    )


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and all code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.lru_cache(1024)
def _slots(kind: Any) -> dict[str, types.MemberDescriptorType]:
    """The slots of a class, if its instances hold nothing but them and a `__dict__`."""
    members = [item for base in kind.__mro__ for item in vars(base).items()]
    slots = {n: slot for n, slot in members if isinstance(slot, types.MemberDescriptorType)}
    places = [f"place{number}" for number in range(len(slots))]
    places += [name for name in ("__dict__", "__weakref__") if hasattr(kind, name)]
    if kind.__basicsize__ != type("Same", (), {"__slots__": places}).__basicsize__:
        raise _UnknownError
    return slots


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


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
    digest = hashlib.sha256(np.ascontiguousarray(host).tobytes()).digest()
    if array is host and jax.dtypes.canonicalize_dtype(host.dtype) != host.dtype:
        _refuse_changed(host, digest)
    return (type(array), *kind, digest)


_converted: dict[int, tuple[weakref.ref[np.ndarray], bytes]] = {}


def _refuse_changed(array: np.ndarray, digest: bytes) -> None:
    """Refuse an array that JAX has made a 32-bit one of and that was changed since.

    JAX goes on with what it has made for as long as the array lives.
    """
    place = id(array)
    known, before = _converted.get(place, (None, digest))
    if known is not None and known() is array and before != digest:
        raise ValueError(
            f"loss_or_problem: received a function with a NumPy array of {array.dtype} that was "
            f"changed in place since it was used, of which JAX keeps the old numbers; give it a "
            f"new array, or change one of {jax.dtypes.canonicalize_dtype(array.dtype)}"
        )
    forget = weakref.ref(array, lambda _: _converted.pop(place, None))
    _converted[place] = (forget, digest)


def _has_own_equality(value: Any) -> bool:
    """Whether the type, one of an installed package, compares by content, and can be hashed.

    Dataclasses, such as modules of Equinox, are read field by field instead: the arrays in them
    cannot be hashed.
    """
    if type(value).__eq__ is object.__eq__ or dataclasses.is_dataclass(value):
        return False
    if not _from_installed(type(value)):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True
