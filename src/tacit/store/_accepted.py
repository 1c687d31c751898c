"""`accepted.json`: codes whose cells the user takes for those of another."""

import json
from collections.abc import Iterable
from pathlib import Path

from tacit._files import parsed_json, read_regular, write_atomically

ACCEPTED = "accepted.json"
_MOST_BYTES = 2**20


def read(path: Path) -> dict[str, frozenset[str]]:
    """For each code the others that stand beside it; nothing if the file cannot be read."""
    try:
        found = parsed_json(read_regular(path, most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    lists = found.items() if isinstance(found, dict) else ()
    return {
        code: frozenset(other for other in others if isinstance(other, str))
        for code, others in lists
        if isinstance(others, list)
    }


def add(path: Path, code: str, others: Iterable[str]) -> None:
    """Let others stand beside a code, beside those that do already."""
    known = read(path)
    known[code] = known.get(code, frozenset()) | set(others)
    record = {name: sorted(accepted) for name, accepted in known.items()}
    write_atomically(path, json.dumps(record, indent=1).encode())
