"""The names of a store's immutable files, and how bad ones are set aside."""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from tacit._files import FileKindError, refuse_link

ASIDE = "aside"


def digest_of(keys: Sequence[str]) -> str:
    """A short digest of cells' addresses, for names of files."""
    return hashlib.blake2b("".join(keys).encode(), digest_size=8).hexdigest()


class Numbers:
    """The numbers that a folder's files begin with, read again only when others have written there.

    A folder of 50,000 parts takes longer to list than a part to write. Its time of change tells
    whether a file has appeared since the last look.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed: int | None = None
        self._highest = 0

    def name(self, keys: Sequence[str], suffix: str) -> str:
        """`000042-<digest of the cells><suffix>`, one number above the highest in the folder.

        Two writers may choose one number; one name then means the same cells, so that the rename
        replaces a file by its equal.
        """
        if self._changed != os.stat(self._folder).st_mtime_ns:
            numbers = [name.partition("-")[0] for name in os.listdir(self._folder)]
            taken = [int(number) for number in numbers if number.isdecimal()]
            self._highest = max(taken, default=0)
        return f"{self._highest + 1:06d}-{digest_of(keys)}{suffix}"

    def written(self) -> None:
        """The file of the last name is in the folder."""
        self._highest += 1
        with contextlib.suppress(OSError):  # the folder is gone: the next name will tell
            self._changed = os.stat(self._folder).st_mtime_ns


def names_in(folder: Path, *suffixes: str, hidden: bool = False) -> list[str]:
    """The names with one of these suffixes in order, without hidden ones unless asked for them."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    shown = (name for name in names if hidden or not name.startswith("."))
    return sorted(name for name in shown if name.endswith(suffixes))


def set_aside(path: Path, reason: str) -> str | None:
    """Move a bad file into the folder `aside` beside it, deleting nothing; what to tell the user.

    None when another process has done it already.
    """
    aside = path.parent / ASIDE
    try:
        refuse_link(aside)
        aside.mkdir(exist_ok=True)
        target = _unused(aside / path.name)
        path.rename(target)
    except FileNotFoundError:
        return None
    except OSError as error:  # a store that may only be read
        return pass_over(path, reason, f": {error.strerror}")
    except FileKindError as error:
        return pass_over(path, reason, f": {error}")
    return f"{path.name} is not whole ({reason}): set aside as {target}"


def pass_over(path: Path, reason: str, why: str = "") -> str:
    """What to tell of a bad file that stays where it is."""
    return f"{path.name} is not whole ({reason}) and is passed over{why}"


def _unused(path: Path) -> Path:
    number, target = 1, path
    while os.path.lexists(target):
        target, number = path.with_name(f"{path.name}.{number}"), number + 1
    return target
