"""The members of a part's file: what each array is and where it lies, before any of it is read.

A part is an uncompressed zip archive of `.npy` members, as NumPy reads it. Here its directory and
the headers of its arrays are held against each other and against the size of the file, so that
nothing that they say can make a reader allocate, wait or compute more than the file has bytes.
"""

import hashlib
import io
import math
import os
import struct
import warnings
import zipfile
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from tacit._files import FileKindError, open_regular
from tacit.store._errors import PartError
from tacit.store._variable import STORABLE

DIGEST_BYTES = 32  # the archive's comment is twice as long: the digest in hexadecimal digits
MOST_BYTES = 8 * 2**30  # of a part
_MOST_MEMBERS = 1000
_MOST_DIRECTORY = 2**20
_MOST_HEADER = 10_000
_MOST_LENGTH = 2**48  # of an axis
_MOST_AXES = 32
_PIECE = 2**20
_END = struct.Struct("<4s4H2LH")  # the record that ends an archive
_END64 = struct.Struct("<4sQ2H2L4Q")  # the one before it, in archives beyond 4 GB
_LOCATOR = struct.Struct("<4sLQL")
_LOCAL = struct.Struct("<4s5H3L2H")  # what stands before each member
_FAULTS = (
    zipfile.BadZipFile,
    ArithmeticError,
    EOFError,
    IndexError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)


