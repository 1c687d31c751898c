"""The results of other presets: a run does not replace what another preset's run has said.

The files of the last run lie in the experiment's folder. If it was at another preset, they are kept
in `presets/NAME/` before new ones are written. The cells of all presets are in one store.
"""

import re
from pathlib import Path
from typing import Any

from tacit._files import FileKindError, folder_within, parsed_json, read_regular, write_atomically
from tacit.reproduction._listing import PAGE_FILE

FOLDER = "presets"
FILES = ("claims.json", "run.json", PAGE_FILE, "figure.png", "figure.svg")
_MOST_BYTES = 256 * 2**20


def keep_other(folder: Path, preset: str) -> Path | None:
    """Keep what the last run wrote, if it was at another preset; where to, else None."""
    try:
        record: Any = parsed_json(read_regular(folder / "claims.json", most=_MOST_BYTES))
        before = record["preset"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    if not isinstance(before, str) or before == preset or not re.fullmatch(r"\w[\w.-]*", before):
        return None
    try:
        kept = folder_within(folder, FOLDER, before)
        kept.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            if (folder / name).is_file():
                write_atomically(kept / name, read_regular(folder / name, most=_MOST_BYTES))
    except (FileKindError, OSError):
        return None
    return kept
