"""Consolidation: the cells of a plan from all parts into one `results.zarr`.

It is derived data: made from immutable parts, complete under its name or not there, and made again
whenever it is not the image of what the parts hold. It is written slab by slab of the grid, each
slab one chunk of the zarr arrays, so that memory does not grow with the grid.
"""

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tacit._files import (
    WriteError,
    open_regular,
    parsed_json,
    put_folder,
    read_regular,
    refuse_link,
    temporary_folder,
    write_atomically,
)
from tacit.store._dataset import Parts, build_dataset, grid_attributes
from tacit.store._failures import FailedCells
from tacit.store._names import OUTCOME, PRESENT
from tacit.store._plan import Plan
from tacit.store._variable import Variable

if TYPE_CHECKING:
    import xarray

PROVENANCE = "provenance"
FAILED = "failed"
_CONTENT = "content"  # the attribute that says of what it is the image
_SLAB_BYTES = 4 * 2**20  # writing one takes some ten times as much memory
_FORMAT = 2  # of zarr: the one that knows strings of fixed width and that every reader reads


class _Source(Parts, Protocol):
    def keys_of_plan(self, plan: Plan) -> list[str]:
        """The addresses of all cells of a plan."""

    def places(self, plan: Plan) -> list[tuple[str, int] | None]:
        """The part and the row of every cell of a plan."""

    def digest(self, part: str) -> str:
        """The digest of a part's bytes."""

    def provenance(self, part: str) -> dict[str, Any]:
        """Where a part's results came from."""

    def failures(self) -> dict[str, FailedCells]:
        """Why cells failed, by address."""


def consolidate(store: _Source, plan: Plan, target: Path) -> Path:
    """See `Store.consolidate`."""
    located, failed, content = _content(store, plan)
    if _is_image(target, content):
        return target
    import zarr

    try:
        with temporary_folder(target) as temporary:
            # One chunk after another: zarr would hold ten at a time.
            with zarr.config.set({"async.concurrency": 1}):
                _write(store, plan, located, failed, content, temporary)
            bytes_digest = _digest_of_files(temporary)
            put_folder(temporary, target)
        record = {_CONTENT: content, "bytes": bytes_digest}
        write_atomically(_record(target), json.dumps(record).encode())
    except OSError as error:
        raise WriteError(target, error) from error
    return target


def state(store: _Source, plan: Plan, target: Path) -> str | None:
    """What is wrong with `results.zarr`, in words that follow its name; None if it is whole."""
    if not os.path.lexists(target):
        return "is not there"
    if not _record(target).is_file():
        return "has no digest: it was made by an older tacit"
    _, _, content = _content(store, plan)
    if _is_image(target, content):
        return None
    return "is not the image of the parts: they have changed since, or it has"


def _content(store: _Source, plan: Plan) -> tuple[list[tuple[str, int] | None], list[bool], str]:
    """Where each cell lies, whether it failed, and a digest of what is to be shown."""
    located = store.places(plan)
    failures = store.failures()
    failed = [
        found is None and key in failures
        for key, found in zip(store.keys_of_plan(plan), located, strict=True)
    ]
    return located, failed, _digest(store, plan, located, failed)


def _digest(
    store: _Source, plan: Plan, located: Sequence[tuple[str, int] | None], failed: Sequence[bool]
) -> str:
    """Of what it is the image: the plan, the bytes of the parts, and the rows taken from them."""
    parts = {part: store.digest(part) for part in sorted({p[0] for p in located if p is not None})}
    text = json.dumps([store.identity.to_dict(), plan.to_json().decode(), located, failed, parts])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _record(target: Path) -> Path:
    return target.with_name("results.digest")


def _is_image(target: Path, content: str) -> bool:
    """Whether the folder is the image of this content, byte for byte as it was written."""
    try:
        record = parsed_json(read_regular(_record(target), most=2**16))
        return (
            isinstance(record, dict)
            and record.get(_CONTENT) == content
            and record.get("bytes") == _digest_of_files(target)
        )
    except (OSError, ValueError, RecursionError):
        return False


def _digest_of_files(folder: Path) -> str:
    """A digest of the names and bytes of all files in a folder; links are a `FileKindError`."""
    refuse_link(folder)
    digest = hashlib.blake2b(digest_size=16)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in folders:
            refuse_link(Path(place, name))
        for name in sorted(names):
            path = Path(place, name)
            with os.fdopen(open_regular(path), "rb") as file:
                own = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            digest.update(f"{path.relative_to(folder)}\0{own.hexdigest()}\n".encode())
    return digest.hexdigest()


def _write(
    store: _Source,
    plan: Plan,
    located: Sequence[tuple[str, int] | None],
    failed: Sequence[bool],
    content: str,
    folder: Path,
) -> None:
    parts = sorted({found[0] for found in located if found is not None})
    origins, by_part = _origins(store, parts)
    variables = _with_widths(store, plan.variables, parts)
    shape = tuple(len(values) for values in plan.axes.values())
    lost = np.array(failed, dtype=bool).reshape(shape)

    chunk = _chunk(plan, variables, shape)
    template = _template(store, plan, variables)
    template.attrs |= {"origins": json.dumps(origins), _CONTENT: content}
    encoding = {
        str(name): {"chunks": tuple(chunk.get(str(d), array.sizes[d]) for d in array.dims)}
        for name, array in template.data_vars.items()
    }
    regions = list(_regions(plan.axes, chunk))
    slabs = (_slab(store, plan, variables, lost, region) for region in regions)
    if len(regions) == 1:  # small enough to be written once, with its data
        for name, array in next(slabs).items():
            template[name] = template[name].copy(data=array.values)
    template.to_zarr(folder, mode="w-", zarr_format=_FORMAT, encoding=encoding)
    for region, slab in zip(regions, slabs, strict=False):
        slab.to_zarr(folder, region=region, zarr_format=_FORMAT)
    of_cells = [(-1, np.nan) if found is None else by_part[found[0]] for found in located]
    _provenance(plan, of_cells).to_zarr(folder, group=PROVENANCE, mode="w-", zarr_format=_FORMAT)


