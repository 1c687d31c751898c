"""A check, and the functions that it calls, compiled again with their numbers in a table."""

import ast
import copy
import functools
import inspect
import sys
import tokenize
import types
from collections.abc import Callable, Iterator
from typing import Any

from tacit.statements._sharpness._numbers import TABLE, Number, Rewriter, Table

_STATEMENTS, _THEORY = "tacit.statements.", "tacit.theory."
_FRAMEWORK = _STATEMENTS + "_"  # residual, slack and the like: no formula of a paper


class Rewritten:
    """A check whose numbers can be changed.

    Rewritten are the check, the functions of its paper's package that it calls, and the public
    functions of `tacit.theory` that any of these call.

    **Arguments:**

    - `check`: the function of a statement.

    **Attributes:**

    - `check`: the same function, with its numbers in `table`.
    - `numbers`: what stands in the source at each entry of the table.
    - `source`: the source of all that was rewritten, without comments and layout.
    """

    def __init__(self, check: Callable[..., Any]) -> None:
        self.numbers: list[Number] = []
        self.table = Table()
        self._sources: list[str] = []
        self._spaces: dict[str, dict[str, Any]] = {}
        self._done: dict[tuple[str, str], Callable[..., Any]] = {}
        self.check = self._rewrite(check)
        self.source = "\n".join([*self._sources, *(repr(number) for number in self.numbers)])

    def _rewrite(self, function: Callable[..., Any]) -> Callable[..., Any]:
        module, name = function.__module__, function.__name__
        if (module, name) in self._done:
            return self._done[module, name]
        lines, functions = _functions_of(module)
        if name not in functions:
            return function
        self._done[module, name] = function  # for a function that calls itself
        found = vars(sys.modules[module])
        space = self._spaces.setdefault(module, {**found, TABLE: self.table})
        tree = functions[name]
        for used in _names_in(tree):
            called = _plain_function(found.get(used))
            if called is not None and called is not function and _is_ours(called):
                space[used] = self._rewrite(called)
        self._sources.append(bare_source(function))
        place = f"{module.removeprefix('tacit.').removeprefix('statements.')}.{name}"
        rewriter = Rewriter(place, lines, self.numbers, self.table)
        unit = ast.Module([rewriter.visit(copy.deepcopy(tree))], [])
        made: dict[str, Any] = {}
        exec(compile(ast.fix_missing_locations(unit), f"<{place}>", "exec"), space, made)
        space[name] = self._done[module, name] = made[name]
        return self._done[module, name]


def bare_source(function: Callable[..., Any]) -> str:
    """The body of a function without docstring, layout and comments; empty if it has no name.

    It is text, because the syntax trees of Python's versions differ.
    """
    tree = _functions_of(function.__module__)[1].get(function.__name__)
    if tree is None:
        return ""
    lines = _without_comments(function.__module__)
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return "".join("".join(lines[one.lineno - 1 : one.end_lineno]) for one in body)


@functools.cache
def _without_comments(module: str) -> list[str]:
    """The lines of a module without comments and spaces."""
    lines = inspect.getsource(sys.modules[module]).splitlines()
    for token in tokenize.generate_tokens(iter([line + "\n" for line in lines]).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return ["".join(line.split()) for line in lines]


@functools.cache
def _functions_of(module: str) -> tuple[list[bytes], dict[str, ast.FunctionDef]]:
    """The source of a module, line by line, and its functions by name."""
    source = inspect.getsource(sys.modules[module])
    body = ast.parse(source).body
    lines = [line.encode() for line in source.split("\n")]
    return lines, {one.name: one for one in body if isinstance(one, ast.FunctionDef)}


def _is_ours(function: Callable[..., Any]) -> bool:
    module = function.__module__
    if module.startswith(_THEORY):
        package = ".".join(module.split(".")[:3])
        return function.__name__ in getattr(sys.modules[package], "__all__", ())
    return module.startswith(_STATEMENTS) and not module.startswith(_FRAMEWORK)


def _names_in(tree: ast.FunctionDef) -> Iterator[str]:
    """The names in the body of a function; those in its decorator are not its own."""
    for part in tree.body:
        yield from (one.id for one in ast.walk(part) if isinstance(one, ast.Name))


def _plain_function(value: Any) -> Callable[..., Any] | None:
    value = inspect.unwrap(value) if callable(value) else value
    return value if isinstance(value, types.FunctionType) else None
