"""Odd values in the place of a valid argument."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

HUGE = 10**400


class Odd(NamedTuple):
    """A value, what it is, and what an answer to it would mean.

    - `kind`: a word, as in `Call.allows`.
    - `answer`: "free" where any defined answer will do, "finite" where the value is not finite, so
      that a finite answer is one that passed it over, "none" where no answer makes sense.
    """

    kind: str
    value: Any
    answer: str = "free"


def odd_values(value: Any) -> Iterator[Odd]:
    """What may stand in the place of a valid value; the first match says which table."""
    for test, table in _TABLES:
        if test(value):
            yield from table(value)
            return


def _number(value: float | int) -> Iterator[Odd]:
    yield Odd("nan", float("nan"), "finite")
    yield Odd("inf", float("inf"), "finite")
    yield Odd("minus-inf", float("-inf"), "finite")
    yield Odd("zero", type(value)(0))
    yield Odd("minus", type(value)(-1))
    yield Odd("huge", 1e300)
    yield Odd("minus-huge", -1e300)
    yield Odd("tiny", 1e-300)
    yield Odd("huge-integer", HUGE)
    yield Odd("text", "x", "none")
    yield Odd("none", None, "none")
    yield Odd("list", [value, value])
    yield Odd("empty", [])
    yield Odd("bool", True, "none")
    yield Odd("complex", 1j, "none")
    yield Odd("numpy", np.asarray(value)[()])
    yield Odd("array", np.asarray(value))
    yield Odd("matrix", np.full((2, 2), value))
    if isinstance(value, int):
        yield Odd("fraction", value + 0.5, "none")


def _array(value: np.ndarray) -> Iterator[Odd]:
    def spoiled(entry: float) -> np.ndarray:
        copy = value.astype(np.float64)
        copy.flat[-1] = entry
        return copy

    yield Odd("nan", spoiled(np.nan), "finite")
    yield Odd("inf", spoiled(np.inf), "finite")
    yield Odd("minus-inf", spoiled(-np.inf), "finite")
    yield Odd("zero", np.zeros_like(value))
    yield Odd("minus", -value)
    with np.errstate(over="ignore", invalid="ignore"):  # of float32
        yield Odd("huge", np.nan_to_num(value * 1e300))
    yield Odd("huge-entry", spoiled(1e300))
    yield Odd("tiny", value * 1e-300)
    yield Odd("huge-integer", np.full(value.shape, HUGE, object).tolist())
    yield Odd("text", "x", "none")
    yield Odd("texts", np.full(value.shape, "x"), "none")
    yield Odd("none", None, "none")
    yield Odd("number", 1.0)
    yield Odd("empty", [])
    yield Odd("no-rows", value[:0])
    yield Odd("ragged", [[1.0], [1.0, 2.0]], "none")
    yield Odd("axis-more", value[None])
    yield Odd("axis-less", value[0])
    yield Odd("shorter", value[..., :-1])
    yield Odd("complex", value * (1 + 1j), "none")
    yield Odd("integers", np.round(value).astype(int))
    yield Odd("list", value.tolist())


def _jax_array(value: jax.Array) -> Iterator[Odd]:
    yield from _array(np.asarray(value))


def _mask(value: np.ndarray) -> Iterator[Odd]:
    yield Odd("zero", np.zeros_like(value))
    yield Odd("numbers", value * np.nan, "none")
    yield Odd("text", "x", "none")
    yield Odd("none", None, "none")
    yield Odd("number", 1.0, "none")
    yield Odd("empty", [], "none")
    yield Odd("no-rows", value[:0], "none")
    yield Odd("axis-more", value[None])
    yield Odd("axis-less", value[0])
    yield Odd("shorter", value[..., :-1])


def _flag(value: bool) -> Iterator[Odd]:
    yield Odd("other", not value)
    yield Odd("nan", float("nan"), "none")
    yield Odd("text", "x", "none")
    yield Odd("none", None, "none")
    yield Odd("number", 2, "none")
    yield Odd("empty", [], "none")


def _text(value: str) -> Iterator[Odd]:
    yield Odd("no-text", "")
    yield Odd("other", "x")
    yield Odd("long", "x" * 5000)
    yield Odd("null", "a\0b")
    yield Odd("none", None, "none")
    yield Odd("number", 3, "none")
    yield Odd("nan", float("nan"), "none")
    yield Odd("list", ["x"], "none")


def _path(value: Path) -> Iterator[Odd]:
    yield Odd("null", "a\0b", "none")
    yield Odd("long", "x" * 5000, "none")
    yield Odd("no-text", "", "none")
    yield Odd("none", None, "none")
    yield Odd("number", 3, "none")
    yield Odd("nan", float("nan"), "none")
    yield Odd("empty", [], "none")


def _function(value: Callable[..., Any]) -> Iterator[Odd]:
    yield from _object(value)
    yield Odd("returns-text", lambda *_, **__: "x", "none")
    yield Odd("returns-nan", lambda *_, **__: float("nan"), "finite")


def _sequence(value: list[Any] | tuple[Any, ...]) -> Iterator[Odd]:
    """Each entry perturbed in turn by what matters most, and the whole."""
    yield from (
        odd._replace(answer="free") if odd.kind == "empty" else odd for odd in _object(value)
    )
    yield Odd("shorter", value[:-1])
    for odd in odd_values(value[-1]) if len(value) else ():
        if odd.kind not in ("numpy", "array", "integers", "list", "other"):
            yield odd._replace(kind=f"last-{odd.kind}", value=type(value)([*value[:-1], odd.value]))


def _object(value: Any) -> Iterator[Odd]:
    yield Odd("none", None, "none")
    yield Odd("text", "x", "none")
    yield Odd("number", 3, "none")
    yield Odd("nan", float("nan"), "none")
    yield Odd("empty", [], "none")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim > 0


def _is_jax(value: Any) -> bool:
    return isinstance(value, jax.Array) and value.ndim > 0 and value.dtype.name.startswith("float")


_TABLES: tuple[tuple[Callable[[Any], bool], Callable[[Any], Iterator[Odd]]], ...] = (
    (lambda value: isinstance(value, bool), _flag),
    (lambda value: isinstance(value, int | float), _number),
    (lambda value: isinstance(value, str), _text),
    (lambda value: isinstance(value, np.ndarray) and value.dtype == bool, _mask),
    (lambda value: isinstance(value, Path), _path),
    (_is_array, _array),
    (_is_jax, _jax_array),
    (lambda value: type(value) in (list, tuple), _sequence),
    (lambda value: isinstance(value, functools.partial) or _is_plain_function(value), _function),
    (lambda value: True, _object),
)


def _is_plain_function(value: Any) -> bool:
    return type(value).__name__ in ("function", "builtin_function_or_method", "ufunc")
