"""The claims that runs have written to a folder of results."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit._files import read_regular

_MOST_BYTES = 64 * 2**20  # of a file of claims


def _warn(path: Path, reason: str) -> None:
    warnings.warn(f"skipped {path}: {reason}", stacklevel=3)


def read_entries(
    results_dir: Path, *, on_skip: Callable[[Path, str], None] = _warn
) -> list[dict[str, Any]]:
    """The contents of every `results_dir/<paper>/<figure>/claims.json`, sorted by experiment.

    With them go the seconds that the run took and what undecided claims would take, if there is a
    `run.json` beside the claims. A file
    of claims that cannot be read does not hide the others: `on_skip` is told its path and the
    reason (by default in a warning), and it is left out.
    """
    entries = []
    for path in sorted(results_dir.glob("*/*/claims.json")):
        try:
            entry = _checked(json.loads(read_regular(path, most=_MOST_BYTES)))
        except (OSError, ValueError, RecursionError) as error:
            on_skip(path, str(error))
        else:
            entries.append({**entry, **_timed(path.with_name("run.json"))})
    return sorted(entries, key=lambda entry: str(entry["experiment"]))


def _timed(path: Path) -> dict[str, Any]:
    """How long the run took and what undecided claims would take, where that is known."""
    try:
        record = json.loads(read_regular(path, most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    known = record if isinstance(record, dict) else {}
    return {name: known[name] for name in ("seconds", "efforts") if name in known}


def _checked(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ValueError(f"received {type(entry).__name__}, a JSON object was expected")
    if not isinstance(entry.get("experiment"), str):
        raise ValueError(f"experiment: received {entry.get('experiment')!r}, it must be a text")
    claims = entry.get("claims")
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise ValueError("claims: they must be a list of objects")
    return entry
