"""The store of one experiment: a folder of immutable parts, and an index of the cells in them.

```
store/
  store.json            experiment, version, schema
  parts/000001-….npz    one batch each, written under a temporary name, fsynced, renamed
  parts/aside/          files that were not whole parts of this store: kept, never read
```

Writers need no lock: a part has a name of its own, appears whole, and never changes. Two
processes on one store see each other's parts at the next `refresh`; the worst that can happen is
that a batch is computed twice, and then the first part in the order of names counts.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.store import _part
from tacit.store._atomic import sync_folder, write_atomically
from tacit.store._dataset import build_dataset
from tacit.store._errors import PartError, StoreError
from tacit.store._variable import Variable

if TYPE_CHECKING:
    import xarray


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
        self._where: dict[str, tuple[str, int]] = {}  # cell's address -> part, row in it
        self._seen: set[str] = set()
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not the folder of a store: give another path")
        self._parts.mkdir(parents=True, exist_ok=True)
        self._check_or_write_identity()
        self.refresh()

    @property
    def _parts(self) -> Path:
        return self.path / "parts"

    def _check_or_write_identity(self) -> None:
        manifest, mine = self.path / "store.json", self.identity.to_dict()
        try:
            theirs = json.loads(manifest.read_bytes())
        except FileNotFoundError:
            write_atomically(manifest, json.dumps(mine, indent=1).encode())
            return
        except ValueError:
            theirs = None
        if not isinstance(theirs, dict):
            raise StoreError(f"{manifest} is not readable: start a new store with --fresh")
        differing = [k for k in mine if theirs.get(k) != mine[k]]
        if differing:
            words = " and ".join(f"{k} {theirs.get(k)} (now {mine[k]})" for k in differing)
            raise StoreError(
                f"{self.path} holds results of {words}: --fresh moves them aside and starts anew"
            )

    # Reading

    def refresh(self) -> int:
        """Take in the parts that have appeared since the last look; returns how many."""
        names = sorted(name for name in os.listdir(self._parts) if name.endswith(".npz"))
        fresh = [name for name in names if name not in self._seen and not name.startswith(".")]
        return sum(self._take(name) for name in fresh)

    def _take(self, name: str) -> bool:
        try:
            keys = _part.read_keys(self._parts / name, self.identity)
        except FileNotFoundError:  # another process has just set it aside
            return False
        except PartError as error:
            self._set_aside(name, str(error))
            return False
        self._index(name, keys)
        return True

    def _index(self, name: str, keys: Sequence[str]) -> None:
        self._seen.add(name)
        repeated = [(row, key) for row, key in enumerate(keys) if key in self._where]
        if repeated:
            self._compare_repeated(name, repeated)
        for row, key in enumerate(keys):
            self._where.setdefault(key, (name, row))

    def _compare_repeated(self, name: str, repeated: Sequence[tuple[int, str]]) -> None:
        mine = _part.read_arrays(self._parts / name)
        others: dict[str, dict[str, np.ndarray]] = {}
        different: dict[str, int] = {}
        for row, key in repeated:
            first, at = self._where[key]
            if first not in others:
                others[first] = _part.read_arrays(self._parts / first)
            if not _same_row(mine, row, others[first], at):
                different[first] = different.get(first, 0) + 1
        for first, count in different.items():
            self.warnings.append(
                f"{count} cells are in {first} and, with other values, in {name}: the first counts"
            )

    def _set_aside(self, name: str, reason: str) -> None:
        aside = self._parts / "aside"
        aside.mkdir(exist_ok=True)
        target = _unused(aside / name)
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            (self._parts / name).rename(target)
            self.warnings.append(f"{name} is not a whole part ({reason}): set aside as {target}")

    def keys(self) -> frozenset[str]:
        """The addresses of the cells that are stored."""
        return frozenset(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def missing(self, cells: Iterable[Mapping[str, Any]]) -> list[int]:
        """The positions in `cells` (full parameters each) of those that are not stored."""
        return [i for i, cell in enumerate(cells) if self.identity.key(cell) not in self._where]

    def parts(self) -> list[str]:
        """The names of the parts that were taken in, in order."""
        return sorted(self._seen)

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
        """
        keys = [self.identity.key(cell) for cell in cells]
        if not keys or len(set(keys)) != len(keys):
            raise ValueError(f"cells: received {len(keys)}, a part needs one or more, all distinct")
        stored = {name: np.asarray(array) for name, array in arrays.items()}
        data = _part.encode(self.identity, cells, stored, provenance)
        return self._write(keys, data)

    def _write(self, keys: Sequence[str], data: bytes) -> str:
        digest = hashlib.blake2b("".join(keys).encode(), digest_size=8).hexdigest()
        numbers = [name.partition("-")[0] for name in os.listdir(self._parts)]
        taken = [int(number) for number in numbers if number.isdecimal()]
        # Two writers may choose one number; one name then means the same cells, so that the
        # rename replaces a part by its equal.
        name = f"{max(taken, default=0) + 1:06d}-{digest}.npz"
        write_atomically(self._parts / name, data)
        self._index(name, keys)
        return name

    def merge(self, other: str | os.PathLike[str]) -> int:
        """Take the parts of a store made elsewhere that hold a cell not yet here; returns how many.

        `other` is only read, except that its damaged parts are set aside there, as on any opening.
        """
        if not (Path(other) / "store.json").is_file():
            raise StoreError(f"{other} is not a store: it has no store.json")
        theirs = Store(other, experiment=self.identity.experiment, version=self.identity.version)
        self.warnings += theirs.warnings
        taken = 0
        for name in theirs.parts():
            keys = _part.read_keys(theirs._parts / name, self.identity)
            if any(key not in self._where for key in keys):
                self._write(keys, (theirs._parts / name).read_bytes())
                taken += 1
        return taken

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

        **Arguments:**

        - `axes`: the grid: dimension → values, in the order of the result's dimensions.
        - `fixed`: the other parameters of every cell.
        - `variables`: what to read, with the dimensions beyond the grid's.
        - `coords`: the values along those further dimensions.
        - `attrs`: attributes (`long_name`, `units`) of coordinates, by dimension.

        A cell that is not stored is filled (NaN, "", False, -1), and the boolean variable
        `present` is False there.
        """
        return build_dataset(self, axes, fixed, variables, coords, attrs or {})

    def locate(self, cell: Mapping[str, Any]) -> tuple[str, int] | None:
        """The part that holds a cell and the row in it, if it is stored."""
        return self._where.get(self.identity.key(cell))

    def read(self, part: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The named arrays of a part, without those that it lacks."""
        return _part.read_arrays(self._parts / part, names)

    @staticmethod
    def move_aside(path: str | os.PathLike[str]) -> Path | None:
        """Rename a store's folder to `<name>.old-1`, `-2`, …, deleting nothing.

        Returns the new path, or None when there was no such folder.
        """
        source = Path(path)
        if not source.exists():
            return None
        number = 1
        while (target := source.with_name(f"{source.name}.old-{number}")).exists():
            number += 1
        source.rename(target)
        sync_folder(source.parent)
        return target


def _unused(path: Path) -> Path:
    number, target = 1, path
    while target.exists():
        target, number = path.with_name(f"{path.name}.{number}"), number + 1
    return target


def _same_row(a: Mapping[str, np.ndarray], i: int, b: Mapping[str, np.ndarray], j: int) -> bool:
    def same(x: np.ndarray, y: np.ndarray) -> bool:
        return bool(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc" and y.dtype.kind in "fc"))

    return a.keys() == b.keys() and all(same(a[name][i], b[name][j]) for name in a)
