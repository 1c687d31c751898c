"""Cells that raised, and why: one immutable file for each failed batch, beside the parts.

A record says what happened, never that a cell must not be tried again: the next run tries every
cell that no part holds, and a part always counts more than a record.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit._files import make_folders, parsed_json, read_regular, write_atomically
from tacit.store._errors import StoreError
from tacit.store._files import Numbers, names_in, pass_over, set_aside
from tacit.store._key import canonical
from tacit.store._part import Identity

SUFFIX = ".json"
_MOST_BYTES = 64 * 2**20  # of a record, many times what a batch and its traceback take


@dataclass(frozen=True)
class FailedCells:
    """Cells of one batch that failed with the same error: their full parameters, and the error.

    `name` is that of the record's file; a later record has a later name.
    """

    name: str
    cells: tuple[Mapping[str, Any], ...]
    message: str
    traceback: str


class Failures:
    """The records of failed cells in a folder, which is made when there is one to write."""

    def __init__(
        self, folder: Path, identity: Identity, warnings: list[str], *, read_only: bool
    ) -> None:
        self.folder = folder
        self.read_only = read_only
        self.identity = identity
        self.warnings = warnings
        self._known: dict[str, dict[str, FailedCells]] = {}  # records never change

    def add(self, cells: Sequence[Mapping[str, Any]], message: str, traceback: str) -> str:
        """Write a record and return its name."""
        record = {
            **self.identity.to_dict(),
            "cells": canonical(list(cells)),
            "message": message,
            "traceback": traceback,
        }
        make_folders(self.folder)
        name = Numbers(self.folder).name([self.identity.key(cell) for cell in cells], SUFFIX)
        write_atomically(self.folder / name, json.dumps(record, indent=1).encode())
        return name

    def names(self) -> list[str]:
        """The names of the records, in order."""
        return names_in(self.folder, SUFFIX)

    def read(self, *, but: frozenset[str] = frozenset()) -> dict[str, FailedCells]:
        """The last record of each cell, by its address, without the records named in `but`."""
        found: dict[str, FailedCells] = {}
        for name in self.names():
            if name not in but:
                if name not in self._known:
                    self._known[name] = self._read(name)
                found |= self._known[name]
        return found

    def _read(self, name: str) -> dict[str, FailedCells]:
        try:
            record = parsed_json(read_regular(self.folder / name, most=_MOST_BYTES))
            if any(record[field] != value for field, value in self.identity.to_dict().items()):
                raise ValueError("it belongs to another store")
            cells = tuple(dict(cell) for cell in record["cells"])
            failed = FailedCells(name, cells, str(record["message"]), str(record["traceback"]))
            return {self.identity.key(cell): failed for cell in cells}
        except FileNotFoundError:
            return {}
        except OSError as error:
            # A disk that fails now says nothing about the record.
            raise StoreError(
                f"{self.folder / name} cannot be read: {error.strerror}; nothing was moved: make "
                "it readable, or take it away, then the same command goes on"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            path, reason = self.folder / name, f"{type(error).__name__}: {error}"
            sentence = pass_over(path, reason) if self.read_only else set_aside(path, reason)
            if sentence is not None:
                self.warnings.append(sentence)
            return {}
