"""Parts as tacit 0.2.0 wrote them: read for one version more, never written.

Such a part is an uncompressed zip archive of `.npy` members; the archive's comment is a digest of
all that stands before it. Its directory, its arrays' headers and the size of the file are held
against each other, so that nothing that they say can make a reader allocate, wait or
compute more than the file has bytes.
"""

import hashlib
import io
import math
import os
import struct
import warnings
import zipfile
from typing import IO, NamedTuple

import numpy as np

from tacit.store._errors import PartError
from tacit.store._variable import STORABLE

SUFFIX = ".npz"
DIGEST_BYTES = 32  # the archive's comment is twice as long: the digest in hexadecimal digits
_TEXTS = ("header", "cells", "provenance")  # each a member `_header` and so on, of UTF-8 bytes
_MOST_TEXT = 16 * 2**20
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


class OldPart:
    """An open part of 0.2.0, with what an `ArrayFile` has; also a context manager.

    Opening it checks the directory and the headers of the arrays: a `PartError` says what is wrong.
    `check` reads all of it.
    """

    def __init__(self, file: IO[bytes], *, most: int) -> None:
        self._file = file
        try:
            self._size = file.seek(0, os.SEEK_END)
            if self._size > most:
                raise PartError(f"it has {self._size:,} bytes, more than a part may have")
            self._members = self._all_members()
            self.metadata = {name: self._text(name) for name in _TEXTS}
            self.layout = {
                name: (member.dtype, member.shape)
                for name, member in self._members.items()
                if name not in {f"_{text}" for text in _TEXTS}
            }
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> "OldPart":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def digest(self) -> str:
        """The digest that the file says of itself."""
        self._file.seek(self._size - 2 * DIGEST_BYTES)
        return self._file.read().decode("ascii", "replace")

    def check(self) -> None:
        """Read every byte: the digest, and that words are of characters."""
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        left = self._size - 2 * DIGEST_BYTES
        self._file.seek(0)
        while left > 0 and (piece := self._file.read(min(_PIECE, left))):
            digest.update(piece)
            left -= len(piece)
        if left or self.digest != digest.hexdigest():
            raise PartError("it is damaged, or not one of tacit's: its digest does not match")
        for name, member in self._members.items():
            if member.dtype.kind == "U":
                self._check_characters(name, member)

    def _text(self, name: str) -> str:
        member = self._members.get(f"_{name}")
        if member is None or member.dtype != np.uint8 or len(member.shape) != 1:
            raise PartError(f"it has no {name}")
        if member.size > _MOST_TEXT:
            raise PartError(f"its {name} takes {member.size:,} bytes")
        try:
            return self.array(f"_{name}").tobytes().decode()
        except UnicodeDecodeError:
            raise PartError(f"its {name} is not readable") from None

    def _all_members(self) -> dict[str, Member]:
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

    def array(self, name: str) -> np.ndarray:
        """An array as it was written."""
        member = self._members[name]
        self._file.seek(member.start)
        count = math.prod(member.shape)
        if member.size:
            flat = np.fromfile(self._file, dtype=member.dtype, count=count)
        else:
            flat = np.empty(count, dtype=member.dtype)
        if flat.size != count:
            raise PartError("it ends early")
        array = flat.reshape(member.shape, order="F" if member.fortran else "C")
        native = member.dtype.newbyteorder("=")
        return array if native == member.dtype else array.astype(native)

    def _check_characters(self, name: str, member: Member) -> None:
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
