"""The store of one experiment: a folder of immutable parts, and an index of the cells in them.

```
store/
  store.json            experiment, version, schema
  parts/000001-….npz    one batch each, written under a temporary name, fsynced, renamed
  parts/aside/          files that were not whole parts of this store: kept, never read
  failures/….json       cells that raised, and why
  reserved/             locks on the batches that are being computed
  scratch/              what batches keep for the case that they are killed: checkpoints
  plan.json             the grid that was last asked for
  results.zarr          that grid as xarray reads it, made from the parts
```

Writers need no lock: a part has a name of its own, appears whole, and never changes. Two
processes on one store see each other's parts at the next `refresh` and reserve what they compute;
the worst that can happen, where the file system has no locks, is that a batch is computed twice,
and then the first part in the order of names counts.
"""

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._files import WriteError, remove_stale, sync_folder, write_atomically
from tacit.store import _part, _results
from tacit.store._dataset import build_dataset
from tacit.store._errors import StoreError
from tacit.store._failures import FailedCells, Failures
from tacit.store._files import digest_of, next_name
from tacit.store._index import SUFFIX, PartIndex
from tacit.store._plan import Plan
from tacit.store._provenance import UNKNOWN_ROUNDING, rounding, versions
from tacit.store._reservation import Lock, holder, lock
from tacit.store._status import Status, status_of
from tacit.store._variable import Variable

if TYPE_CHECKING:
    import xarray

MANIFEST = "store.json"


