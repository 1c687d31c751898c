"""Whether a module's file has been edited since the module was imported.

Python goes on with the code that it has loaded. A fingerprint of the file would then be that of
code that nobody runs.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any


def edited_function(
    functions: Iterable[FunctionType], sources: Mapping[str | None, bytes]
) -> FunctionType | None:
    """The first function that the text of its file has otherwise, or no longer; None if none.

    Lines and comments do not count. What another loader has rewritten (pytest's, a checker's of
    types) cannot be compared, nor a function that a program has made.
    """
    written: dict[str, dict[str, tuple[Any, ...]]] = {}
    for function in functions:
        code, file = function.__code__, function.__code__.co_filename
        if file not in sources or not _is_plainly_loaded(function.__module__, file):
            continue
        if file not in written:
            compiled = compile(sources[file], file, "exec", dont_inherit=True)
            written[file] = {inner.co_qualname: _content(inner) for inner in _codes(compiled)}
        if written[file].get(code.co_qualname) != _content(code):
            return function
    return None


def _is_plainly_loaded(module: str, file: str) -> bool:
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return spec is not None and type(spec.loader) is SourceFileLoader and spec.origin == file


def functions_in(space: Mapping[str, Any], modules: Set[str]) -> Iterator[FunctionType]:
    """The functions of some modules among names, and those of their classes among them."""
    for thing in list(space.values()):
        if getattr(thing, "__module__", None) not in modules:
            continue
        for member in list(vars(thing).values()) if inspect.isclass(thing) else (thing,):
            found = inspect.unwrap(getattr(member, "__func__", member))
            if isinstance(found, FunctionType) and found.__code__.co_name != "<lambda>":
                yield found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _content(code: CodeType) -> tuple[Any, ...]:
    """What a function does, wherever it stands."""
    constants = tuple(
        _content(constant) if isinstance(constant, CodeType) else (type(constant), repr(constant))
        for constant in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars
