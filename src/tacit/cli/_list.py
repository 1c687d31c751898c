"""`tacit list`."""

import json
from pathlib import Path
from typing import Any

from tacit.cli._text import marked
from tacit.reproduction import Entry, last_result, list_experiments

_VERDICTS = ("holds", "fails", "undecided", "at the bound")  # `tacit.claims` is heavy to import


def run(*, as_json: bool, results: Path | None) -> int:
    """Print the experiments, with what the last run of each said."""
    rows = [_row(experiment, results) for experiment in list_experiments()]
    if as_json:
        print(json.dumps({"experiments": rows}, ensure_ascii=False))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "figure", "what it compares", "quick / paper", "last result"):
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(
            *(marked(row[name]) for name in ("id", "figure", "summary")),
            marked(_cost(row["needs"])),
            marked(_words(row["last"])),
        )
    Console().print(table)
    return 0


def _row(experiment: Entry, results: Path | None) -> dict[str, Any]:
    record = last_result(experiment.id, results)
    last = None
    if record is not None:
        claims = record.get("claims")
        listed = claims if isinstance(claims, list) else []
        verdicts = [claim.get("verdict") for claim in listed if isinstance(claim, dict)]
        last = {
            "preset": record.get("preset"),
            "as_expected": record.get("as_expected"),
            **{word: verdicts.count(word) for word in _VERDICTS},
        }
    return {
        "id": experiment.id,
        "paper": experiment.group,
        "figure": experiment.figure,
        "summary": experiment.summary,
        "needs": {
            "quick_minutes": experiment.quick,
            "paper_minutes": experiment.paper,
            "paper_on_gpu": experiment.gpu,
            "data": experiment.data,
        },
        "last": last,
    }


def _cost(needs: dict[str, Any]) -> str:
    """Minutes of the two presets, and what they need: `0.6 / 0.8 min`, `0.1 / 1.4 min (GPU)`."""
    quick, paper = (
        "?" if needs[name] is None else f"{needs[name]:g}"
        for name in ("quick_minutes", "paper_minutes")
    )
    gpu = " (GPU)" if needs["paper_on_gpu"] else ""
    data = f", data {needs['data']}" if needs["data"] else ""
    return f"{quick} / {paper} min{gpu}{data}"


def _words(last: dict[str, Any] | None) -> str:
    if last is None:
        return "not run yet"
    words = {"True": "as expected", "False": "NOT as expected"}
    verdict = words.get(str(last["as_expected"]), "undecided")
    counts = ", ".join(f"{last[word]} {word}" for word in _VERDICTS if last[word])
    return f"{last['preset']}: {verdict} ({counts})" if counts else f"{last['preset']}: no claims"