class Member(NamedTuple):
    """An array in the file: its numbers are the `size` bytes from `start` on."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    start: int
    size: int


class Archive:
    """An open part; also a context manager.

    Opening it checks the directory and the headers of the arrays: a `PartError` says what is wrong.
    `check_digest` reads all of it.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: IO[bytes] = os.fdopen(open_regular(path), "rb")
        except FileKindError as error:
            raise PartError(str(error)) from None
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            if self._size > MOST_BYTES:
                raise PartError(f"it has {self._size:,} bytes, more than a part may have")
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def check_digest(self) -> str:
        """The digest; a `PartError` unless the comment is that of all that stands before it."""
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        left = self._size - 2 * DIGEST_BYTES
        self._file.seek(0)
        while left > 0:
            piece = self._file.read(min(_PIECE, left))
            if not piece:
                break
            digest.update(piece)
            left -= len(piece)
        if left or self._file.read() != digest.hexdigest().encode():
            raise PartError("it is damaged, or not one of tacit's: its digest does not match")
        return digest.hexdigest()

    def members(self) -> dict[str, Member]:
        """The arrays by name."""
        try:
            infos = self._directory()
            return {info.filename.removesuffix(".npy"): self._member(info) for info in infos}
        except _FAULTS as error:
            if isinstance(error, PartError):
                raise
            raise PartError(f"its archive is not readable: {error}") from None

    def _directory(self) -> list[zipfile.ZipInfo]:
        """The entries of the directory, after checking how large it is."""
        end = self._size - 2 * DIGEST_BYTES - _END.size
        if end < 0:
            raise PartError("its archive has no end")
        signature, *disks, _, _, size, _, comment = _END.unpack(self._at(end, _END.size))
        if signature != b"PK\x05\x06" or disks != [0, 0] or comment != 2 * DIGEST_BYTES:
            raise PartError("its archive has no end")
        before = end - _LOCATOR.size - _END64.size
        if before >= 0:
            record = self._at(before, _END64.size + _LOCATOR.size)
            if record[_END64.size :].startswith(b"PK\x06\x07"):
                size = max(size, _END64.unpack(record[: _END64.size])[8])
        if size > _MOST_DIRECTORY:
            raise PartError(f"its directory has {size:,} bytes")
        self._file.seek(0)
        with zipfile.ZipFile(self._file) as archive:
            infos = archive.infolist()
        names = [info.filename for info in infos]
        if len(names) > _MOST_MEMBERS or len(set(names)) != len(names):
            raise PartError("it has too many members, or one of them twice")
        if infos and min(info.header_offset for info in infos) != 0:
            raise PartError("its archive does not begin where the file does")
        if sum(info.file_size for info in infos) > self._size:
            raise PartError("its members are larger than the file")
        return infos

    def _member(self, info: zipfile.ZipInfo) -> Member:
        name = info.orig_filename.removesuffix(".npy")
        if f"{name}.npy" != info.filename or not name.isidentifier():
            raise PartError(f"it has the member {info.orig_filename!a:.60}")
        plain = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
        if not plain or info.compress_size != info.file_size:
            raise PartError(f"{name!r} is compressed or encrypted, which parts are not")
        local = _LOCAL.unpack(self._at(info.header_offset, _LOCAL.size))
        start = info.header_offset + _LOCAL.size + local[-2] + local[-1]
        written = self._at(info.header_offset + _LOCAL.size, local[-2])
        if local[0] != b"PK\x03\x04" or written.decode() != info.filename:
            raise PartError(f"{name!r} is not where the directory says")
        if start + info.file_size > self._size:
            raise PartError(f"{name!r} ends beyond the file")
        head = io.BytesIO(self._at(start, min(info.file_size, _MOST_HEADER + 12)))
        shape, fortran, dtype = _header(name, head)
        size = info.file_size - head.tell()
        if size != math.prod(shape) * dtype.itemsize:
            raise PartError(f"{name!r} has {size} bytes, its header says {shape} of {dtype}")
        return Member(dtype, shape, fortran, start + head.tell(), size)

    def _at(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(size)
        if len(data) != size:
            raise PartError("its archive ends early")
        return data

    def read(self, member: Member) -> np.ndarray:
        """The array."""
        self._file.seek(member.start)
        count = math.prod(member.shape)
        flat = np.fromfile(self._file, dtype=member.dtype, count=count) if member.size else ()
        if member.size and flat.size != count:  # type: ignore[union-attr]
            raise PartError("it ends early")
        if not member.size:
            flat = np.empty(count, dtype=member.dtype)
        array = np.asarray(flat).reshape(member.shape, order="F" if member.fortran else "C")
        native = member.dtype.newbyteorder("=")
        return array if native == member.dtype else array.astype(native)

    def check_characters(self, name: str, member: Member) -> None:
        """A `PartError` if an array of words holds what is no character."""
        order = ">" if member.dtype.str.startswith(">") else "<"
        self._file.seek(member.start)
        left = member.size
        while left:
            piece = self._file.read(min(_PIECE, left))
            if not piece:
                raise PartError("it ends early")
            codes = np.frombuffer(piece, dtype=f"{order}u4")
            if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))):
                raise PartError(f"{name!r} holds words with characters that are none")
            left -= len(piece)


def _header(name: str, head: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """The shape, the order and the dtype that a `.npy` header tells; `head` stands behind it."""
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    begin = head.tell()
    for again in (True, False):  # threads share Python's parser and its filters: what fails once
        try:  # and not again was theirs, and no reason to take a part for a bad one
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of headers that only old versions wrote
                version = np.lib.format.read_magic(head)
                shape, fortran, dtype = read[version](head, max_header_size=_MOST_HEADER)
            break
        except Exception:  # the text may be anything, and NumPy reads it by Python's own parser
            if not again:
                raise PartError(f"{name!r} has no header of an array") from None
            head.seek(begin)
    whole = all(type(length) is int and 0 <= length <= _MOST_LENGTH for length in shape)
    if not whole or len(shape) > _MOST_AXES or math.prod(n for n in shape if n) > _MOST_LENGTH:
        raise PartError(f"{name!r} has the shape {shape!s:.60}")
    if dtype.kind not in STORABLE or dtype.subdtype is not None:
        raise PartError(f"{name!r} has the dtype {dtype!s:.60}, which parts do not hold")
    return shape, fortran, dtype
