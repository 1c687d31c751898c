"""What the store refuses, and what it could not do."""

import errno
import os
from pathlib import Path

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class StoreError(ValueError):
    """A store that cannot be used as asked: the message says what differs and the remedy."""


class PartError(ValueError):
    """A file among the parts that is not a whole part of this store."""


class WriteError(OSError):
    """A file that could not be written: the disk is full, or the folder is not ours to write."""

    def __init__(self, path: str | os.PathLike[str], cause: OSError) -> None:
        remedy = "free some space" if cause.errno in _NO_SPACE else "make the folder writable"
        super().__init__(
            cause.errno,
            f"{Path(path)} could not be written: {cause.strerror or cause}; what was stored before "
            f"is whole: {remedy}, then the same command goes on from there",
        )

    def __str__(self) -> str:
        return str(self.strerror)
