"""From parts to a labelled grid."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tacit.store._errors import StoreError
from tacit.store._key import canonical
from tacit.store._names import PRESENT
from tacit.store._variable import Variable

if TYPE_CHECKING:
    import xarray

Coordinates = Mapping[str, Sequence[Any] | np.ndarray]


class Parts(Protocol):
    """The part of a store that is needed here."""

    identity: Any

    def located(
        self, cells: Iterable[Mapping[str, Any]], fixed: Mapping[str, Any]
    ) -> list[tuple[str, int] | None]:
        """The part and the row of each cell."""

    def read(self, part: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Arrays of a part."""


def _places(
    store: Parts, axes: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> dict[str, tuple[list[int], list[int]]]:
    """For each part: positions in the flat grid, and the rows of the part that go there."""
    places: dict[str, tuple[list[int], list[int]]] = {}
    cells = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    for position, where in enumerate(store.located(cells, fixed)):
        if where is not None:
            positions, rows = places.setdefault(where[0], ([], []))
            positions.append(position)
            rows.append(where[1])
    return places


def _part_array(
    part: str, name: str, arrays: Mapping[str, np.ndarray], rows: Sequence[int], shape: tuple
) -> np.ndarray:
    if name not in arrays:
        raise StoreError(
            f"{part} has no variable {name!r}: it was written by another state of the experiment; "
            "raise the experiment's version, or start over with --fresh"
        )
    found = arrays[name][np.asarray(rows)]
    if found.shape[1:] != shape:
        raise StoreError(
            f"{part} has {name!r} with shape {found.shape[1:]} a cell where {shape} is asked for: "
            "coordinates may depend on fixed parameters only, not on the swept ones"
        )
    return found


def _gather(
    store: Parts,
    count: int,
    places: Mapping[str, tuple[list[int], list[int]]],
    variables: Mapping[str, Variable],
    coords: Coordinates,
) -> dict[str, np.ndarray]:
    shapes = {n: tuple(len(coords[d]) for d in v.dims) for n, v in variables.items()}
    flat = {
        name: np.full((count, *shapes[name]), variable.fill, dtype=variable.dtype)
        for name, variable in variables.items()
    }
    for part, (positions, rows) in places.items():
        arrays = store.read(part, list(variables))
        for name in variables:
            found = _part_array(part, name, arrays, rows, shapes[name])
            if flat[name].dtype.kind == "U" and found.dtype.itemsize > flat[name].dtype.itemsize:
                flat[name] = flat[name].astype(found.dtype)  # the widest string seen so far
            flat[name][positions] = found
    return flat


def grid_attributes(store: Parts, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Global attributes: whose results, and the fixed parameters; nested ones as JSON text."""
    attributes: dict[str, Any] = {
        "experiment": store.identity.experiment,
        "version": store.identity.version,
    }
    for name, value in fixed.items():
        plain = isinstance(value, bool | int | float | str)
        listed = isinstance(value, list | tuple) and all(
            isinstance(item, int | float | str) for item in value
        )
        attributes[name] = (
            value if plain else list(value) if listed else json.dumps(canonical(value))
        )
    return attributes


def build_dataset(
    store: Parts,
    axes: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    variables: Mapping[str, Variable],
    coords: Coordinates,
    attrs: Mapping[str, Mapping[str, Any]],
) -> "xarray.Dataset":
    """See `Store.dataset`."""
    import xarray

    names = [*axes, *coords, *variables, PRESENT]
    clash = sorted({name for name in names if names.count(name) > 1})
    if clash:
        raise ValueError(f"axes, coords, variables: {clash} is used twice; names must be distinct")
    sizes = {name: len(values) for name, values in axes.items()}
    count = int(np.prod([*sizes.values()], dtype=np.int64))
    places = _places(store, axes, fixed)
    present = np.zeros(count, dtype=bool)
    for positions, _ in places.values():
        present[positions] = True

    grid = tuple(sizes.values())
    flat = _gather(store, count, places, variables, coords)
    data: dict[str, Any] = {
        name: (
            (*axes, *variable.dims),
            flat[name].reshape(*grid, *flat[name].shape[1:]),
            {"units": variable.units, "long_name": variable.long_name or name},
        )
        for name, variable in variables.items()
    }
    data[PRESENT] = (tuple(axes), present.reshape(grid), {"long_name": "whether it is stored"})
    labels = {
        name: (name, np.asarray(values), dict(attrs.get(name, {})))
        for name, values in {**axes, **coords}.items()
    }
    return xarray.Dataset(data, coords=labels, attrs=grid_attributes(store, fixed))
