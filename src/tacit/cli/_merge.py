"""`tacit merge`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit._errors import shown
from tacit._files import FileKindError, folder_within
from tacit.cli._text import many, plain
from tacit.reproduction import results_folder
from tacit.store import Store, StoreError, stores_in


def run(sources: Sequence[Path], *, into: Path | None, as_json: bool) -> int:
    """Add the parts of stores made elsewhere; nothing is added unless everything fits."""
    pairs = _pairs(sources, results_folder(into))
    records = [_merged(target, found) for target, found in pairs.items()]
    if as_json:
        print(json.dumps({"stores": records}, ensure_ascii=False))
        return 0
    for record in records:
        print(
            f"{record['experiment']}: {many(record['taken'], 'part')} taken with "
            f"{many(record['new_cells'], 'new cell')}, now {many(record['cells'], 'cell')} in "
            f"{record['path']}"
        )
        for warning in record["warnings"]:
            print(plain(f"  {warning}"))
        print(f"  claims and figure: tacit reproduce {record['experiment']}")
    return 0


def _pairs(sources: Sequence[Path], into: Path) -> dict[Path, list[Store]]:
    """For each store to merge into, the stores to read, all of the same identity."""
    if into.exists() and not into.is_dir():
        raise StoreError(f"into: {into} is a file, not a folder of results or a store")
    pairs: dict[Path, list[Store]] = {}
    for source in sources:
        paths = stores_in(source)
        if not paths:
            words = "holds no store" if source.is_dir() else "is not a folder"
            raise StoreError(f"{_path(source)} {words}: give a store, or a folder of results")
        for path in paths:
            theirs = Store.existing(path, read_only=True)
            alone = (into / "store.json").is_file()
            target = into if alone else _below(into, theirs.identity.experiment)
            pairs.setdefault(target, []).append(theirs)
    for target, found in pairs.items():
        there = (target / "store.json").is_file()
        wanted = Store.existing(target, read_only=True) if there else found[0]
        for theirs in found:
            theirs.check_fits(wanted)
            if target.exists() and theirs.path.samefile(target):
                raise StoreError(f"{theirs.path} is where --into leads: give another folder")
    return pairs


def _path(path: Path) -> str:
    return str(path) if len(str(path)) <= 300 else shown(str(path))


def _below(into: Path, experiment: str) -> Path:
    try:
        return folder_within(into, experiment, "store")
    except FileKindError as error:
        raise StoreError(f"into: {error}") from None


def _merged(target: Path, found: Sequence[Store]) -> dict[str, Any]:
    identity = found[0].identity
    store = Store(target, experiment=identity.experiment, version=identity.version)
    before = len(store)
    known = store.plan()
    plan = known or next((asked for theirs in found if (asked := theirs.plan()) is not None), None)
    taken = sum(store.merge(theirs, plan=plan) for theirs in found)
    if plan is not None and known is None:
        store.keep_plan(plan)
    if plan is not None and store.holds_some_of(plan):
        store.consolidate(plan)
    return {
        "experiment": identity.experiment,
        "path": str(target),
        "taken": taken,
        "new_cells": len(store) - before,
        "cells": len(store),
        "warnings": list(store.warnings),
    }
