"""Signatures that can be read: `help` shows `ArrayLike`, not the many types behind it."""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar


class _Words:
    """An annotation that shows as these words; what checks types reads the real one."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


def with_readable_signatures(names: Mapping[str, Any], public: Iterable[str]) -> None:
    """Give the public functions and classes of a room signatures in short words."""
    for name in public:
        found = names.get(name)
        if isinstance(found, types.FunctionType):
            _shorten(found)
        elif isinstance(found, type):
            for member in list(vars(found).values()):
                function = getattr(member, "__func__", member)
                if isinstance(function, types.FunctionType):
                    _shorten(function)


def _shorten(function: types.FunctionType) -> None:
    if hasattr(function, "__signature__"):
        return
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError, NameError):
        return
    parameters = [
        parameter.replace(annotation=_short(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=_short(signature.return_annotation)
    )


def _short(annotation: Any) -> Any:
    empty = annotation is inspect.Signature.empty
    return annotation if empty else _Words(words_of(annotation))


def words_of(annotation: Any) -> str:
    """A type in short words, as an author writes it."""
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, TypeVar):
        return annotation.__name__
    if (alias := _alias(annotation)) is not None:
        return alias
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is typing.Annotated:
        return words_of(arguments[0])
    if origin is typing.Literal:
        return " | ".join(map(repr, arguments))
    if origin is Callable or str(origin) == "<class 'collections.abc.Callable'>":
        return _callable(arguments)
    if origin is not None:
        inside = ", ".join("…" if part is ... else words_of(part) for part in arguments)
        return f"{_name(origin)}[{inside}]" if inside else _name(origin)
    return _name(annotation)


def _name(kind: Any) -> str:
    if isinstance(kind, typing.ForwardRef):
        return kind.__forward_arg__
    name = getattr(kind, "__name__", None) or getattr(kind, "_name", None)
    # jaxtyping's types have their axes in their name: Float[Array, 'lane time'].
    return str(name or kind).replace("jaxlib._jax.", "").replace("typing.", "")


def _union(members: tuple[Any, ...]) -> str:
    """A union, in which the many types of an `ArrayLike` are that one word."""
    words: list[str] = []
    left = list(members)
    for alias, parts in _unions().items():
        if parts and all(any(part == one for one in left) for part in parts):
            left = [one for one in left if not any(part == one for part in parts)]
            words.append(alias.rpartition(".")[2])
    words += [words_of(one) for one in left if one is not type(None)]
    words += ["None"] if type(None) in left else []
    return " | ".join(dict.fromkeys(words))


def _callable(arguments: tuple[Any, ...]) -> str:
    if not arguments:
        return "Callable"
    *given, result = arguments
    received = given[0] if len(given) == 1 else given
    if not isinstance(received, list | tuple):
        return f"Callable[[…], {words_of(result)}]"
    inside = ", ".join(map(words_of, received))
    return f"Callable[[{inside}], {words_of(result)}]"


def _unions() -> dict[str, tuple[Any, ...]]:
    """Long unions that have a short name; of packages that nobody has imported there are none."""
    found = {}
    for name, module in (
        ("ArrayLike", "numpy.typing"),
        ("DTypeLike", "numpy.typing"),
        ("ArrayLike", "jax.typing"),
        ("PRNGKeyArray", "jaxtyping"),
    ):
        if module in sys.modules:
            found[f"{module}.{name}"] = typing.get_args(getattr(sys.modules[module], name))
    return {name: parts for name, parts in found.items() if parts}


def _alias(annotation: Any) -> str | None:
    known = sys.modules.get("numpy.typing")
    return "ArrayLike" if known is not None and annotation is known.ArrayLike else None
