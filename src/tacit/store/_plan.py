"""What was last asked of a store: a grid, and what is to be read of its cells.

With it, written as `plan.json` beside the parts, a store can say what is missing and be
consolidated without the code that computed it.
"""

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tacit._doors import check_fields, door, instance, text
from tacit.store._key import canonical
from tacit.store._names import MOST_CELLS, PRESENT
from tacit.store._variable import Variable

_LARGEST = 2**63 - 1  # of the integers that arrays hold
_MOST_DIMS = 32
_MOST_LISTS = 100_000  # and mappings: a reader makes each of a few bytes into many
_LONGEST_NAME = 200  # each is that of a folder in `results.zarr`
_TAKEN = (PRESENT, "provenance")  # what is there beside the variables


@dataclass(frozen=True)
class Plan:
    """A grid of cells and the declaration of their arrays; the arguments of `Store.dataset`.

    **Arguments:**

    - `axes`: the grid: dimension → values.
    - `fixed`: the other parameters of every cell.
    - `variables`: the arrays of a cell, with their dimensions beyond the grid's.
    - `coords`: the values along those further dimensions.
    - `attrs`: attributes (`long_name`, `units`) of coordinates, by dimension.
    - `name`: what a reader calls it, for example the preset.
    - `not_asked`: the positions, among `cells()`, of those that nobody asked for: a grid with more
      seeds in some places than in others.
    """

    axes: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any]
    variables: Mapping[str, Variable]
    coords: Mapping[str, Sequence[Any] | np.ndarray] = field(default_factory=dict)
    attrs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = ""
    not_asked: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        known = instance(Mapping)
        check_fields(
            self, axes=known, fixed=known, variables=known, coords=known, attrs=known, name=text
        )

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values())

    def cells(self) -> Iterator[dict[str, Any]]:
        """The swept parameters of every cell, the last axis fastest."""
        for values in itertools.product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    def asked_cells(self) -> Iterator[dict[str, Any]]:
        """The cells that were asked for."""
        return (cell for i, cell in enumerate(self.cells()) if i not in self.not_asked)

    def to_json(self) -> bytes:
        """As in `plan.json`."""
        record = {
            "name": self.name,
            "axes": {name: list(values) for name, values in self.axes.items()},
            "fixed": dict(self.fixed),
            "variables": {name: asdict(variable) for name, variable in self.variables.items()},
            "coords": {name: _typed(values) for name, values in self.coords.items()},
            "attrs": {name: dict(values) for name, values in self.attrs.items()},
            "not_asked": sorted(self.not_asked),
        }
        return json.dumps(record, indent=1, default=_plain).encode()

    @staticmethod
    @door(data=instance(bytes))
    def from_json(data: bytes) -> "Plan":
        """The plan in `plan.json`; a `ValueError` if it is none."""
        if data.count(b"[") + data.count(b"{") > _MOST_LISTS:
            raise ValueError("it has too many lists")
        try:
            record = json.loads(data)
            plan = Plan(
                axes={name: tuple(values) for name, values in record["axes"].items()},
                fixed=dict(record["fixed"]),
                variables={name: _variable(e) for name, e in record["variables"].items()},
                coords={name: _untyped(entry) for name, entry in record["coords"].items()},
                attrs={name: dict(values) for name, values in record["attrs"].items()},
                name=record["name"],
                not_asked=frozenset(record.get("not_asked", ())),
            )
            _check(plan)
        except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"it lacks or misuses {error}") from error
        return plan


def _check(plan: Plan) -> None:
    """What a plan that was read must be, before anything is laid out by it."""
    if not plan.axes or not isinstance(plan.name, str) or not plan.name.isprintable():
        raise ValueError("it has no axes, or a name that is none")
    for name, values in plan.axes.items():
        if not name.isidentifier() or len({*values}) != len(values) or not values:
            raise ValueError(f"the axis {name!a:.60} has no values, or one of them twice")
        if not all(isinstance(value, bool | int | float | str) for value in values):
            raise ValueError(f"the axis {name} has values that are neither numbers nor words")
        if any(isinstance(value, int) and abs(value) > _LARGEST for value in values):
            raise ValueError(f"the axis {name} has integers that no array holds")
    count = math.prod(len(values) for values in plan.axes.values())
    if count > MOST_CELLS:
        raise ValueError(f"it asks for {count:.3g} cells; at most {MOST_CELLS:,} are possible")
    if not all(type(i) is int and 0 <= i < len(plan) for i in plan.not_asked):
        raise ValueError("it leaves out cells that it does not have")
    names = [*plan.axes, *plan.coords, *plan.variables, *_TAKEN]
    unknown = [d for v in plan.variables.values() for d in v.dims if d not in plan.coords]
    if unknown or len(set(names)) != len(names) or not all(map(str.isidentifier, names)):
        raise ValueError("its variables have dimensions or names that cannot be")
    most = max((len(variable.dims) for variable in plan.variables.values()), default=0)
    if len(plan.axes) + most > _MOST_DIMS or max(map(len, names)) > _LONGEST_NAME:
        raise ValueError("it has too many dimensions, or too long a name")
    canonical(dict(plan.fixed))


def _variable(entry: Mapping[str, Any]) -> Variable:
    # Of words any width: the one that is written there would be allocated.
    dtype = "str" if _portable(entry["dtype"]).kind == "U" else str(entry["dtype"])
    return Variable(str(entry["long_name"]), *entry["dims"], units=str(entry["units"]), dtype=dtype)


def _portable(name: Any) -> np.dtype:
    """The dtype of that name, if `results.zarr` can hold it."""
    dtype = np.dtype(name)
    if dtype.kind in "fc" and dtype.itemsize > {"f": 8, "c": 16}[dtype.kind]:
        raise ValueError(f"it has numbers of {dtype}, which not every machine has")
    return dtype


def _untyped(entry: Mapping[str, Any]) -> np.ndarray:
    dtype = _portable(entry["dtype"])
    if dtype.kind not in "biufU":
        raise ValueError(f"it has coordinates of {dtype}")
    array = np.array(entry["values"], dtype=str if dtype.kind == "U" else dtype)
    if array.ndim != 1:
        raise ValueError("it has coordinates that are no list")
    return array


def _typed(values: Sequence[Any] | np.ndarray) -> dict[str, Any]:
    array = np.asarray(values)
    return {"dtype": array.dtype.str, "values": array.tolist()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise ValueError(f"a {type(value).__name__} cannot be in a plan ({value!r})")
