"""`tacit report`: pages that show a folder of results."""

import json
import sys
import webbrowser
from pathlib import Path

from tacit._errors import UsageError
from tacit._files import FileKindError
from tacit.cli._text import plain
from tacit.reproduction import results_folder
from tacit.site import write_report


def run(
    *, results: Path | None, into: Path | None, against: Path | None, show: bool, as_json: bool
) -> int:
    """Write the pages, say where, and open them if that is asked for."""
    folder = results_folder(results)
    if not folder.is_dir():
        raise UsageError(
            f"results: {str(folder)!r} is no folder; run an experiment first, or give --results"
        )
    if against is not None and not against.expanduser().is_dir():
        raise UsageError(f"--against: {str(against)!r} is no folder, give a folder of results")
    skipped: list[str] = []

    def on_skip(path: Path, reason: str) -> None:
        skipped.append(str(path))
        print(f"tacit: skipped {plain(str(path))}: {plain(reason)}", file=sys.stderr)

    try:
        page = write_report(
            folder,
            into=None if into is None else into.expanduser(),
            against=None if against is None else against.expanduser(),
            on_skip=on_skip,
        )
    except (FileKindError, FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(f"report: it cannot be written: {error}") from None
    if as_json:
        print(json.dumps({"page": str(page), "skipped": skipped}, ensure_ascii=False))
    else:
        print(page)
    if show:
        webbrowser.open(page.resolve().as_uri())
    return 0
