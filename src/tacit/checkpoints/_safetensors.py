"""Files of tensors, read by slices and written in one pass: never a whole file in memory."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from tacit._errors import UsageError
from tacit._files import FileKindError, refuse_link, remove_stale, replaced_when_complete
from tacit.checkpoints._header import (
    CheckpointError,
    Spec,
    header_bytes,
    header_length,
    parsed_header,
)

BLOCK = 1 << 20  # numbers that are read, computed or written at a time


class TensorFile:
    """A safetensors file that is open for reading; its header was checked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.fdopen(_opened(path), "rb", buffering=0)
        try:
            size = os.fstat(self._file.fileno()).st_size
            length = header_length(self._file.read(8), size, str(path))
            self._data = 8 + length
            header = self._file.read(length)
            self.specs, self.metadata = parsed_header(header, size - self._data, str(path))
        except BaseException:
            self._file.close()
            raise

    def numbers(self, name: str, start: int, stop: int) -> np.ndarray:
        """The numbers `start` … `stop` of a tensor in C order, as it is stored."""
        spec = self.specs[name]
        out = np.empty(stop - start, spec.dtype)
        view = out.view(np.uint8)
        self._file.seek(self._data + spec.begin + start * spec.dtype.itemsize)
        done = 0
        while done < view.size:
            got = self._file.readinto(view[done:].data)
            if not got:
                raise CheckpointError(f"{self.path} became shorter while it was read")
            done += got
        return out

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_tensors(
    path: Path,
    specs: Mapping[str, Spec],
    chunks: Callable[[str], Iterable[np.ndarray]],
    *,
    metadata: Mapping[str, str] | None = None,
) -> int:
    """Write a safetensors file under a temporary name, then give it its name; its bytes.

    `chunks(name)` gives a tensor's numbers in C order, piece by piece. A file of that name is there
    whole, as it was or as it is now: whatever fails or stops on the way leaves it as it was.
    """
    header = header_bytes(specs, metadata or {})
    remove_stale(path.parent)
    with replaced_when_complete(path) as file:
        file.write(header)
        for name, spec in specs.items():
            written = 0
            for piece in chunks(name):
                data = np.ascontiguousarray(piece, spec.dtype)
                file.write(data.reshape(-1).view(np.uint8).data)
                written += data.nbytes
            assert written == spec.bytes, f"{name}: {written} bytes of {spec.bytes}"
        size = file.tell()
    return size


def check_output(path: Path, *, inputs: Iterable[Path], force: bool, name: str = "output") -> None:
    """Refuse an output that is a folder, a link, one of the inputs, or there already."""
    try:
        refuse_link(path)
    except FileKindError as error:
        raise UsageError(f"{name}: {error}") from None
    if path.is_dir():
        raise UsageError(f"{name}: {path} is a folder, give a file")
    if not path.exists():
        if path.parent.exists() and not path.parent.is_dir():
            raise UsageError(f"{name}: {path.parent} is a file, give a file in a folder")
        return
    for other in inputs:
        if other.exists() and path.samefile(other):
            raise UsageError(f"{name}: {path} is one of the inputs, give another file")
    if not force:
        raise UsageError(f"{name}: {path} is there already; give another name, or --force")


def blocks(size: int, width: int = 1, *, most: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The ranges that cut 0 … size into pieces of about `most` / `width` each."""
    step = max(1, most // max(1, width))
    for start in range(0, size, step):
        yield start, min(size, start + step)


def _opened(path: Path) -> int:
    """The descriptor of a regular file; links that a user has put there are followed."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise CheckpointError(f"{path} is not there") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CheckpointError(f"{path} cannot be read: it is not a regular file")
    return handle
