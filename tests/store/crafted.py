"""Parts with a valid digest and wrong content, and files that are no parts: 200 and more."""

import functools
import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

CELLS = [{"seed": 5, "steps": 3}, {"seed": 6, "steps": 3}]
HEADER = {"experiment": "toy/one", "version": 1, "schema": 1}
ORIGIN = {"seconds": 0.5, "versions": {}, "device": "cpu"}

Craft = Callable[[Path], Any]


def text(value: Any) -> np.ndarray:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return np.frombuffer(data, dtype=np.uint8)


def members() -> dict[str, Any]:
    return {
        "_header": text(HEADER),
        "_cells": text(CELLS),
        "_provenance": text(ORIGIN),
        "error": np.array([1.0, 2.0]),
        "curve": np.arange(6.0).reshape(2, 3),
        "outcome": np.array(["converged", "stopped"]),
    }


def npy(array: np.ndarray, **lies: Any) -> bytes:
    """The bytes of a `.npy`, whose header may lie."""
    content = io.BytesIO()
    if not lies:
        np.lib.format.write_array(content, array, allow_pickle=True)
        return content.getvalue()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape, **lies}
    line = repr(header).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line + array.tobytes()


def digested(archive: bytes) -> bytes:
    """An archive with an empty comment, with the digest of its bytes as the comment."""
    body = archive[:-2] + struct.pack("<H", 64)
    return body + hashlib.blake2b(body, digest_size=32).hexdigest().encode()


def zipped(entries: list[tuple[str, Any]], method: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression=method) as archive:
        for name, entry in entries:
            data = entry if isinstance(entry, bytes) else npy(entry)
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return content.getvalue()


def part(**changes: Any) -> bytes:
    """A whole part with some members replaced; None leaves one out."""
    made = {**members(), **changes}
    return digested(zipped([(f"{n}.npy", e) for n, e in made.items() if e is not None]))


def valid() -> bytes:
    return part()


def _writes(make: Callable[[], bytes]) -> Craft:
    return lambda path: path.write_bytes(make())


def _members(**changes: Any) -> Craft:
    return _writes(lambda: part(**changes))


def _patched(find: bytes, put: bytes, count: int = -1) -> Craft:
    """The whole part with some bytes of its archive replaced, and digested again."""

    def make() -> bytes:
        entries = [(f"{n}.npy", e) for n, e in members().items()]
        raw = zipped(entries)
        assert find in raw
        return digested(raw.replace(find, put, count))

    return _writes(make)


