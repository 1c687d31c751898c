"""`tacit list`: one line for each experiment, as wide as the terminal, whole when piped."""

import json
import sys
from pathlib import Path
from typing import Any

from tacit._errors import UsageError, nearest
from tacit.cli._text import plain
from tacit.reproduction import Entry, last_result, list_experiments

_VERDICTS = ("holds", "fails", "undecided", "at the bound")  # `tacit.claims` is heavy to import
_MARKS = {"True": "✓", "False": "✗"}


def run(wanted: str | None, *, as_json: bool, results: Path | None) -> int:
    """Print the experiments, with what the last run of each said."""
    chosen = _chosen(list_experiments(), wanted)
    rows = [_row(experiment, results) for experiment in chosen]
    if as_json:
        print(json.dumps({"experiments": rows}, ensure_ascii=False))
        return 0
    shown = sys.stdout.isatty()
    minutes = "minutes" if shown else "quick/paper"
    lines = [("id", minutes, "needs", "last run", "what it compares")]
    if shown and not any(row["last"] for row in rows):
        lines = [("id", minutes, "needs", "", "what it compares")]
    lines += [_cells(row, short=shown) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    room = _terminal_width() if shown else None
    for line in lines:
        columns = zip(line, widths, strict=False)
        text = "  ".join(word.ljust(width) for word, width in columns if width)
        text = plain(f"{text}  {line[-1]}").rstrip()
        print(text if room is None or len(text) <= room else f"{text[: room - 1]}…")
    if shown:
        words = "minutes at quick/paper on two cores, or on a GPU; tacit show ID tells more"
        print(words if room is None or len(words) <= room else words.partition(";")[0])
    return 0


def _chosen(known: list[Entry], wanted: str | None) -> list[Entry]:
    """All of them, those of a paper, or those in which a word occurs."""
    if wanted is None:
        return known
    word = wanted.casefold()
    found = [entry for entry in known if entry.group == word]
    found = found or [
        entry
        for entry in known
        if word in f"{entry.id} {entry.figure} {entry.summary} {entry.data or ''}".casefold()
    ]
    if not found:
        hint = nearest(wanted, {entry.group for entry in known})
        raise UsageError(f"list: no experiment has {wanted!r} in its line, {hint}")
    return found


def _terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size().columns


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


def _cells(row: dict[str, Any], *, short: bool) -> tuple[str, str, str, str, str]:
    needs = row["needs"]
    minutes = "/".join(
        "?" if needs[name] is None else f"{needs[name]:g}"
        for name in ("quick_minutes", "paper_minutes")
    )
    data = str(needs["data"] or "")
    if short:  # the first of several, without the number of its kind: CIFAR
        data = data.partition(",")[0].partition("-")[0]
    wants = " ".join(filter(None, ("GPU" if needs["paper_on_gpu"] else "", data)))
    last = _in_short(row["last"]) if short else _words(row["last"])
    summary = row["summary"] if short else f"{row['figure']}: {row['summary']}"
    return row["id"], minutes if short else f"{minutes} min", wants, last, summary


def _in_short(last: dict[str, Any] | None) -> str:
    """`✓ quick`; an experiment that was never run has nothing."""
    return "" if last is None else f"{_MARKS.get(str(last['as_expected']), '?')} {last['preset']}"


def _words(last: dict[str, Any] | None) -> str:
    if last is None:
        return "not run yet"
    words = {"True": "as expected", "False": "NOT as expected"}
    verdict = words.get(str(last["as_expected"]), "undecided")
    counts = ", ".join(f"{last[word]} {word}" for word in _VERDICTS if last[word])
    return f"{last['preset']}: {verdict} ({counts})" if counts else f"{last['preset']}: no claims"
