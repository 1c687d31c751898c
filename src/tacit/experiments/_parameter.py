"""The parameters of an experiment: what each is, its kind and range, whether it is swept."""

import dataclasses
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit._doors import check_fields, door, each, flag, number, text
from tacit._errors import UsageError, nearest, shown
from tacit.store import MOST_CELLS

METADATA = "tacit"
_LARGEST = 2**63 - 1  # of the integers that arrays hold
_TOO_MANY = MOST_CELLS + 1

KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "a word"}


@dataclass(frozen=True)
class Parameter:
    """What is known of a field of an experiment.

    **Arguments:**

    - `doc`: what it is, in a line.
    - `kind`: `bool`, `int`, `float` or `str`.
    - `many`: whether the field holds a tuple of values rather than one.
    - `swept`: whether that tuple is an axis of the grid.
    - `analysis`: whether only claims and figure read it.
    - `low`, `high`: the range, ends included; `choices`: the allowed values.
    - `units`: of the coordinate in the dataset.
    """

    doc: str
    kind: type
    many: bool = False
    swept: bool = False
    analysis: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    units: str = "1"

    def __post_init__(self) -> None:
        limit = number(infinite=True)
        check_fields(
            self, doc=text, many=flag, swept=flag, analysis=flag, low=limit, high=limit,
            choices=each(), units=text,
        )  # fmt: skip
        if not isinstance(self.kind, type) or self.kind not in KINDS:
            raise ValueError(f"kind: received {self.kind!r}, it must be bool, int, float or str")

    @property
    def allowed(self) -> str:
        """The allowed values in words: `an integer from 2 to 2000`."""
        if self.choices is not None:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        words = KINDS[self.kind]
        if self.low is not None and self.high is not None:
            return f"{words} from {_short(self.low)} to {_short(self.high)}"
        if self.low is not None:
            return f"{words} of at least {_short(self.low)}"
        return words if self.high is None else f"{words} of at most {_short(self.high)}"

    @property
    def _bounded(self) -> str:
        """The allowed integers, up to the largest that can be stored."""
        high = _LARGEST if self.high is None else self.high
        return dataclasses.replace(self, high=high).allowed

    @door(answer="any", name=text)
    def normalised(self, name: str, value: Any) -> Any:
        """`value` as the field `name` holds it, or a `UsageError`."""
        if isinstance(value, np.ndarray):
            value = value.tolist()
        listed = isinstance(value, list | tuple | range)
        if not self.many:
            if not listed:
                return self._one(name, value)
            if len(value) == 1:
                return self._one(name, value[0])
            raise UsageError(f"{name}: received {shown(value)}, it takes one value: {self.allowed}")
        if listed and len(value[:_TOO_MANY]) == _TOO_MANY:
            raise UsageError(
                f"{name}: received too many values, at most {MOST_CELLS:,} are possible"
            )
        values = tuple(self._one(name, item) for item in (value if listed else (value,)))
        if not values:
            raise UsageError(f"{name}: received no values, it takes one or more: {self.allowed}")
        twice = sorted(str(item) for item, count in Counter(values).items() if count > 1)
        if self.swept and twice:
            raise UsageError(f"{name}: received {', '.join(twice)} twice, values must be distinct")
        return values

    def _one(self, name: str, value: Any) -> Any:
        converted = self._converted(value.item() if isinstance(value, np.generic) else value)
        inside = converted is not None and (
            (self.low is None or converted >= self.low)
            and (self.high is None or converted <= self.high)
            and (self.choices is None or converted in self.choices)
            and (self.kind is not int or abs(converted) <= _LARGEST)
        )
        if not inside:
            hint = ""
            if self.choices is not None and isinstance(value, str):
                hint = f" ({nearest(value, map(str, self.choices))})"
            if converted is not None and self.kind is int and abs(converted) > _LARGEST:
                raise UsageError(f"{name}: received {shown(value)}, allowed is {self._bounded}")
            raise UsageError(f"{name}: received {shown(value)}, allowed is {self.allowed}{hint}")
        return converted

    def _converted(self, value: Any) -> Any:
        """`value` as the parameter's kind, None if it is not of that kind."""
        if isinstance(value, bool) or self.kind is bool:
            return value if isinstance(value, bool) and self.kind is bool else None
        if self.kind is str:
            return value if isinstance(value, str) and value else None
        if not isinstance(value, int | float) or value != value:
            return None
        if self.kind is int:
            whole = isinstance(value, int) or value.is_integer()
            return int(value) if whole else None
        try:
            return float(value)
        except OverflowError:  # an integer beyond the largest float
            return None


@door(
    answer="any",
    doc=text,
    low=number(infinite=True),
    high=number(infinite=True),
    choices=each(),
    units=text,
)
def swept(
    default: Collection[Any],
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Collection[Any] | None = None,
    units: str = "1",
) -> Any:
    """A parameter that is an axis of the grid: `seed: tuple[int, ...] = swept(range(10), "seed")`.

    **Arguments:**

    - `default`: the values, all of one kind (bool, int, float or str).
    - `doc`: what it is, in a line.
    - `low`, `high`: the range, ends included.
    - `choices`: the allowed values; the keys, where they are a dict.
    - `units`: of the coordinate in the dataset.
    """
    if isinstance(default, str) or not isinstance(default, Collection):
        raise ValueError(f"default: received {default!r}, a swept parameter needs several values")
    values = tuple(default)
    return _field(values, doc, swept=True, low=low, high=high, choices=choices, units=units)


@door(
    answer="any",
    doc=text,
    low=number(infinite=True),
    high=number(infinite=True),
    choices=each(),
    units=text,
    analysis=flag,
)
def fixed(
    default: Any,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Collection[Any] | None = None,
    analysis: bool = False,
    units: str = "1",
) -> Any:
    """A parameter that all cells share: `steps: int = fixed(15_000, "steps of Adam", low=1)`.

    **Arguments:**

    - `default`: one value, or several (a tuple, list or range) for a field that holds several.
    - `doc`: what it is, in a line.
    - `low`, `high`, `choices`: what is allowed, as for `swept`.
    - `analysis`: whether only claims and figure read it. It is then no part of a cell's address,
      so that another value needs no new computation, and `cell` sees its default.
    - `units`: of its values.
    """
    value = tuple(default) if isinstance(default, list | range) else default
    return _field(value, doc, low=low, high=high, choices=choices, analysis=analysis, units=units)


def _field(default: Any, doc: str, *, choices: Collection[Any] | None, **options: Any) -> Any:
    many = isinstance(default, tuple)
    kinds = {type(value) for value in (default if many else (default,))}
    kind = float if kinds == {int, float} else kinds.pop() if len(kinds) == 1 else None
    if kind not in KINDS:
        raise ValueError(f"default: received {default!r}, values must be bool, int, float or str")
    choices = None if choices is None else tuple(choices)
    spec = Parameter(doc=doc, kind=kind, many=many, choices=choices, **options)
    return dataclasses.field(default=default, metadata={METADATA: spec})


def _short(end: float) -> str:
    """The end of a range: 1e-08, 1e12 and not 1000000000000.0, integers as they are."""
    return f"{end:g}".replace("e+", "e") if isinstance(end, float) else str(end)
