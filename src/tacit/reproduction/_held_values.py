"""What Python holds for the names of a text that counts: numbers, words and arrays by value, and
functions by the place in the text that they were compiled from.
"""

import ast
import builtins
import contextlib
import enum
import functools
import hashlib
import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tacit._errors import UsageError
from tacit._own_modules import own_file
from tacit.experiments import Experiment
from tacit.reproduction._counted_text import APART, DEFINITIONS, Module

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_ARRAYS = ("numpy", "jax", "jaxlib", "pandas")
_CHECKERS = ("jaxtyping", "beartype")  # what they wrap stands for itself
_INNER = ("__func__", "__self__", "fget", "fset", "fdel", "func", "args", "keywords", "__wrapped__")
_CHANGES = (
    "append", "extend", "insert", "update", "setdefault", "add", "pop", "popitem", "clear",
    "remove", "discard",
)  # fmt: skip
_BEGINNINGS = ("__init__", "__post_init__")


class HeldValues:
    """The values behind some modules that count. What their own functions change is no value."""

    def __init__(self, kind: type[Experiment], modules: list[Module]) -> None:
        self._kind = kind
        self._modules = {m.space.get("__name__"): m for m in modules}
        self._changing = {n for m in modules for s in m.statements for n in _changing(s)}
        self._open: list[int] = []
        self._where = ""

    def texts(self) -> Iterator[str]:
        """A text for each name; a `UsageError` for a function that is not in the counted text."""
        for module in self._modules.values():
            shadows = {n for n in vars(builtins) if n[0] != "_"}
            names = {n for s in module.statements for n in _bound(s)} - self._changing | shadows
            for name in sorted(names & module.space.keys()):
                self._where = f"{module.name}.{name}".removeprefix(".")
                text = f"{self._where} = {self._text(module.space[name])}"
                yield from (text,) if module.at_once else ()
        bases = [k for k in reversed(self._kind.__mro__) if k.__module__ in self._modules]
        yield self._members({n: v for base in bases for n, v in vars(base).items()}, self._kind)

    def _text(self, value: Any) -> str:
        if type(value) in _PLAIN:  # a path tells where, and not what
            return "a path" if type(value) is str and os.path.isabs(value) else repr(value)
        if id(value) in self._open:
            return "again"
        self._open.append(id(value))
        try:
            return self._content(value)
        except UsageError:
            raise
        except Exception:  # keys of random numbers, arrays that were given away, odd objects
            return type(value).__name__
        finally:
            self._open.pop()

    def _content(self, value: Any) -> str:
        top = (getattr(type(value), "__module__", None) or "").partition(".")[0]
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, type):
            if value.__module__ in self._modules:
                return value.__name__ + self._members(vars(value), value)
            return f"{value.__module__.partition('.')[0]} {value.__name__}"
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, FunctionType):
            return self._function(value)
        if top in _ARRAYS and hasattr(value, "__array__"):
            return self._array(value)
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{self._text(k)}:{self._text(v)}' for k, v in value.items())}}}"
        if isinstance(value, set | frozenset):
            return f"{{{','.join(sorted(map(self._text, value)))}}}"
        if isinstance(value, list | tuple):
            return f"{type(value).__name__}({','.join(map(self._text, value))})"
        if type(value).__module__ in self._modules:
            return type(value).__name__ + self._members(getattr(value, "__dict__", {}), type(value))
        holds = callable(value) or hasattr(type(value), "__get__")
        inner = [getattr(value, name, None) for name in (_INNER if holds else ())]
        name = getattr(value, "__name__", "") if holds else ""
        return f"{top} {name}{[self._text(part) for part in inner if part is not None]}"

    def _members(self, found: Mapping[str, Any], kind: type) -> str:
        """Of a class or what is made of it; not what is said of it, nor declared parameters."""
        apart = {name for name in self._changing if name.startswith(".")}
        if issubclass(kind, Experiment):
            apart |= {f".{name}" for name in (*APART, *(f.name for f in fields(kind)))}  # type: ignore[arg-type]
        texts = []
        for name, value in sorted(found.items()):
            hidden = name.startswith("__") or (name.startswith("_") and name.endswith("_"))
            if f".{name}" in apart or (hidden and not inspect.isroutine(value)):
                continue
            self._where = f"{kind.__qualname__}.{name}"
            text = self._text(value)
            if not hidden or ":" in text:  # what Python and its dataclasses add differs by version
                texts.append(f"{name}={text}")
        return f"[{';'.join(texts)}]"

    def _array(self, value: Any) -> str:
        array = np.asarray(value)
        if array.dtype.hasobject:
            return self._text(array.tolist())
        beside = [self._text(getattr(value, n)) for n in ("index", "columns") if hasattr(value, n)]
        digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16)
        return f"{array.dtype.str}{array.shape}{digest.hexdigest()}{''.join(beside)}"

    def _function(self, function: FunctionType) -> str:
        code, home = function.__code__, function.__globals__.get("__name__")
        named = inspect.signature(function, follow_wrapped=False).parameters.values()
        held = {p.name: p.default for p in named if not isinstance(p.default, dict | list | set)}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # an empty one
                held |= {} if name == "__class__" else {name: cell.cell_contents}
        wrapped = getattr(function, "__wrapped__", None)
        held = {
            n: v
            for n, v in held.items()
            if n not in self._changing and v is not wrapped and v is not inspect.Parameter.empty
        }
        if home not in self._modules:
            top = str(home).partition(".")[0]
            if home == "__main__" or (home and own_file(home, self._kind.__module__)):
                raise UsageError(
                    f"experiment: {self._where} is the function {code.co_qualname} of {home}, "
                    "which the experiment does not import: put it into a file that it imports"
                )
            if top in _CHECKERS or home is None:
                return "" if wrapped is None else self._text(wrapped)
            text, held = f"{top} {code.co_qualname}", {}
        elif code.co_filename.startswith("<"):
            return ""  # made by a dataclass, say, of what is in the text
        else:
            text = self._place(code, self._modules[home])
        parts = [f"{name}={self._text(held[name])}" for name in sorted(held)]
        return f"{text}({','.join(parts)})" + (self._text(wrapped) if wrapped is not None else "")

    def _place(self, code: CodeType, module: Module) -> str:
        """Which of the functions in a module's text a code is."""
        named, content = _compiled(module.source).get(code.co_qualname, []), _content(code)
        # What another loader has rewritten (pytest's, a checker's of types) cannot be compared.
        plain = type(module.space.get("__loader__")) is SourceFileLoader
        if plain and content not in named:
            raise UsageError(
                f"experiment: {Path(code.co_filename).name} was edited after it was imported "
                f"({code.co_qualname} is another there than here): import it again, in a new "
                "process or by importlib.reload"
            )
        return f"{module.name}:{code.co_qualname}#{named.index(content) if plain else 0}"