def wrong() -> Iterator[tuple[str, Craft]]:
    """Each must be named and set aside."""
    # The three texts.
    for name in ("_header", "_cells", "_provenance"):
        yield f"{name} is missing", _members(**{name: None})
        for what, value in {
            "no text": np.array([1.0, 2.0]),
            "of two axes": np.zeros((2, 2), np.uint8),
            "empty": np.array([], np.uint8),
            "no JSON": text(b"{"),
            "no UTF-8": text(b"\xff\xfe"),
            "a number": text(3),
            "null": text(None),
            "deep": text(b"[" * 200_000),
            "deep objects": text(b'{"a":' * 100_000),
            "a huge number": text(b"9" * 10_000),
            "objects": np.array([{"a": 1}], dtype=object),
            "words": np.array(["a"]),
        }.items():
            yield f"{name} is {what}", _members(**{name: value})
    for what, header in {
        "no object": [HEADER],
        "empty": {},
        "of another": {**HEADER, "experiment": "toy/two"},
        "of an outsider": {**HEADER, "experiment": "../../evil"},
        "of another version": {**HEADER, "version": 2},
        "of version true": {**HEADER, "version": "1"},
        "of another schema": {**HEADER, "schema": 9},
        "with more": {**HEADER, "more": 1},
    }.items():
        yield f"header {what}", _members(_header=text(header))
    for what, cells in {
        "an object": {"0": CELLS[0]},
        "numbers": [1, 2],
        "lists": [[], []],
        "words": ["a", "b"],
        "none": [],
        "too few": CELLS[:1],
        "too many": [*CELLS, {"seed": 7, "steps": 3}],
        "one twice": [CELLS[0], CELLS[0]],
        "one twice in other words": [CELLS[0], {"seed": 5.0, "steps": 3}],
        "with NaN": [CELLS[0], {"seed": float("nan"), "steps": 3}],
        "nested NaN": [CELLS[0], {"seed": [float("nan")], "steps": 3}],
        "without a name": [CELLS[0], {}],
    }.items():
        yield f"cells {what}", _members(_cells=text(cells))
    for what, origin in {
        "a list": [1],
        "with seconds as words": {**ORIGIN, "seconds": "long"},
        "with seconds NaN": {**ORIGIN, "seconds": float("nan")},
        "with seconds infinite": {**ORIGIN, "seconds": float("inf")},
        "with seconds listed": {**ORIGIN, "seconds": [1]},
        "with a rounding that is a list": {**ORIGIN, "rounding": ["a"]},
        "with versions that are a list": {**ORIGIN, "versions": [1]},
        "with code that is a number": {**ORIGIN, "code": 7},
    }.items():
        yield f"provenance {what}", _members(_provenance=text(origin))
    # Arrays.
    for what, array in {
        "objects": np.array([None, None], dtype=object),
        "bytes": np.array([b"a", b"b"]),
        "dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
        "spans": np.array([1, 2], dtype="timedelta64[s]"),
        "records": np.zeros(2, dtype=[("a", "f8")]),
        "void": np.zeros(2, dtype="V8"),
        "no axis": np.array(1.0),
        "one row": np.array([1.0]),
        "three rows": np.arange(3.0),
        "no rows": np.array([]),
        "no number at all": b"",
        "no header": b"\x93NUMPY\x01\x00",
        "another magic": b"NUMPY" + bytes(100),
        "an unknown format": b"\x93NUMPY\x09\x00" + bytes(100),
        "a header that ends early": b"\x93NUMPY\x01\x00\xff\x00{'descr'",
        "a header without end": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(50),
        "a long header": npy(np.arange(2.0), more="x" * 20_000),
        "an incomplete header": b"\x93NUMPY\x01\x00" + struct.pack("<H", 3) + b"{}\n" + bytes(16),
    }.items():
        yield f"array: {what}", _members(error=array)
    two = np.array([1.0, 2.0])
    for what, lies in {
        "negative": {"shape": (-1,)},
        "negative twice": {"shape": (-2, -1)},
        "40 GB": {"shape": (2, 2_500_000_000)},
        "beyond all memory": {"shape": (2, 2**62)},
        "beyond all integers": {"shape": (2, 10**40)},
        "nothing times everything": {"shape": (2, 0, 2**62)},
        "fewer than there are": {"shape": (1,)},
        "more than there are": {"shape": (3,)},
        "true": {"shape": (True, 2)},
        "a number": {"shape": 2},
        "a list": {"shape": [2]},
        "of floats": {"shape": (2.0,)},
        "of seventy axes": {"shape": (2, *[1] * 70)},
        "another order that is no truth": {"fortran_order": 3},
        "wider": {"descr": "<f16"},
        "narrower": {"descr": "<f4"},
        "unknown": {"descr": "<q99"},
        "objects": {"descr": "|O"},
        "records": {"descr": [("a", "<f8")]},
        "a subarray": {"descr": ("<f8", (2,))},
        "code": {"descr": "__import__('os')"},
        "very wide words": {"descr": "<U1000000000"},
        "nothing": {"descr": None},
        "a further word": {"more": 1},
    }.items():
        yield f"header says {what}", _members(error=npy(two, **lies))
    # Against what is declared.
    for what, changes in {
        "integers for numbers": {"error": np.array([1, 2])},
        "single precision": {"error": two.astype(np.float32)},
        "complex": {"error": two.astype(complex)},
        "truths": {"error": np.array([True, False])},
        "words for numbers": {"error": np.array(["a", "b"])},
        "numbers for words": {"outcome": two},
        "a longer curve": {"curve": np.zeros((2, 4))},
        "a shorter curve": {"curve": np.zeros((2, 2))},
        "a curve of no length": {"curve": np.zeros((2, 0))},
        "a flat curve": {"curve": two},
        "a curve of two axes": {"curve": np.zeros((2, 3, 1))},
        "no curve": {"curve": None},
        "no error": {"error": None},
        "no outcome": {"outcome": None},
        "an unknown outcome": {"outcome": np.array(["converged", "exploded"])},
        "an empty outcome": {"outcome": np.array(["converged", ""])},
        "an outcome that writes to the terminal": {"outcome": np.array(["\x1b[2J", "stopped"])},
        "characters beyond Unicode": {
            "outcome": npy(np.full((2, 4), 0x7FFFFFFF, "<u4"), descr="<U4", shape=(2,))
        },
        "halves of characters": {
            "outcome": npy(np.full((2, 4), 0xD800, "<u4"), descr="<U4", shape=(2,))
        },
        "no array at all": {"error": None, "curve": None, "outcome": None},
    }.items():
        yield what, _members(**changes)
    # The archive.
    base = [(f"{n}.npy", e) for n, e in members().items()]
    other = np.array([9.0, 9.0])
    archives: dict[str, Callable[[], bytes]] = {
        "compressed": lambda: zipped(base, zipfile.ZIP_DEFLATED),
        "a bomb": lambda: zipped(
            [*base[:3], ("error.npy", npy(np.zeros(2**20)))], zipfile.ZIP_DEFLATED
        ),
        "bzip2": lambda: zipped(base, zipfile.ZIP_BZIP2),
        "LZMA": lambda: zipped(base, zipfile.ZIP_LZMA),
        "empty": lambda: zipped([]),
        "a member twice": lambda: _quietly([*base, ("error.npy", other)]),
        "cells twice": lambda: _quietly([*base, ("_cells.npy", text(CELLS[:1]))]),
        "a member of no array": lambda: zipped([*base, ("notes.txt", b"hello")]),
        "a member outside": lambda: zipped([*base, ("../../evil.npy", other)]),
        "a member at the root": lambda: zipped([*base, ("/evil.npy", other)]),
        "a folder": lambda: zipped([*base, ("folder/", b"")]),
        "a member without a name": lambda: zipped([*base, (".npy", other)]),
        "a hidden member": lambda: zipped([*base, ("_hidden.npy", other)]),
        "a name of two words": lambda: zipped([*base, ("two words.npy", other)]),
        "too many members": lambda: zipped([*base, *((f"v{i}.npy", other) for i in range(5000))]),
    }
    for what, make in archives.items():
        yield f"archive: {what}", _writes(functools.partial(lambda m: digested(m()), make))
    raw = zipped(base)
    first, directory = raw.index(b"PK\x03\x04"), raw.index(b"PK\x01\x02")
    end = raw.rindex(b"PK\x05\x06")
    for what, (at, form, value) in {
        "encrypted": (directory + 8, "<H", 1),
        "an unknown method": (directory + 10, "<H", 99),
        "compressed, it says": (directory + 10, "<H", 8),
        "larger than the file": (directory + 24, "<I", 2**31),
        "smaller than stored": (directory + 24, "<I", 10),
        "stored size wrong": (directory + 20, "<I", 10),
        "a name beyond the file": (directory + 28, "<H", 60_000),
        "an offset beyond the file": (directory + 42, "<I", 2**31),
        "an offset elsewhere": (directory + 42, "<I", 7),
        "a local name of another length": (first + 26, "<H", 3),
        "a local name beyond the file": (first + 26, "<H", 60_000),
        "no local header": (first, "<I", 0),
        "no directory entry": (directory, "<I", 0),
        "a directory beyond the file": (end + 12, "<I", 2**31),
        "a directory of no length": (end + 12, "<I", 0),
        "a directory elsewhere": (end + 16, "<I", 2**31),
        "no end": (end, "<I", 0),
        "many disks": (end + 4, "<H", 3),
    }.items():
        changed = bytearray(raw)
        struct.pack_into(form, changed, at, value)
        yield f"zip: {what}", _writes(functools.partial(digested, bytes(changed)))
    yield "zip: something before it", _writes(lambda: digested(b"#!/bin/sh\n" + raw))
    # Not a part of ours at all.
    yield "empty file", _writes(lambda: b"")
    yield "short file", _writes(lambda: b"PK")
    yield (
        "only a digest",
        _writes(lambda: hashlib.blake2b(b"", digest_size=32).hexdigest().encode()),
    )
    yield "no digest", _writes(lambda: raw)
    yield "zeros", _writes(lambda: digested(bytes(10_000)))
    yield "a pipe", os.mkfifo
    yield "an endless device", lambda path: path.symlink_to("/dev/zero")
    yield "a link to itself", lambda path: path.symlink_to(path)
    yield "a link to nothing", lambda path: path.symlink_to("/nothing/there")
    yield "a link to a part", lambda path: path.symlink_to(_first_beside(path))
    yield "a folder", Path.mkdir
    yield "a sparse file of 40 GB", _sparse


def _first_beside(path: Path) -> Path:
    return next(p for p in sorted(path.parent.iterdir()) if p.name.startswith("000001"))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(40 * 2**30)


def _quietly(entries: list[tuple[str, Any]]) -> bytes:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name is there twice
        return zipped(entries)


def random_ones(count: int) -> Iterator[tuple[str, Craft]]:
    """A part with a few bytes changed anywhere, and the digest made for it."""
    whole = valid()[:-64]
    for number in range(count):
        rng = np.random.default_rng(number)
        changed = bytearray(whole)
        for at in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        digest = hashlib.blake2b(bytes(changed), digest_size=32).hexdigest().encode()
        data = bytes(changed) + digest
        yield f"bytes changed at random, {number}", _writes(functools.partial(bytes, data))
