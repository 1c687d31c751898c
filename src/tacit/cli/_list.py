"""`tacit list`."""

import json
from pathlib import Path
from typing import Any

from tacit.experiments import Experiment, last_result, list_experiments


def run(*, as_json: bool, results: Path | None) -> int:
    """Print the experiments, with what the last run of each said."""
    rows = [_row(experiment, results) for experiment in list_experiments()]
    if as_json:
        print(json.dumps({"experiments": rows}, ensure_ascii=False))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "figure", "what it compares", "last result"):
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(
            row["id"], f"{row['paper']}, {row['figure']}", row["summary"], _words(row["last"])
        )
    Console().print(table)
    return 0


def _row(experiment: Experiment, results: Path | None) -> dict[str, Any]:
    record = last_result(experiment.id, results)
    last = None
    if record is not None:
        verdicts = [claim.get("verdict") for claim in record.get("claims", [])]
        last = {
            "preset": record.get("preset"),
            "as_expected": record.get("as_expected"),
            **{word: verdicts.count(word) for word in ("holds", "fails", "undecided")},
        }
    return {
        "id": experiment.id,
        "paper": experiment.paper,
        "figure": experiment.figure,
        "summary": experiment.summary,
        "presets": list(experiment.presets),
        "last": last,
    }


def _words(last: dict[str, Any] | None) -> str:
    if last is None:
        return "not run yet"
    verdict = "as expected" if last["as_expected"] else "NOT as expected"
    counts = ", ".join(
        f"{last[word]} {word}" for word in ("holds", "fails", "undecided") if last[word]
    )
    return f"{last['preset']}: {verdict} ({counts})" if counts else f"{last['preset']}: {verdict}"
