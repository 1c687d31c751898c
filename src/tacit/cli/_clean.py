"""`tacit clean`."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from tacit._files import WriteError
from tacit.cli._text import many, plain
from tacit.reproduction import results_folder
from tacit.store import StoreError, leftovers


def run(targets: Sequence[Path], *, remove: bool, results: Path | None, as_json: bool) -> int:
    """List old stores and what was set aside, and remove them if that is asked for."""
    folders = targets or [results_folder(results)]
    for folder in folders:
        if not folder.is_dir():
            raise StoreError(f"{folder} is no folder: give a store, or a folder of results")
    found = [one for folder in folders for one in leftovers(folder)]
    if remove:
        for one in found:
            try:
                shutil.rmtree(one.path)
            except OSError as error:
                raise WriteError(one.path, error) from error
    if as_json:
        records = [
            {"path": str(one.path), "kind": one.kind, "files": one.files, "bytes": one.bytes}
            for one in found
        ]
        print(json.dumps({"leftovers": records, "removed": remove}, ensure_ascii=False))
        return 0
    for one in found:
        print(plain(f"{one.path}: {one.kind}, {many(one.files, 'file')}, {one.bytes / 1e6:.1f} MB"))
    total = sum(one.bytes for one in found) / 1e6
    them = "it" if len(found) == 1 else "them"
    done = "removed" if remove else f"--yes removes {them}" if found else "nothing is left over"
    print(f"{many(len(found), 'folder')}, {total:.1f} MB: {done}")
    return 0