class Store:
    """Results of one version of one experiment, in a folder that is made when it is not there.

    **Arguments:**

    - `path`: the folder.
    - `experiment`, `version`: whose results they are. A folder with another experiment's or
      version's results is refused with a `StoreError`.

    `warnings` lists in words what was found and set aside or passed over.
    """

    def __init__(self, path: str | os.PathLike[str], *, experiment: str, version: int) -> None:
        self.path = Path(path)
        self.identity = _part.Identity(experiment, version)
        self.warnings: list[str] = []
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not the folder of a store: give another path")
        try:
            self._parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(self._parts, error) from error
        self._check_or_write_identity()
        for folder in (self.path, self._parts, self.path / "failures"):
            remove_stale(folder)
        self._index = PartIndex(self._parts, self.identity, self.warnings)
        self._failures = Failures(self.path / "failures", self.identity, self.warnings)
        self.refresh()

    @classmethod
    def existing(cls, path: str | os.PathLike[str]) -> "Store":
        """The store that is in a folder, whosever it is; a `StoreError` if there is none."""
        manifest = Path(path) / MANIFEST
        if not manifest.is_file():
            raise StoreError(f"{path} is not a store: it has no {MANIFEST}")
        theirs = _read_manifest(manifest)
        experiment, version = theirs.get("experiment"), theirs.get("version")
        if not isinstance(experiment, str) or not isinstance(version, int):
            raise StoreError(
                f"{manifest} names no experiment and version: it is not one of tacit's"
            )
        return cls(path, experiment=experiment, version=version)

    @property
    def _parts(self) -> Path:
        return self.path / "parts"

    def _check_or_write_identity(self) -> None:
        manifest, mine = self.path / MANIFEST, self.identity.to_dict()
        if not manifest.exists():
            write_atomically(manifest, json.dumps(mine, indent=1).encode())
            return
        theirs = _read_manifest(manifest)
        differing = [k for k in mine if theirs.get(k) != mine[k]]
        if differing:
            words = " and ".join(f"{k} {theirs.get(k)} (now {mine[k]})" for k in differing)
            raise StoreError(
                f"{self.path} holds results of {words}: --fresh moves them aside and starts over"
            )

    # Reading

    def refresh(self) -> int:
        """Take in the parts that have appeared since the last look; returns how many."""
        return self._index.refresh()

    def keys(self) -> frozenset[str]:
        """The addresses of the cells that are stored."""
        return frozenset(self._index.where)

    def __len__(self) -> int:
        return len(self._index.where)

    def missing(self, cells: Iterable[Mapping[str, Any]]) -> list[int]:
        """The positions in `cells` (full parameters each) of those that are not stored."""
        return self.missing_keys(self.keys_of(cells))

    def keys_of(self, cells: Iterable[Mapping[str, Any]]) -> list[str]:
        """The addresses of cells, full parameters each, stored or not."""
        return [self.identity.key(cell) for cell in cells]

    def missing_keys(self, keys: Iterable[str]) -> list[int]:
        """The positions in `keys` of those that are not stored."""
        where = self._index.where
        return [position for position, key in enumerate(keys) if key not in where]

    def locate(self, cell: Mapping[str, Any]) -> tuple[str, int] | None:
        """The part that holds a cell and the row in it, if it is stored."""
        return self._index.where.get(self.identity.key(cell))

    def parts(self) -> list[str]:
        """The names of the parts that were taken in, in order."""
        return sorted(self._index.seen)

    def seconds_by_cell(self) -> dict[str, float]:
        """What the cells of each part took on average, by the name of the part."""
        sizes = Counter(part for part, _ in self._index.where.values())
        return {
            part: float(self.provenance(part).get("seconds", 0.0)) / size
            for part, size in sizes.items()
        }

    def rounding(self, plan: Plan) -> str:
        """What the rounding errors of a plan's cells depend on, as far as their parts tell."""
        places = (self.locate({**plan.fixed, **cell}) for cell in plan.asked_cells())
        origins = [self.provenance(part) for part in sorted({p[0] for p in places if p})]
        # A part of an older tacit tells its packages only.
        found = {
            origin.get(
                "rounding", rounding() if origin.get("versions") == versions() else UNKNOWN_ROUNDING
            )
            for origin in origins
        }
        return "; ".join(sorted(found))

    def read(self, part: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The named arrays of a part, without those that it lacks."""
        return _part.read_arrays(self._parts / part, names)

    def provenance(self, part: str) -> dict[str, Any]:
        """Where a part's results came from."""
        return _part.read_provenance(self._parts / part)

    # Writing

    def add(
        self,
        cells: Sequence[Mapping[str, Any]],
        arrays: Mapping[str, Any],
        provenance: Mapping[str, Any],
    ) -> str:
        """Write one batch as a new part and return its name; on return it is on the disk.

        **Arguments:**

        - `cells`: the full parameters of each cell, swept and fixed.
        - `arrays`: by name, with the cells along the leading axis.
        - `provenance`: JSON's types only; see `tacit.store.provenance`.

        On a full disk nothing of it stays behind and the error is a `WriteError`.
        """
        keys = self.keys_of(cells)
        if not keys or len(set(keys)) != len(keys):
            raise ValueError(f"cells: received {len(keys)}, a part needs one or more, all distinct")
        stored = {name: np.asarray(array) for name, array in arrays.items()}
        data = _part.encode(self.identity, cells, stored, provenance)
        return self._write(keys, data)

    def _write(self, keys: Sequence[str], data: bytes) -> str:
        name = next_name(self._parts, keys, SUFFIX)
        write_atomically(self._parts / name, data)
        self._index.add(name, keys)
        return name

    def merge(self, other: "Store | str | os.PathLike[str]") -> int:
        """Take the parts of a store made elsewhere that hold a cell not yet here; returns how many.

        `other` is only read, except that its damaged parts are set aside there, as on any opening.
        Cells that are in both with other values are warned of; those here count.
        """
        theirs = other if isinstance(other, Store) else Store.existing(other)
        if os.path.samefile(self.path, theirs.path):
            raise StoreError(f"{theirs.path} is the store to merge into: give another one")
        theirs.check_fits(self)
        self.warnings += theirs.warnings
        self.refresh()
        taken = 0
        for name in theirs.parts():
            path = theirs._parts / name
            keys = _part.read_keys(path, self.identity)
            if any(key not in self._index.where for key in keys):
                self._write(keys, path.read_bytes())
                taken += 1
            else:
                self._index.compare(path, keys)
        return taken

    def check_fits(self, ours: "Store") -> None:
        """A `StoreError` unless both hold results of one version of one experiment."""
        a, b = self.identity.to_dict(), ours.identity.to_dict()
        differing = [name for name in a if a[name] != b[name]]
        if differing:
            words = " and ".join(f"{name} {a[name]} (there: {b[name]})" for name in differing)
            raise StoreError(
                f"{self.path} holds results of {words}: only parts of one version of one "
                f"experiment go together with those in {ours.path}"
            )

    # Who is at work, and what went wrong

    def at_work(self) -> Lock:
        """A lock that any number of workers share and that keeps the store from being moved."""
        found = lock(self.path / MANIFEST, shared=True)
        if found is None:
            raise StoreError(f"{self.path} is being moved aside by another process: run it again")
        return found

    def reserve(self, keys: Sequence[str]) -> Lock | None:
        """The right to compute the cells of these addresses, until it is released or we end.

        None when another process has it. The cells must be looked for again after it is granted.
        """
        (self.path / "reserved").mkdir(exist_ok=True)
        return lock(self.path / "reserved" / digest_of(keys), passing=True)

    def scratch(self, keys: Sequence[str]) -> Path:
        """The folder that the work on these cells may use until they are stored."""
        return (self.path / "scratch" / digest_of(keys)).absolute()

    def clear_scratch(self, folder: Path) -> None:
        """Remove such a folder, if it is there."""
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # there is none, or another one is in it
            (self.path / "scratch").rmdir()

    def reserved_by(self, keys: Sequence[str]) -> str:
        """The number of the process that has reserved these cells."""
        return holder(self.path / "reserved" / digest_of(keys))

    def batches_at_work(self) -> int:
        """How many batches are being computed now, by whichever process."""
        names = os.listdir(self.path / "reserved") if (self.path / "reserved").is_dir() else []
        found = [lock(self.path / "reserved" / name, passing=True) for name in names]
        for free in found:
            if free is not None:  # left behind by a process that was killed
                free.release()
        return sum(held is None for held in found)

    def add_failure(self, cells: Sequence[Mapping[str, Any]], message: str, traceback: str) -> str:
        """Keep the error of cells that raised; returns the name of the record."""
        return self._failures.add(cells, message, traceback)

    def failure_names(self) -> frozenset[str]:
        """The names of the records of failed cells."""
        return frozenset(self._failures.names())

    def failures(self, *, but: frozenset[str] = frozenset()) -> dict[str, FailedCells]:
        """Why cells failed, by address, for those not stored since; not of the records in `but`."""
        found = self._failures.read(but=but)
        return {key: record for key, record in found.items() if key not in self._index.where}

    # Out

    def dataset(
        self,
        axes: Mapping[str, Sequence[Any]],
        fixed: Mapping[str, Any],
        variables: Mapping[str, Variable],
        coords: Mapping[str, Sequence[Any] | np.ndarray],
        *,
        attrs: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> "xarray.Dataset":
        """The cells of a grid as an `xarray.Dataset`, whatever else the store holds.

        The arguments are those of a `Plan`. A cell that is not stored is filled (NaN, "", False,
        -1), and the boolean variable `present` is False there.
        """
        return build_dataset(self, axes, fixed, variables, coords, attrs or {})

    def keep_plan(self, plan: Plan) -> None:
        """Write down what is asked of the store, for `plan` and `consolidate`."""
        data = plan.to_json()
        path = self.path / "plan.json"
        if not path.exists() or path.read_bytes() != data:
            write_atomically(path, data)

    def plan(self) -> Plan | None:
        """What was last asked of the store, None if that is not known."""
        path = self.path / "plan.json"
        try:
            return Plan.from_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            self.warnings.append(f"{path} is not readable and passed over: {error}")
            return None

    def status(self, plan: Plan) -> Status:
        """How many cells of a plan are done, missing and failed, and how they ended."""
        return status_of(self, plan)

    def consolidate(self, plan: Plan) -> Path:
        """Write the cells of a plan to `results.zarr` for `xarray.open_zarr`; returns its path.

        It is built under another name and replaces the old one whole; it can be made again from
        the parts at any time. Its group `provenance` tells of each cell where it was computed.
        Memory is that of a few parts, however large the grid. A dataset that was opened from the
        old one must be opened again.
        """
        return _results.consolidate(self, plan, self.path / "results.zarr")

    @staticmethod
    def move_aside(path: str | os.PathLike[str]) -> Path | None:
        """Rename a store's folder to `<name>.old-1`, `-2`, …, deleting nothing.

        Returns the new path, or None when there was no such folder; a `StoreError` while a sweep
        is at work in it.
        """
        source = Path(path)
        if not source.exists():
            return None
        manifest = source / MANIFEST
        held = lock(manifest) if manifest.exists() else Lock(None)
        if held is None:
            raise StoreError(
                f"{source} is in use by another process: stop it or wait for it before --fresh"
            )
        with held:
            number = 1
            while (target := source.with_name(f"{source.name}.old-{number}")).exists():
                number += 1
            source.rename(target)
            sync_folder(source.parent)
        return target


def stores_in(folder: str | os.PathLike[str]) -> list[Path]:
    """The stores at or below a folder, without those that `--fresh` has moved aside."""
    path = Path(folder)
    if (path / MANIFEST).is_file():
        return [path]
    found = []
    for place, folders, names in os.walk(path):
        if MANIFEST in names:
            found.append(Path(place))
            folders.clear()  # there are no stores within stores
        folders[:] = sorted(name for name in folders if ".old-" not in name)
    return found


def _read_manifest(manifest: Path) -> dict[str, Any]:
    try:
        theirs = json.loads(manifest.read_bytes())
    except ValueError:
        theirs = None
    if not isinstance(theirs, dict):
        raise StoreError(f"{manifest} is not readable: start a new store with --fresh")
    return theirs
