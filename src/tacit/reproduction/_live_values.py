"""The values that Python has for what a module's text says, and for what it has read from files.

A constant may be another than in the text: the file was edited after the import, or a program has
set it. What computes is the value, so it stands in the tree that is compared.
"""

import ast
import hashlib
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from types import FunctionType
from typing import Any

import numpy as np

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# Functions and methods that read a file, by their last name.
_READ = frozenset(
    {
        "open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile", "loadmat",
        "read_csv", "read_table", "read_json", "read_parquet", "read_excel", "open_dataset",
        "load_dataset", "open_zarr",
    }
)  # fmt: skip


def put_live_values(tree: ast.Module, space: Mapping[str, Any], changing: Set[str]) -> None:
    """Put the values of a module's names into its tree, where it has other ones for constants.

    Constants are numbers, words and tuples of them: those that a module or a class gives to a name
    once, and the defaults of functions. What the code itself sets later is no constant: `changing`,
    and what a function declares as `global`.
    """
    by_functions = {n for s in ast.walk(tree) if isinstance(s, ast.Global) for n in s.names}
    _put_names(tree.body, space, by_functions | changing)
    for statement in tree.body:
        thing = space.get(getattr(statement, "name", ""))
        if isinstance(statement, ast.ClassDef) and inspect.isclass(thing):
            if thing.__module__ == space.get("__name__"):
                _put_names(statement.body, vars(thing), changing)
                for member in statement.body:
                    _put_defaults(member, vars(thing).get(getattr(member, "name", "")))
        else:
            _put_defaults(statement, thing)


def _put_names(body: list[ast.stmt], space: Mapping[str, Any], changing: Set[str]) -> None:
    counts = Counter(name for statement in body for name in _bound(statement))

    def put(target: ast.expr, value: ast.expr) -> ast.expr:
        name = target.id if isinstance(target, ast.Name) else ""
        constant = name in space and counts[name] == 1 and name not in changing
        return _other(value, space[name]) if constant else value

    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                if len(target.elts) == len(value.elts):
                    value.elts = list(map(put, target.elts, value.elts))
            else:
                statement.value = put(target, value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            statement.value = put(statement.target, statement.value)


def _put_defaults(statement: ast.stmt, thing: Any) -> None:
    function = inspect.unwrap(getattr(thing, "__func__", thing))
    if not isinstance(statement, _FUNCTIONS) or not isinstance(function, FunctionType):
        return
    written = statement.args
    if function.__name__ != statement.name:
        return
    if len(written.defaults) == len(function.__defaults__ or ()):
        pairs = zip(written.defaults, function.__defaults__ or (), strict=True)
        written.defaults = [_other(node, value) for node, value in pairs]
    named = function.__kwdefaults__ or {}
    for position, (argument, node) in enumerate(
        zip(written.kwonlyargs, written.kw_defaults, strict=True)
    ):
        if node is not None and argument.arg in named:
            written.kw_defaults[position] = _other(node, named[argument.arg])


def _other(node: ast.expr, value: Any) -> ast.expr:
    """The node of a constant, or of the value if that is another; any other node as it is."""
    try:
        written = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return node
    if not _is_plain(written) or not _is_plain(value) or repr(written) == repr(value):
        return node
    return ast.parse(repr(value), mode="eval").body


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


def _bound(statement: ast.AST) -> Iterator[str]:
    """The names that a statement gives in its own block, as often as it does."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
        return
    if isinstance(statement, ast.Name) and not isinstance(statement.ctx, ast.Load):
        yield statement.id
    elif isinstance(statement, ast.alias):
        yield statement.asname or statement.name.partition(".")[0]
    for inner in ast.iter_child_nodes(statement):
        yield from _bound(inner)


# What was read from files while a module was imported.


def read_texts(statements: Iterable[ast.AST], space: Mapping[str, Any]) -> list[str]:
    """Digests of plain data that statements of a module have read from files, each by its name.

    Known are data that stand under a name of the module or of a class in it, given by a statement
    that calls a reader of files, or a function of the same module that does.
    """
    statements = list(statements)
    readers, more = set(_READ), True
    while more:
        found = {s.name for s in statements if isinstance(s, _FUNCTIONS) and _calls(s, readers)}
        more = not found <= readers
        readers |= found
    return [*_read(statements, space, readers)]


def _read(
    statements: Iterable[ast.AST], space: Mapping[str, Any], readers: set[str]
) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            inner = _read(
                statement.body, getattr(space.get(statement.name), "__dict__", {}), readers
            )
            yield from (f"{statement.name}.{words}" for words in inner)
        elif not isinstance(statement, _FUNCTIONS) and _calls(statement, readers):
            for name in sorted(space.keys() & set(_bound(statement))):
                digest = _digest(space[name])
                yield from () if digest is None else (f"{name} = {digest}",)


def _calls(node: ast.AST, names: set[str]) -> bool:
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    last = (getattr(f, "attr", getattr(f, "id", "")) for f in called)
    return any(name in names for name in last)


def _digest(value: Any) -> str | None:
    """That of plain data: numbers, words, arrays and collections of them; None for others."""
    digest = hashlib.blake2b(digest_size=16)
    return digest.hexdigest() if _add(value, digest, 0) else None


def _add(value: Any, digest: Any, depth: int) -> bool:
    if type(value) in _PLAIN or isinstance(value, np.generic):
        digest.update(f"{type(value).__name__} {value!r};".encode(errors="surrogatepass"))
        return True
    if depth > 50:
        return False
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        digest.update(f"{len(value)}:".encode())
        return all(_add(entry, digest, depth + 1) for entry in value)
    if not hasattr(value, "__array__"):
        return False
    array = np.asarray(value)
    if array.dtype.hasobject:
        return _add(array.tolist(), digest, depth + 1)
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return True
