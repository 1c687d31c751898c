"""The store of one experiment: a folder of immutable parts, and an index of the cells in them.

```
store/
  store.json            experiment, version, schema
  parts/000001-….safetensors  one batch each, written under a temporary name, fsynced, renamed
  parts/aside/          files that were not whole parts of this store: kept, never read
  failures/….json       cells that raised, and why
  reserved/             locks on the batches that are being computed
  scratch/              what batches keep for the case that they are killed: checkpoints
  plan.json             the grid that was last asked for
  accepted.json         codes whose cells the user takes for those of another (--accept-changed)
  results.zarr          that grid as xarray reads it, made from the parts
  results.digest        of what parts it is the image, and of its own bytes
```

Writers need no lock: a part has a name of its own, appears whole, and never changes. Two
processes on one store see each other's parts at the next `refresh` and reserve what they compute;
the worst that can happen, where the file system has no locks, is that a batch is computed twice,
and then the first part in the order of names counts.
"""

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._doors import door, each, flag, instance, path, text
from tacit._files import (
    FileKindError,
    WriteError,
    make_folders,
    read_regular,
    refuse_link,
    remove_stale,
    sync_folder,
    write_atomically,
)
from tacit._phases import counted_as
from tacit._tensors import MOST_BYTES
from tacit.store import _accepted, _part, _results
from tacit.store._accepted import ACCEPTED
from tacit.store._dataset import build_dataset
from tacit.store._errors import StoreError
from tacit.store._failures import FailedCells, Failures
from tacit.store._files import ASIDE, Numbers, digest_of, names_in
from tacit.store._fit import misfit, wrong_outcomes
from tacit.store._index import PartIndex
from tacit.store._key import check_given
from tacit.store._manifest import MANIFEST, read_manifest
from tacit.store._names import OUTCOME, check_identity
from tacit.store._plan import Plan
from tacit.store._provenance import UNKNOWN_ROUNDING, rounding, versions
from tacit.store._reservation import Lock, holder, is_held, lock
from tacit.store._status import Status, status_of
from tacit.store._variable import Variable, plain_array

if TYPE_CHECKING:
    import xarray

_RESERVATION = re.compile("[0-9a-f]{16}")
_MOST_PLAN_BYTES = 64 * 2**20


