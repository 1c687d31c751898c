"""What experiments there are and what the last run of each said: light, for `tacit list`."""

import hashlib
import os
import warnings
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from tacit._errors import UsageError
from tacit._files import parsed_json, read_regular
from tacit.reproduction._catalogue import CATALOGUE, Entry

_MOST_BYTES = 64 * 2**20  # of a file of claims
ENTRY_POINTS = "tacit.experiments"
PAGE_FILE = "page.json"  # what the page of an experiment shows beside its claims

BUILT_IN = {entry.id: entry for entry in CATALOGUE}


def plugins() -> dict[str, EntryPoint]:
    """Entry points by id; a built-in id cannot be taken over."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    return {name: point for name, point in found.items() if name not in BUILT_IN}


def experiment_ids() -> list[str]:
    """Every known id, built-in ones first, without importing an experiment."""
    return [*BUILT_IN, *sorted(plugins())]


def list_experiments() -> list[Entry]:
    """What is known of every experiment; the built-in ones are not imported for it.

    A plug-in that cannot be loaded is left out with a warning.
    """
    found = list(BUILT_IN.values())
    names = sorted(plugins())
    if names:
        from tacit.reproduction._registry import find_experiment
    for name in names:
        try:
            kind = find_experiment(name)
        except UsageError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        else:
            at = f"{kind.__module__}:{kind.__qualname__}"
            found.append(Entry(name, at, kind.figure, kind.summary))
    return found


def expected_minutes(experiment_id: str, preset: str) -> float:
    """About how long an experiment takes at a preset; a minute if that was never timed."""
    entry = BUILT_IN.get(experiment_id)
    known = {"quick": entry.quick, "paper": entry.paper}.get(preset) if entry else None
    return 1.0 if known is None else known


def results_folder(results: str | os.PathLike[str] | None = None) -> Path:
    """The folder of all results: the one given, else `TACIT_RESULTS`, else `./results`.

    A leading `~` is the home folder.
    """
    folder = results if results is not None else os.environ.get("TACIT_RESULTS") or "results"
    return Path(os.path.expanduser(folder))


def last_result(
    experiment_id: str, results: str | os.PathLike[str] | None = None
) -> dict[str, Any] | None:
    """What the last run of an experiment wrote to `claims.json`, None when there is none."""
    path = results_folder(results) / experiment_id / "claims.json"
    try:
        record = parsed_json(read_regular(path, most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def digest_of_text(text: bytes) -> str:
    """A few digits that stand for a text: `page.json` names its `claims.json` by them."""
    return hashlib.blake2b(text, digest_size=8).hexdigest()
