"""Files of tensors, read by slices and written in one pass: never a whole file in memory."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Self

import numpy as np

from tacit._files import replaced_when_complete
from tacit._tensors._header import Refusal, Spec, header_bytes, header_length, parsed_header

BLOCK = 1 << 20  # numbers that are read, computed or written at a time


class TensorFile:
    """A safetensors file that is open for reading; its header was checked. Also a context.

    **Arguments:**

    - `file`: opened for reading bytes; it is closed with this, also where this refuses it.
    - `refuse`: makes the error from a reason such as "it is cut off".
    - `most`: how many bytes it may have.
    """

    def __init__(self, file: IO[bytes], refuse: Refusal, *, most: int | None = None) -> None:
        self._file, self.refuse = file, refuse
        try:
            self._size = file.seek(0, os.SEEK_END)
            if most is not None and self._size > most:
                raise refuse(f"it has {self._size:,} bytes, at most {most:,} are allowed")
            file.seek(0)
            length = header_length(file.read(8), self._size, refuse)
            self._data = 8 + length
            self.specs, self.metadata = parsed_header(
                file.read(length), self._size - self._data, refuse
            )
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def numbers(self, name: str, start: int, stop: int) -> np.ndarray:
        """The numbers `start` … `stop` of a tensor in C order, as it is stored."""
        spec = self.specs[name]
        out = np.empty(stop - start, spec.dtype)
        view = out.view(np.uint8)
        self._file.seek(self._data + spec.begin + start * spec.dtype.itemsize)
        done = 0
        while done < view.size:
            got = self._file.readinto(view[done:].data)  # type: ignore[attr-defined]
            if not got:
                raise self.refuse("it became shorter while it was read")
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


def blocks(size: int, width: int = 1, *, most: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The ranges that cut 0 … size into pieces of about `most` / `width` each."""
    step = max(1, most // max(1, width))
    for start in range(0, size, step):
        yield start, min(size, start + step)
