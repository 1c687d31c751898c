"""Whose a checkpoint is: a digest of a program and its numbers that is the same in every process.

Keys of compiled programs hold objects that are told apart by identity, which ends with a process.
Here a function's code stands for it, and for what is installed its name and its package's version.
"""

import enum
import functools
import hashlib
import types
from collections.abc import Hashable
from importlib import metadata
from typing import Any

import jax
import numpy as np

from tacit._types import PyTree
from tacit._version import __version__
from tacit.descent._by_value import ByValue, Same, is_installed, value_key

_SETTINGS = ("jax_enable_x64", "jax_default_matmul_precision")


class NoOwnerError(Exception):
    """Something in a program has no name that another process would know."""


def owner_of(kind: Hashable, trees: PyTree) -> str:
    """The digest of a program's `static_kind`, of the arrays in `trees`, and of JAX's settings."""
    digest = hashlib.blake2b(_told(kind).encode(errors="surrogatepass"), digest_size=16)
    settings = [getattr(jax.config, name, None) for name in _SETTINGS]
    digest.update(f"{settings}{__version__}{jax.__version__}".encode())
    for leaf in jax.tree.leaves(trees):
        array = np.asarray(leaf)
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _told(key: Any) -> str:
    """A key as a text; equal texts are of equal keys, in whichever process."""
    if isinstance(key, tuple):
        return f"({','.join(map(_told, key))})"
    if isinstance(key, frozenset):
        return f"{{{','.join(sorted(map(_told, key)))}}}"
    if isinstance(key, ByValue):
        return _told(key.key)
    if isinstance(key, Same):
        return _same(key.thing)
    if isinstance(key, jax.tree_util.PyTreeDef):
        node = key.node_data()
        data = None if node is None else (node[0], value_key(node[1]))
        return f"tree{_told((data, *key.children()))}"
    if isinstance(key, type):
        return _named(key)
    if isinstance(key, types.FunctionType):
        raise NoOwnerError(f"{key.__module__}.{key.__qualname__}")
    words = repr(key)
    if " at 0x" in words:
        raise NoOwnerError(words)
    return words


def _same(thing: Any) -> str:
    if isinstance(thing, types.CodeType):
        return _code(thing)
    if isinstance(thing, dict):  # of globals
        return str(thing.get("__name__"))
    if isinstance(thing, enum.Enum) or thing is None or thing is ... or thing is NotImplemented:
        return f"{_named(type(thing))} {thing}"
    if isinstance(thing, types.ModuleType):
        return f"module {thing.__name__} {_version(thing.__name__)}"
    module = getattr(thing, "__module__", None) or ""
    told = hasattr(thing, "__qualname__") and isinstance(module, str)
    if told and (isinstance(thing, type) or is_installed(module.partition(".")[0])):
        return _named(thing)
    wrapped = getattr(thing, "__wrapped__", None)
    if wrapped is None:
        name = getattr(thing, "__name__", None)
        if name is not None and is_installed(type(thing).__module__.partition(".")[0]):
            return f"{_named(type(thing))} {name}"
        raise NoOwnerError(repr(thing))
    return f"{_named(type(thing))} {_told(value_key(wrapped))}"


def _named(thing: Any) -> str:
    module = thing.__module__ or "builtins"
    return f"{module}.{thing.__qualname__} {_version(module)}"


@functools.cache
def _version(module: str) -> str:
    top = module.partition(".")[0]
    try:
        return metadata.version(top) if is_installed(top) else ""
    except metadata.PackageNotFoundError:
        return ""


@functools.lru_cache(4096)
def _code(code: types.CodeType) -> str:
    constants = [
        _code(constant)
        if isinstance(constant, types.CodeType)
        else f"{type(constant).__name__} {sorted(map(repr, constant))}"
        if isinstance(constant, frozenset)
        else repr(constant)
        for constant in code.co_consts
    ]
    parts = (code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars)
    return hashlib.blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).hexdigest()
