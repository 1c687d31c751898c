"""Files that are there whole or not at all."""

import contextlib
import os
import uuid
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a crash, where the system can open folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_atomically(path: Path, data: bytes) -> None:
    """Write under a temporary name in the same folder, fsync, rename, fsync the folder.

    A reader sees the old file or the new one, never a part of one. The temporary name is unique,
    begins with a dot and ends with `.tmp`; after a crash it may stay behind and is ignored.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        # It is ours and it is not whole (a full disk, Ctrl-C): nothing of worth is lost.
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
