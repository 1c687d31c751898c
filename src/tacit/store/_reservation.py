"""Who is at work: advisory locks, which the system drops when their process ends, however it ends.

They keep two processes from computing one batch twice. Nothing else rests on them: where the file
system has no locks everybody may go ahead, and parts stay whole.
"""

import contextlib
import os
from pathlib import Path

from tacit._files import HELD_ELSEWHERE, FileKindError, WriteError, open_regular, read_regular
from tacit.store._errors import StoreError

try:
    import fcntl
except ImportError:  # a system without them
    fcntl = None  # type: ignore[assignment]

_held: set[int] = set()  # the open files of this process's locks


class Lock:
    """A lock on a file that is held until `release`; also a context manager."""

    def __init__(self, handle: int | None, *, remove: Path | None = None) -> None:
        self._handle = handle
        self._remove = remove
        if handle is not None:
            _held.add(handle)

    def release(self) -> None:
        """Let others have it; the second time nothing happens."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if self._remove is not None:
            # While it is held: whoever opened the old file meanwhile finds that it has no name.
            with contextlib.suppress(OSError):
                self._remove.unlink()
        _held.discard(handle)
        os.close(handle)

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _close_in_child() -> None:
    """A forked child shares the open files: it would hold the locks after its parent is killed."""
    for handle in _held:
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


def lock(path: Path, *, shared: bool = False, passing: bool = False) -> Lock | None:
    """A lock on `path`, None when another holds it: it never waits.

    **Arguments:**

    - `path`: the file; it must be there, unless the lock is a passing one.
    - `shared`: hold it together with others that share it, against those that want it alone.
    - `passing`: the file is there for the lock only: it is made now, holds the number of the
      process, and is removed at the release.
    """
    if fcntl is None:
        return Lock(None)
    while True:
        try:
            handle = _made(path) if passing else _opened(path, shared=shared)
        except FileKindError as error:
            raise StoreError(f"{path} is not a lock of tacit's, {error}: remove it") from None
        except OSError as error:
            raise WriteError(path, error) from error
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            return None if error.errno in HELD_ELSEWHERE else Lock(None)
        if _still_named(handle, path):
            if passing:
                _write_number(handle)
            return Lock(handle, remove=path if passing else None)
        os.close(handle)  # its holder let go, and removed it, between our opening and our lock


def _made(path: Path) -> int:
    """A lock file of this name, made now or there before: a file of its own, under no other name.

    What is written into it goes nowhere else, whatever somebody has put in its place.
    """
    while True:
        with contextlib.suppress(FileExistsError):
            return open_regular(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        with contextlib.suppress(FileNotFoundError):  # removed by its holder meanwhile
            handle = open_regular(path, os.O_RDWR)
            if os.fstat(handle).st_nlink <= 1:
                return handle
            os.close(handle)
            raise FileKindError("it has another name elsewhere")


def _opened(path: Path, *, shared: bool) -> int:
    """A file that is there; to hold it alone NFS wants it open for writing, where that may be."""
    if not shared:
        with contextlib.suppress(OSError):  # a file or a disk that may only be read
            return open_regular(path, os.O_RDWR)
    return open_regular(path)


def is_held(path: Path) -> bool:
    """Whether a process holds a lock on `path`; nothing is made, written or removed."""
    try:
        handle = open_regular(path)
    except (FileKindError, OSError):
        return False
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in HELD_ELSEWHERE
    finally:
        os.close(handle)
    return False


def _write_number(handle: int) -> None:
    with contextlib.suppress(OSError):  # for people who look; a full disk is no obstacle
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())


def _still_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def holder(path: Path) -> str:
    """The number of the process that holds a passing lock, "?" if it cannot be read."""
    try:
        number = read_regular(path, most=100).decode("ascii").strip()
    except (OSError, ValueError):
        return "?"
    return number if number.isdecimal() else "?"