def _slab(
    store: _Source,
    plan: Plan,
    variables: Mapping[str, Variable],
    lost: np.ndarray,
    region: Mapping[str, slice],
) -> "xarray.Dataset":
    """The data of some values of every axis, without labels and attributes."""
    axes = {name: list(plan.axes[name])[part] for name, part in region.items()}
    slab = build_dataset(store, axes, plan.fixed, variables, plan.coords, {})
    if OUTCOME in variables and not variables[OUTCOME].dims:
        words = np.where(lost[tuple(region.values())], FAILED, slab[OUTCOME].values)
        slab[OUTCOME] = (slab[OUTCOME].dims, words.astype(variables[OUTCOME].dtype))
    return slab.drop_vars([*slab.coords]).drop_attrs()


def _origins(
    store: _Source, parts: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, tuple[int, float]]]:
    """The distinct origins of parts, and for each part the number of its own and its seconds."""
    origins: list[dict[str, Any]] = []
    by_part = {}
    for part in parts:
        origin = dict(store.provenance(part))
        seconds = float(origin.pop("seconds", np.nan))
        origin.pop("parameters", None)  # they are the dataset's own attributes and coordinates
        if origin not in origins:
            origins.append(origin)
        by_part[part] = (origins.index(origin), seconds)
    return origins, by_part


def _provenance(plan: Plan, of_cells: Sequence[tuple[int, float]]) -> "xarray.Dataset":
    """Which origin each cell has; a group of its own, as equality between runs excludes it."""
    import xarray

    shape = tuple(len(values) for values in plan.axes.values())
    number = np.array([number for number, _ in of_cells], dtype=np.int32).reshape(shape)
    seconds = np.array([seconds for _, seconds in of_cells]).reshape(shape)
    words = {
        "origin": (number, "1", "entry of the attribute origins of the results"),
        "batch_seconds": (seconds, "s", "wall time of the batch that the cell was in"),
    }
    data = {
        name: (tuple(plan.axes), array, {"units": units, "long_name": meaning})
        for name, (array, units, meaning) in words.items()
    }
    labels = {name: (name, np.asarray(values)) for name, values in plan.axes.items()}
    return xarray.Dataset(data, coords=labels)


def _with_widths(
    store: _Source, variables: Mapping[str, Variable], parts: Sequence[str]
) -> dict[str, Variable]:
    """The variables, with the width of the longest string: zarr must know it beforehand."""
    texts = [name for name, variable in variables.items() if np.dtype(variable.dtype).kind == "U"]
    widths = dict.fromkeys(texts, len(FAILED))
    for part in parts if texts else ():
        for name, array in store.read(part, texts).items():
            widths[name] = max(widths[name], array.dtype.itemsize // 4)
    return {
        name: variable.with_dtype(f"<U{widths[name]}") if name in widths else variable
        for name, variable in variables.items()
    }


def _sizes(plan: Plan, variable: Variable) -> tuple[int, ...]:
    return tuple(len(plan.coords[dim]) for dim in variable.dims)


def _template(store: _Source, plan: Plan, variables: Mapping[str, Variable]) -> "xarray.Dataset":
    """The whole dataset without its data: each array is one fill value seen many times."""
    import xarray

    grid = tuple(len(values) for values in plan.axes.values())
    data: dict[str, Any] = {
        name: (
            (*plan.axes, *variable.dims),
            np.broadcast_to(
                np.array(variable.fill, dtype=variable.dtype), (*grid, *_sizes(plan, variable))
            ),
            {"units": variable.units, "long_name": variable.long_name or name},
        )
        for name, variable in variables.items()
    }
    present = np.broadcast_to(np.False_, grid)
    data[PRESENT] = (tuple(plan.axes), present, {"long_name": "whether it is stored"})
    labels = {
        name: (name, np.asarray(values), dict(plan.attrs.get(name, {})))
        for name, values in {**plan.axes, **plan.coords}.items()
    }
    return xarray.Dataset(data, coords=labels, attrs=grid_attributes(store, plan.fixed))


def _chunk(plan: Plan, variables: Mapping[str, Variable], shape: Sequence[int]) -> dict[str, int]:
    """How many values of each axis make a slab: the last axes whole, as far as it may grow."""
    cell_bytes = sum(
        np.dtype(variable.dtype).itemsize * int(np.prod(_sizes(plan, variable), dtype=np.int64))
        for variable in variables.values()
    )
    room = max(1, _SLAB_BYTES // max(1, cell_bytes))
    chunk: dict[str, int] = {}
    for name, size in reversed(list(zip(plan.axes, shape, strict=True))):
        chunk[name] = min(size, room)
        room //= chunk[name]
    return chunk


def _regions(
    axes: Mapping[str, Sequence[Any]], chunk: Mapping[str, int]
) -> Iterator[dict[str, slice]]:
    cuts = [
        [slice(i, min(i + chunk[name], len(values))) for i in range(0, len(values), chunk[name])]
        for name, values in axes.items()
    ]
    for block in itertools.product(*cuts):
        yield dict(zip(axes, block, strict=True))
