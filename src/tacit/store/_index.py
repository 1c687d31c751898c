"""Which cell lies in which part: the index of a folder of parts, kept up to date."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tacit.store import _part
from tacit.store._errors import ForeignPartError, PartError, StoreError
from tacit.store._files import names_in, pass_over, set_aside


class PartIndex:
    """The cells of the parts in a folder; the first part in the order of names counts.

    `warnings` collects in words what was set aside or passed over.
    """

    def __init__(
        self, folder: Path, identity: _part.Identity, warnings: list[str], *, read_only: bool
    ) -> None:
        self.folder = folder
        self.read_only = read_only
        self.identity = identity
        self.warnings = warnings
        self.where: dict[str, tuple[str, int]] = {}  # cell's address -> part, row in it
        self.seen: dict[str, _part.Contents] = {}
        self._passed_over: set[str] = set()

    def refresh(self) -> int:
        """Take in the parts that have appeared since the last look; returns how many.

        If all that are there are whole and another's, the folder's own `store.json` is wrong, not
        they: a `StoreError`, and nothing is moved.
        """
        taken = 0
        bad: dict[str, PartError] = {}
        for name in names_in(self.folder, *_part.SUFFIXES):
            if name in self.seen or name in self._passed_over:
                continue
            try:
                contents = _part.check(self.folder / name, self.identity)
            except FileNotFoundError:  # another process has just set it aside
                continue
            except OSError as error:
                # A disk, a server or a permission that fails now says nothing about the part.
                raise StoreError(
                    f"{self.folder / name} cannot be read: {error.strerror}; nothing was moved: "
                    "make it readable, or take it away, then the same command goes on"
                ) from error
            except PartError as error:
                bad[name] = error
            else:
                self.add(name, contents)
                taken += 1
        if not self.seen and all(isinstance(e, ForeignPartError) for e in bad.values()) and bad:
            ours = ", ".join(f"{name} {value}" for name, value in self.identity.to_dict().items())
            raise StoreError(
                f"{self.folder.parent} is the store of {ours}, but {_all(len(bad))} to "
                f"another: {next(iter(bad.values()))}; set its store.json right, or start a new "
                "store with --fresh"
            )
        for name, fault in bad.items():
            self.reject(name, str(fault))
        return taken

    def reject(self, name: str, reason: str) -> None:
        """Set a bad part aside, or pass it over where nothing may be written; and say so."""
        path = self.folder / name
        sentence = pass_over(path, reason) if self.read_only else set_aside(path, reason)
        if sentence is not None:
            self.warnings.append(sentence)
        if os.path.lexists(path):
            self._passed_over.add(name)

    def add(self, name: str, contents: _part.Contents) -> None:
        """Take in a whole part of this folder."""
        self.seen[name] = contents
        self.compare(self.folder / name, contents.keys)
        for row, key in enumerate(contents.keys):
            self.where.setdefault(key, (name, row))

    def drop(self, reasons: Mapping[str, str]) -> None:
        """Reject parts that were taken in; their cells may be in others."""
        for name, reason in reasons.items():
            del self.seen[name]
            self.reject(name, reason)
        self.where.clear()
        for name in sorted(self.seen):
            for row, key in enumerate(self.seen[name].keys):
                self.where.setdefault(key, (name, row))

    def compare(self, part: Path, keys: Sequence[str]) -> None:
        """Warn of cells that are here already with other values than in `part`."""
        repeated = [(row, key) for row, key in enumerate(keys) if key in self.where]
        if not repeated:
            return
        mine = _part.read_arrays(part)
        others: dict[str, dict[str, np.ndarray]] = {}
        different: dict[str, int] = {}
        for row, key in repeated:
            first, at = self.where[key]
            if first not in others:
                others[first] = _part.read_arrays(self.folder / first)
            if not _same_row(mine, row, others[first], at):
                different[first] = different.get(first, 0) + 1
        for first, count in different.items():
            self.warnings.append(
                f"{count} cells are in {first} and, with other values, in {part.name}: "
                "the first counts"
            )


def _same_row(a: Mapping[str, np.ndarray], i: int, b: Mapping[str, np.ndarray], j: int) -> bool:
    def same(x: np.ndarray, y: np.ndarray) -> bool:
        return bool(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc" and y.dtype.kind in "fc"))

    return a.keys() == b.keys() and all(same(a[name][i], b[name][j]) for name in a)


def _all(parts: int) -> str:
    return "its only part belongs" if parts == 1 else f"all {parts} parts belong"