@functools.lru_cache(64)
def _compiled(source: bytes) -> dict[str, list[Any]]:
    """What the functions in a text do, by their names."""
    found: dict[str, list[Any]] = {}
    left = [compile(source, "", "exec", dont_inherit=True)]
    while left:
        inner = [constant for constant in left.pop().co_consts if isinstance(constant, CodeType)]
        for code in inner:
            found.setdefault(code.co_qualname, []).append(_content(code))
        left += inner
    return found


def _content(code: CodeType) -> tuple[Any, ...]:
    """What a function does, wherever it stands."""
    constants = tuple(map(_constant, code.co_consts))
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _content(value)
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    # A set has another order when it comes out of a file of bytecode.
    words = sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
    return type(value), words


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module gives."""
    for node in (statement,) if isinstance(statement, DEFINITIONS) else ast.walk(statement):
        if isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _changing(statement: ast.stmt) -> Iterator[str]:
    """The names, and the attributes with a point, that functions change while they run."""
    for function in ast.walk(statement):
        if not isinstance(function, DEFINITIONS[:2]) or function.name in _BEGINNINGS:
            continue
        nodes = [*ast.walk(function)]
        shared = {n for s in nodes if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
        own = {a.arg for a in nodes if isinstance(a, ast.arg)}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        yield from shared
        for node in nodes:
            changed: Any = node
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _CHANGES:
                changed = node.func.value  # type: ignore[attr-defined]
            elif isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                continue
            elif isinstance(node, ast.Subscript):
                changed = node.value
            name = getattr(changed, "attr", getattr(changed, "id", ""))
            yield from (f".{name}",) if isinstance(changed, ast.Attribute) else ()
            owner = getattr(getattr(changed, "value", changed), "id", "")
            yield from (name,) if owner not in own - shared else ()
