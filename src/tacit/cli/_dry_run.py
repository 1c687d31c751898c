"""`tacit reproduce --dry-run`: what would be computed."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.cli._console import open_console, tell
from tacit.cli._text import many
from tacit.experiments import Experiment
from tacit.reproduction import expected_minutes, parse_settings, planned, results_folder
from tacit.store import Store, StoreError

if TYPE_CHECKING:
    from tacit.cli._reproduce import Request


def tell_plan(chosen: Sequence[type[Experiment]], request: "Request", *, as_json: bool) -> int:
    """Say of each experiment how many cells it has, how many are stored, and what it lacks."""
    rows = [_row(kind, request) for kind in chosen]
    if as_json:
        print(json.dumps({"dry_run": rows}, ensure_ascii=False))
        return 0
    console = open_console(stderr=False)
    for row in rows:
        if row["skipped"]:
            tell(console, f"{row['experiment']}: skipped: {row['skipped']}", indent=0)
            continue
        words = (
            f"{many(row['cells'], 'cell')} in {many(row['batches'], 'batch')}, "
            f"{row['stored']:,} stored"
        )
        minutes = f"; about {row['minutes']:g} min for all" if row["minutes"] else ""
        tell(console, f"{row['experiment']} at {row['preset']}: {words}{minutes}", indent=0)
    total = sum(row["minutes"] or 0.0 for row in rows if not row["skipped"])
    if len(rows) > 1:
        print(f"{len(rows)} experiments, about {total:.3g} min one after another")
    print("nothing was computed (--dry-run)")
    return 0


def _row(kind: type[Experiment], request: "Request") -> dict[str, Any]:
    values = parse_settings(kind, request.settings)
    experiment = kind.from_preset(request.preset, seeds=request.seeds, **values)
    skipped = request.missing(kind)
    row: dict[str, Any] = {"experiment": kind.id, "preset": request.preset, "skipped": skipped}
    if skipped:
        return row
    plan = planned(experiment, request.preset)
    folder = results_folder(request.results) / kind.id / "store"
    stored = 0
    if not request.fresh and (folder / "store.json").is_file():
        try:
            store = Store(folder, experiment=kind.id, version=kind.version, read_only=True)
            stored = store.status(plan).done
        except StoreError as error:
            row["skipped"] = str(error)
            return row
    usual = not values and request.seeds is None
    return row | {
        "cells": len(plan),
        "batches": experiment.grid().batch_count(),
        "stored": stored,
        "minutes": expected_minutes(kind.id, request.preset) if usual else None,
    }
