"""Whether a module's file has been edited since the module was imported.

Python goes on with the code that it has loaded. A fingerprint of the file would then be that of
code that nobody runs.
"""

import inspect
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any


def edited_function(module: ModuleType, source: bytes) -> str | None:
    """The name of a loaded function that the source has otherwise, or no longer; None if none.

    Lines and comments do not count. What another loader has rewritten (pytest's, a checker's of
    types) cannot be compared, nor a function that a program has made.
    """
    spec = module.__spec__
    if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
        return None
    written = {
        code.co_qualname: _content(code)
        for code in _codes(compile(source, spec.origin, "exec", dont_inherit=True))
    }
    for function in _functions(module):
        code = function.__code__
        if code.co_filename == spec.origin and written.get(code.co_qualname) != _content(code):
            return code.co_qualname
    return None


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for thing in list(vars(module).values()):
        own = getattr(thing, "__module__", None) == module.__name__
        for member in vars(thing).values() if own and inspect.isclass(thing) else (thing,):
            found = inspect.unwrap(getattr(member, "__func__", member)) if own else None
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
