"""Files and folders that are either complete or not there."""

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # a system without advisory locks
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = ".tmp"
_ADDED = 17  # characters of a temporary name behind that of the file
_OURS = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)  # as `temporary_name` makes them
# Long after any write has ended, also where the clocks of two machines on one disk differ.
_STALE_SECONDS = 24 * 3600.0
# What a reader of JSON makes of a few bytes each: 64 MB of brackets would take gigabytes.
_MOST_LISTS = 400_000  # and mappings
_MOST_ENTRIES = 4_000_000
_MOST_DIGITS = 100  # of a whole number: Python reads more, and no float holds them
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
HELD_ELSEWHERE = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


class WriteError(OSError):
    """A file that could not be written: the disk is full, or the folder is read-only."""

    def __init__(self, path: str | os.PathLike[str], cause: OSError) -> None:
        remedy = "free some space" if cause.errno in NO_SPACE else "make the folder writable"
        super().__init__(
            cause.errno,
            f"{Path(path)} could not be written: {cause.strerror or cause}; what was stored before "
            f"is whole: {remedy}, then the same command goes on from there",
        )

    def __str__(self) -> str:
        return str(self.strerror)


class FileKindError(ValueError):
    """What stands under a file's name is no regular file, or too large to be one of ours."""


# Neither through a link nor waiting for the other end of a pipe; systems without links lack both.
_PLAINLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """The descriptor of a regular file, never of what a link leads to: else a `FileKindError`."""
    try:
        handle = os.open(path, flags | _PLAINLY | getattr(os, "O_BINARY", 0), mode)
    except IsADirectoryError:
        raise FileKindError("it is a folder") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) or path.is_symlink():
            raise FileKindError("it is a link") from None
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise FileKindError("it is not a regular file") from None
        raise
    kind = os.fstat(handle).st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        words = "a folder" if stat.S_ISDIR(kind) else "not a regular file"
        raise FileKindError(f"it is {words}")
    return handle


def read_regular(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file of at most `most` of them; else a `FileKindError`."""
    with os.fdopen(open_regular(path), "rb") as file:
        # No more than is there: Python sets aside what it is asked to read, were it gigabytes.
        data = file.read(min(os.fstat(file.fileno()).st_size, most) + 1)
    if len(data) > most:
        raise FileKindError(f"it has more than {most:,} bytes")
    return data


def parsed_json(data: bytes, *, unique: bool = False) -> Any:
    """What a JSON text says; a `ValueError` if it is none, or would take much memory.

    `unique` refuses an object in which a name comes up twice.
    """
    if data.count(b"[") + data.count(b"{") > _MOST_LISTS or data.count(b",") > _MOST_ENTRIES:
        raise ValueError("it has too many lists or entries")
    try:
        return json.loads(data, object_pairs_hook=_unique if unique else None, parse_int=_bounded)
    except RecursionError:
        raise ValueError("its lists are too deep") from None


def _bounded(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it has a whole number of {len(digits):,} digits")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name comes up twice in it")
    return made


def refuse_link(path: Path) -> None:
    """A `FileKindError` if there is a link under this name, wherever it leads."""
    if path.is_symlink():
        raise FileKindError(
            f"{path} is a link, and tacit writes through none: put the folder itself there"
        )


def folder_within(root: Path, *names: str) -> Path:
    """The path `root/name/…`, none of whose names below the root is a link: a `FileKindError`.

    The root is the user's own choice and may be reached as they like; what lies in it may have
    come from elsewhere.
    """
    path = root
    for name in names:
        for step in Path(name).parts:
            path = path / step
            refuse_link(path)
    return path


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a crash, where the system can open folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are lacking, so that a power cut leaves them there."""
    made = [place for place in (path, *path.parents) if not os.path.lexists(place)]
    path.mkdir(parents=True, exist_ok=True)
    for place in made:
        sync_folder(place.parent)


def temporary_name(path: Path) -> Path:
    """An unused name beside `path`: it begins with a dot, ends with `.tmp` and is never read."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{_TEMPORARY}")


def is_temporary(name: str) -> bool:
    """Whether it is a name that `temporary_name` has made."""
    return _OURS.fullmatch(name) is not None


def write_atomically(path: Path, data: bytes) -> None:
    """Write under a temporary name in the same folder, fsync, rename, fsync the folder.

    A reader sees the old file or the new one, never a part of one. After a crash the temporary
    file may stay behind; `remove_stale` takes it away later. A full disk is a `WriteError`.
    """
    if not isinstance(path, Path) or not isinstance(data, bytes):
        kinds = type(path).__name__, type(data).__name__
        raise ValueError(f"path, data: received {kinds[0]} and {kinds[1]}, give a Path and bytes")
    with replaced_when_complete(path) as file:
        file.write(data)


@contextlib.contextmanager
def replaced_when_complete(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to under a temporary name, which becomes `path` when the block has ended.

    Whatever fails or stops on the way leaves `path` as it was.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("xb") as file:
            _hold(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        # It is ours and incomplete (a full disk, Ctrl-C): nothing is lost.
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WriteError(path, error) from error
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """An empty folder under a temporary name beside `path`, for `put_folder`; nobody sweeps it."""
    temporary = temporary_name(path)
    temporary.mkdir()
    try:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # a system that opens no folders
                handle = os.open(temporary, os.O_RDONLY)
                stack.callback(os.close, handle)
                _hold(handle)
            yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _hold(handle: int) -> None:
    """Show that a process is writing this; the system forgets it when the process ends."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a disk without locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_held(path: str) -> bool:
    if fcntl is None:
        return False
    handle = os.open(path, os.O_RDONLY | _PLAINLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in HELD_ELSEWHERE
    finally:
        os.close(handle)
    return False


def put_folder(temporary: Path, path: Path) -> None:
    """Give a finished folder its name; an old one of that name is removed afterwards.

    Only for what can be made again. A folder cannot be renamed over another: a crash between the
    two renames leaves none of that name.
    """
    for folder, _, names in os.walk(temporary):
        for name in names:
            _sync_file(Path(folder) / name)
        sync_folder(Path(folder))
    replaced = temporary_name(path)
    while True:
        with contextlib.suppress(FileNotFoundError):
            path.rename(replaced)  # also a file or a link: the name itself, not where it leads
        try:
            temporary.rename(path)
            break
        except OSError:
            if not os.path.lexists(path):
                raise
            # Another process was faster: its folder is replaced by ours.
            _remove(replaced)
    sync_folder(path.parent)
    _remove(replaced)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def remove_stale(folder: Path, *, of: str = "") -> None:
    """Remove the temporary files of killed writers from a folder that is tacit's own.

    They are a day old by this machine's clock, and no process of this machine holds them.

    **Arguments:**

    - `of`: the file that they were to become, in a folder that is the user's; else any.
    """
    limit = time.time() - _STALE_SECONDS
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if not is_temporary(entry.name) or of not in ("", entry.name[1:-_ADDED]):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime > limit or _is_held(entry.path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
