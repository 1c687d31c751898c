"""`tacit check`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.cli._text import many, plain
from tacit.reproduction import results_folder
from tacit.store import Store, StoreError, findings, stores_in

NOT_WHOLE = 1


def run(targets: Sequence[Path], *, repair: bool, results: Path | None, as_json: bool) -> int:
    """Say of each store what is not whole in it, and mend it if that is asked for."""
    paths = []
    for target in targets or [results_folder(results)]:
        found = stores_in(target)
        if not found:
            raise StoreError(f"{target} holds no store: give a store, or a folder of results")
        paths += found
    records = [_record(path, repair=repair) for path in paths]
    if as_json:
        print(json.dumps({"stores": records}, ensure_ascii=False))
    else:
        for record in records:
            _tell(record, repair=repair)
    return NOT_WHOLE if any(_is_bad(record) for record in records) else 0


def _is_bad(record: dict[str, Any]) -> bool:
    return bool(record["error"] or (record["findings"] and not record["repaired"]))


def _record(path: Path, *, repair: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "path": str(path),
        "experiment": None,
        "cells": 0,
        "parts": 0,
        "findings": [],
        "repaired": False,
        "error": None,
    }
    try:
        store = Store.existing(path, read_only=True)
        found = list(findings(store))
        left = {one.what for one in found}
        if repair and found:
            _repair(path)
            left = {one.what for one in findings(Store.existing(path, read_only=True))}
            record["repaired"] = not left
    except (StoreError, OSError) as error:
        return record | {"error": str(error)}
    return record | {
        "experiment": store.identity.experiment,
        "cells": len(store),
        "parts": len(store.parts()),
        "findings": [
            {"what": one.what, "repair": one.repair, "mended": one.what not in left}
            for one in found
        ],
    }


def _repair(path: Path) -> None:
    store = Store.existing(path)
    with store.at_work():
        plan = store.plan()
        if plan is not None:
            store.fit(plan)
            if store.holds_some_of(plan):
                store.consolidate(plan)
        store.failures()


def _tell(record: dict[str, Any], *, repair: bool) -> None:
    print(plain(" · ".join(word for word in (record["experiment"], record["path"]) if word)))
    if record["error"]:
        print(plain(f"  cannot be used: {record['error']}"))
        return
    count = len(record["findings"])
    verb = "is" if count == 1 else "are"
    wrong = f"{many(count, 'thing')} {verb} not as {'it' if count == 1 else 'they'} should be"
    where = f"{many(record['cells'], 'cell')} in {many(record['parts'], 'part')}"
    print(f"  {where}: {wrong if count else 'all of it is whole'}")
    for one in record["findings"]:
        done = "mended" if one["mended"] else "left" if repair else "--repair would"
        print(plain(f"  {one['what']} ({done}: {one['repair']})"))
