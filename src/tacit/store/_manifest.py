"""`store.json`, which makes a folder a store: reading it, and finding the folders that have one."""

import os
from pathlib import Path
from typing import Any

from tacit._doors import door, path
from tacit._files import parsed_json, read_regular
from tacit.store._errors import StoreError

MANIFEST = "store.json"
_MOST_MANIFEST_BYTES = 2**16


@door(folder=path)
def stores_in(folder: str | os.PathLike[str]) -> list[Path]:
    """The stores at or below a folder, without those that `--fresh` has moved aside."""
    path = Path(os.path.expanduser(folder))
    if (path / MANIFEST).is_file():
        return [path]
    found = []
    for place, folders, names in os.walk(path):
        if MANIFEST in names:
            found.append(Path(place))
            folders.clear()  # there are no stores within stores
        folders[:] = sorted(name for name in folders if ".old-" not in name)
    return found


def read_manifest(manifest: Path) -> dict[str, Any]:
    """What `store.json` says; a `StoreError` if it cannot be read."""
    try:
        theirs = parsed_json(read_regular(manifest, most=_MOST_MANIFEST_BYTES))
        reason = "it is no JSON object"
    except (ValueError, OSError, RecursionError) as error:
        theirs, reason = None, str(error)
    if not isinstance(theirs, dict):
        raise StoreError(f"{manifest} is not readable ({reason}): start a new store with --fresh")
    return theirs