class Store:
    """Results of one version of one experiment, in a folder that is made when it is not there.

    **Arguments:**

    - `path`: the folder.
    - `experiment`, `version`: whose results they are. A folder with another experiment's or
      version's results is refused with a `StoreError`.
    - `read_only`: nothing in the folder is made, changed or moved; it must be there. What is not
      whole is passed over.

    Nothing is read or written through a link within the folder. `warnings` lists in words what was
    found and set aside or passed over.
    """

    @door(path=path, read_only=flag)
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        experiment: str,
        version: int,
        read_only: bool = False,
    ) -> None:
        self.path = Path(os.path.expanduser(path))  # as zarr would, for its own files alone
        self.identity = _part.Identity(experiment, version)
        self.read_only = read_only
        self.warnings: list[str] = []
        self._last_plan: Plan | None = None
        self._last_keys: list[str] = []
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not the folder of a store: give another path")
        self._refuse_links()
        if not read_only:
            try:
                make_folders(self._parts)
            except OSError as error:
                raise WriteError(self._parts, error) from error
        self._check_or_write_identity()
        if not read_only:
            for folder in (self.path, self._parts, self.path / "failures"):
                remove_stale(folder)
            self._drop_stale_reservations()
        self._numbers = Numbers(self._parts)
        self._index = PartIndex(self._parts, self.identity, self.warnings, read_only=read_only)
        self._failures = Failures(
            self.path / "failures", self.identity, self.warnings, read_only=read_only
        )
        self.refresh()

    @classmethod
    @door(path=path, read_only=flag)
    def existing(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> "Store":
        """The store that is in a folder, whosever it is; a `StoreError` if there is none."""
        manifest = Path(os.path.expanduser(path)) / MANIFEST
        if not os.path.lexists(manifest):
            raise StoreError(f"{path} is not a store: it has no {MANIFEST}")
        theirs = read_manifest(manifest)
        experiment, version = theirs.get("experiment"), theirs.get("version")
        try:
            check_identity(experiment, version)
        except StoreError as error:
            raise StoreError(f"{manifest} is not one of tacit's: {error}") from None
        assert isinstance(experiment, str)
        assert isinstance(version, int)
        return cls(path, experiment=experiment, version=version, read_only=read_only)

    def _drop_stale_reservations(self) -> None:
        """Remove the lock files of killed processes, which nobody holds any more."""
        for name in names_in(self.path / "reserved", ""):
            if _RESERVATION.fullmatch(name):
                with contextlib.suppress(StoreError, WriteError):
                    stale = lock(self.path / "reserved" / name, passing=True)
                    if stale is not None:
                        stale.release()

    def _refuse_links(self) -> None:
        try:
            for name in ("parts", "failures", "reserved"):
                refuse_link(self.path / name)
                refuse_link(self.path / name / ASIDE)
        except FileKindError as error:
            raise StoreError(str(error)) from None

    @property
    def _parts(self) -> Path:
        return self.path / "parts"

    def _check_or_write_identity(self) -> None:
        manifest, mine = self.path / MANIFEST, self.identity.to_dict()
        if not os.path.lexists(manifest) and not self.read_only:
            write_atomically(manifest, json.dumps(mine, indent=1).encode())
            return
        theirs = read_manifest(manifest)
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

    def keys_of(
        self, cells: Iterable[Mapping[str, Any]], fixed: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The addresses of cells, stored or not, beside the parameters that they share."""
        return self.identity.keys(cells, fixed or {})

    def keys_of_plan(self, plan: Plan) -> list[str]:
        """The addresses of all cells of a plan, in its order; found once for the last plan."""
        if self._last_plan is not plan:
            self._last_plan, self._last_keys = plan, self.keys_of(plan.cells(), plan.fixed)
        return self._last_keys

    def located(
        self, cells: Iterable[Mapping[str, Any]], fixed: Mapping[str, Any]
    ) -> list[tuple[str, int] | None]:
        """For each cell, beside what they share, its part and row there, None if missing."""
        return [self._index.where.get(key) for key in self.keys_of(cells, fixed)]

    def places(self, plan: Plan) -> list[tuple[str, int] | None]:
        """For each cell of a plan, asked for or not, its part and row there, None if missing."""
        return [self._index.where.get(key) for key in self.keys_of_plan(plan)]

    def missing_keys(self, keys: Iterable[str]) -> list[int]:
        """The positions in `keys` of those that are not stored."""
        where = self._index.where
        return [position for position, key in enumerate(keys) if key not in where]

    @door(answer="any", cell=instance(Mapping))
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
        places = self._asked_places(plan)
        origins = [self.provenance(part) for part in sorted({p[0] for p in places if p})]
        # A part of an older tacit tells its packages only.
        found = {
            origin.get(
                "rounding", rounding() if origin.get("versions") == versions() else UNKNOWN_ROUNDING
            )
            for origin in origins
        }
        return "; ".join(sorted(found))

    def fit(self, plan: Plan, *, code: str | None = None) -> None:
        """Reject the parts with cells of a plan that do not hold what it declares of them.

        Each is named and set aside, so that its cells are computed again. If no part fits it is the
        declaration that has changed: that is a `StoreError`, except of parts that the same code
        made (`code`), which are then wrong in themselves, and where nothing may be moved.
        """
        located = {place[0] for place in self.places(plan) if place}
        reasons, content = {}, {}
        for part in sorted(located):
            contents = self._index.seen[part]
            reason = misfit(contents.layout, plan.variables, plan.coords)
            if reason is not None:
                reasons[part] = reason
            elif OUTCOME in plan.variables:
                word = wrong_outcomes(self.read(part, [OUTCOME]))
                if word is not None:
                    content[part] = word
        own = any(code is not None and self._index.seen[p].code == code for p in reasons)
        if reasons and len(reasons) == len(located) and not own and not self.read_only:
            part, reason = next(iter(reasons.items()))
            raise StoreError(
                f"{self.path}: no part holds what the experiment declares ({part}: {reason}): "
                "raise the experiment's version, or start over with --fresh"
            )
        if reasons or content:
            self._index.drop({**reasons, **content})

    def codes(self, plan: Plan) -> dict[str | None, int]:
        """How many stored cells of a plan each code has computed, by its fingerprint.

        None is for the cells of parts that do not tell, as older ones.
        """
        places = self._asked_places(plan)
        return dict(Counter(self._index.seen[place[0]].code for place in places if place))

    def known_codes(self) -> frozenset[str]:
        """The fingerprints of all codes that have computed cells here."""
        return frozenset(c.code for c in self._index.seen.values() if c.code is not None)

    def accepted(self, code: str) -> frozenset[str]:
        """The other codes whose cells may stand beside those of `code`, as a user has said."""
        return _accepted.read(self.path / ACCEPTED).get(code, frozenset())

    def accept(self, code: str, others: Iterable[str]) -> None:
        """Remember that a user takes the cells of other codes for those of `code`."""
        self._must_be_writable()
        _accepted.add(self.path / ACCEPTED, code, others)

    def _asked_places(self, plan: Plan) -> list[tuple[str, int] | None]:
        return [p for i, p in enumerate(self.places(plan)) if i not in plan.not_asked]

    def read(self, part: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The named arrays of a part, without those that it lacks."""
        return _part.read_arrays(self._parts / part, names)

    def digest(self, part: str) -> str:
        """The digest of a part's bytes."""
        return self._index.seen[part].digest

    def provenance(self, part: str) -> dict[str, Any]:
        """Where a part's results came from."""
        return _part.read_provenance(self._parts / part)

    # Writing

    @door(
        answer="any",
        cells=each(instance(Mapping)),
        arrays=instance(Mapping),
        provenance=instance(Mapping),
    )
    @counted_as("storing")
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
        check_given(cells)
        keys = self.keys_of(cells)
        if not keys or len(set(keys)) != len(keys):
            raise ValueError(f"cells: received {len(keys)}, a part needs one or more, all distinct")
        stored = {name: plain_array(name, array) for name, array in arrays.items()}
        data = _part.encode(self.identity, cells, stored, provenance)
        layout = {name: (array.dtype, array.shape[1:]) for name, array in stored.items()}
        code = provenance.get("code")
        return self._write(_part.Contents(tuple(keys), layout, code, _part.digest_in(data)), data)

    def _must_be_writable(self) -> None:
        if self.read_only:
            raise StoreError(f"{self.path} was opened to be read only")

    def _write(self, contents: _part.Contents, data: bytes, suffix: str = _part.SUFFIX) -> str:
        self._must_be_writable()
        try:
            name = self._numbers.name(contents.keys, suffix)
        except OSError as error:  # the folder was taken away meanwhile
            raise WriteError(self._parts, error) from error
        write_atomically(self._parts / name, data)
        self._numbers.written()
        self._index.add(name, contents)
        return name

    def merge(self, other: "Store | str | os.PathLike[str]", *, plan: Plan | None = None) -> int:
        """Take the parts of a store made elsewhere that hold a cell not yet here; returns how many.

        `other` is only read; its damaged parts are passed over. Cells that are in both with other
        values are warned of; those here count. Each part is checked before it is taken, also
        against what `plan` declares, where there is one.
        """
        self._must_be_writable()
        theirs = other if isinstance(other, Store) else Store.existing(other, read_only=True)
        if os.path.samefile(self.path, theirs.path):
            raise StoreError(f"{theirs.path} is the store to merge into: give another one")
        theirs.check_fits(self)
        if plan is not None:
            theirs.fit(plan)
        self.warnings += theirs.warnings
        self.refresh()
        taken = 0
        for name in theirs.parts():
            path, contents = theirs._parts / name, theirs._index.seen[name]
            if any(key not in self._index.where for key in contents.keys):
                self._write(contents, read_regular(path, most=MOST_BYTES), path.suffix)
                taken += 1
            else:
                self._index.compare(path, contents.keys)
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
        self._must_be_writable()
        (self.path / "reserved").mkdir(exist_ok=True)
        return lock(self.path / "reserved" / digest_of(keys), passing=True)

    def scratch(self, keys: Sequence[str], *, code: str | None = None) -> Path:
        """The folder that a code's work on these cells may use until they are stored."""
        return (self.path / "scratch" / digest_of(keys) / digest_of([code or ""])).absolute()

    def clear_scratch(self, folder: Path) -> None:
        """Remove such a folder, and those of other codes for these cells, if they are there."""
        shutil.rmtree(folder.parent, ignore_errors=True)
        with contextlib.suppress(OSError):  # there is none, or another one is in it
            (self.path / "scratch").rmdir()

    def reserved_by(self, keys: Sequence[str]) -> str:
        """The number of the process that has reserved these cells."""
        return holder(self.path / "reserved" / digest_of(keys))

    def batches_at_work(self) -> int:
        """How many batches are being computed now, by whichever process."""
        reserved = self.path / "reserved"
        names = os.listdir(reserved) if reserved.is_dir() else []
        return sum(is_held(reserved / name) for name in names)

    @door(cells=each(instance(Mapping), least=0), message=text, traceback=text)
    def add_failure(self, cells: Sequence[Mapping[str, Any]], message: str, traceback: str) -> str:
        """Keep the error of cells that raised; returns the name of the record."""
        self._must_be_writable()
        return self._failures.add(cells, message, traceback)

    def failure_path(self, name: str) -> str:
        """Where the record of failed cells with this name lies."""
        return str(self.path / "failures" / name)

    def failure_names(self) -> frozenset[str]:
        """The names of the records of failed cells."""
        return frozenset(self._failures.names())

    def failures(self, *, but: frozenset[str] = frozenset()) -> dict[str, FailedCells]:
        """Why cells failed, by address, for those not stored since; not of the records in `but`."""
        found = self._failures.read(but=but)
        return {key: record for key, record in found.items() if key not in self._index.where}

    # Out

    @counted_as("storing")
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

    @counted_as("storing")
    def keep_plan(self, plan: Plan) -> None:
        """Write down what is asked of the store, for `plan` and `consolidate`."""
        self._must_be_writable()
        data = plan.to_json()
        path = self.path / "plan.json"
        try:
            same = read_regular(path, most=len(data)) == data
        except (OSError, FileKindError):
            same = False
        if not same:
            write_atomically(path, data)

    def plan(self) -> Plan | None:
        """What was last asked of the store, None if that is not known."""
        path = self.path / "plan.json"
        try:
            return Plan.from_json(read_regular(path, most=_MOST_PLAN_BYTES))
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            self.warnings.append(f"{path} is not readable and passed over: {error}")
            return None

    def status(self, plan: Plan) -> Status:
        """How many cells of a plan are done, missing and failed, and how they ended."""
        return status_of(self, plan)

    @counted_as("storing")
    def consolidate(self, plan: Plan) -> Path:
        """Write the cells of a plan to `results.zarr` for `xarray.open_zarr`; returns its path.

        It is built under another name and replaces the old one whole; it can be made again from
        the parts at any time. Its group `provenance` tells of each cell where it was computed.
        Memory is that of a few parts, however large the grid. A dataset that was opened from the
        old one must be opened again.
        """
        self._must_be_writable()
        return _results.consolidate(self, plan, self.path / "results.zarr")

    def holds_some_of(self, plan: Plan) -> bool:
        """Whether a cell of a plan is stored: one that was read may declare what nobody has."""
        return any(self._asked_places(plan))

    @staticmethod
    def move_aside(path: str | os.PathLike[str]) -> Path | None:
        """Rename a store's folder to `<name>.old-1`, `-2`, …, deleting nothing.

        Returns the new path, or None when there was no such folder; a `StoreError` while a sweep
        is at work in it.
        """
        source = Path(os.path.expanduser(path))
        if not source.exists():
            return None
        manifest = source / MANIFEST
        plain = manifest.is_file() and not manifest.is_symlink()
        held = lock(manifest) if plain else Lock(None)
        if held is None:
            raise StoreError(
                f"{source} is in use by another process: stop it or wait for it before --fresh"
            )
        with held:
            number = 1
            while os.path.lexists(target := source.with_name(f"{source.name}.old-{number}")):
                number += 1
            source.rename(target)
            sync_folder(source.parent)
        return target
