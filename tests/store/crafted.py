"""Parts with a valid digest and wrong content, and files that are no parts: 300 and more.

The form of a part follows from the name that it is written under: `.npz` as tacit 0.2.0 wrote it,
`.safetensors` as it is written now.
"""

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


def valid(suffix: str = ".npz") -> bytes:
    return part() if suffix == ".npz" else new_part()


# The form of now, made by hand.

TEXTS = ("header", "cells", "provenance")


def entry(dtype: str, shape: Any, begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def new_members() -> dict[str, tuple[str, list[int], bytes]]:
    """By name: dtype, shape and bytes; the words are codes of characters, nine each."""
    made = members()
    words = made["outcome"].astype("<U9")
    return {
        "error": ("F64", [2], made["error"].tobytes()),
        "curve": ("F64", [2, 3], made["curve"].tobytes()),
        "outcome": ("U32", [2, 9], words.tobytes()),
    }


def new_part(
    arrays: dict[str, Any] | None = None, lies: dict[str, Any] | None = None, **metadata: Any
) -> bytes:
    """A part of now: with other arrays, a header that lies, or other texts (None: without)."""
    made = {n: a for n, a in {**new_members(), **(arrays or {})}.items() if a is not None}
    said = {
        "digest": "0" * 64,
        "dtypes": json.dumps({"outcome": "<U9"} if "outcome" in made else {}),
        **{name: members()[f"_{name}"].tobytes().decode() for name in TEXTS},
        **metadata,
    }
    header: dict[str, Any] = {"__metadata__": {n: v for n, v in said.items() if v is not None}}
    at = 0
    for name, (dtype, shape, content) in made.items():
        header[name] = entry(dtype, shape, at, at + len(content))
        at += len(content)
    text = json.dumps({**header, **(lies or {})}, separators=(",", ":")).encode()
    return digested_again(
        struct.pack("<Q", len(text)) + text + b"".join(content for *_, content in made.values())
    )


def digested_again(data: bytes) -> bytes:
    """The bytes with the digest of what is before and behind it, in its place."""
    begin = 8 + len(b'{"__metadata__":{"digest":"')
    before, after = data[:begin], data[begin + 64 :]
    return before + hashlib.blake2b(before + after, digest_size=32).hexdigest().encode() + after


def _new(*args: Any, **kwargs: Any) -> Craft:
    return lambda path: path.write_bytes(new_part(*args, **kwargs))


def of_now() -> Iterator[tuple[str, Craft]]:
    """Wrong parts of the form of now; each must be named and set aside."""
    for what, craft in wrong():
        if (isinstance(craft, _Members) and craft.for_both()) or what in SIMPLY:
            yield what, craft
    whole = new_members()
    for what, word in {
        "objects": "|O", "bytes": "|S9", "dates": "<M8[D]", "void": "|V8", "records": "f8,f8",
        "longer words": "<U10", "shorter words": "<U8", "no words": "<U0", "other order": ">U9",
        "very wide words": "<U1000000000", "complex": "<c16", "long floats": "<f16", "a number": 3,
        "a list": ["<U9"], "nothing": None, "code": "__import__('os')", "two": "<U9,<U9",
        "a subarray": "(2,)<U9",
    }.items():  # fmt: skip
        yield f"dtypes: {what}", _new(dtypes=json.dumps({"outcome": word}))
    yield "dtypes: of none there", _new(dtypes=json.dumps({"outcome": "<U9", "other": "<U9"}))
    yield "dtypes: of numbers", _new(dtypes=json.dumps({"outcome": "<U9", "error": "<U1"}))
    yield "dtypes: twice", _new(dtypes='{"outcome":"<U9","outcome":"<U9"}')
    yield "dtypes: none", _new(dtypes=None)
    yield "dtypes: no JSON", _new(dtypes="{")
    yield "dtypes: deep", _new(dtypes="[" * 200_000)
    for what, shape in {
        "negative": [-2], "40 GB": [2, 2_500_000_000], "beyond all memory": [2, 2**62],
        "beyond all integers": [2, 10**40], "nothing times everything": [2, 0, 2**61],
        "everything times nothing": [2**61, 2**61, 0], "more than there are": [3],
        "fewer than there are": [1], "true": [True, 2], "a number": 2, "of floats": [2.0],
        "of seventy axes": [2, *[1] * 70], "nothing": None,
    }.items():  # fmt: skip
        yield f"shape: {what}", _new(lies={"error": entry("F64", shape, 0, 16)})
    for what, ends in {
        "behind each other": [16, 0], "beyond the file": [0, 2**40], "negative": [-16, 0],
        "elsewhere": [8, 24], "one": [0], "words": ["0", "16"],
    }.items():  # fmt: skip
        lie = {"dtype": "F64", "shape": [2], "data_offsets": ends}
        yield f"offsets: {what}", _new(lies={"error": lie})
    yield "an unknown dtype", _new(lies={"error": entry("F80", [2], 0, 16)})
    yield "a further word", _new(lies={"error": entry("F64", [2], 0, 16) | {"code": 1}})
    yield "an array of no entry", _new(lies={"error": 3})
    yield "bfloat16", _new({"error": ("BF16", [2], bytes(4))})
    yield "truths that are neither", _new({"error": ("BOOL", [2], b"\x01\x02")})
    yield "characters beyond Unicode", _new({"outcome": ("U32", [2, 9], b"\xff" * 72)})
    halves = np.full((2, 9), 0xD800, "<u4").tobytes()
    yield "halves of characters", _new({"outcome": ("U32", [2, 9], halves)})
    for name in ("_hidden", "two words", "../../evil", "", "a\x1b[2J", "n" * 501):
        yield f"an array called {name[:20]!a}", _new({name: ("F64", [2], bytes(16))})
    yield "arrays that overlap", _new(lies={"curve": entry("F64", [2, 3], 0, 48)})
    yield "no digest", lambda path: path.write_bytes(new_part().replace(b'"digest"', b'"digesT"'))
    yield "another digest", _new(digest="1" * 63)
    plain = json.dumps({"error": entry("F64", [2], 0, 16)}).encode()
    yield (
        "a plain file",
        lambda path: path.write_bytes(struct.pack("<Q", len(plain)) + plain + bytes(16)),
    )
    yield "cut", lambda path: path.write_bytes(new_part()[:-1])
    yield "longer", lambda path: path.write_bytes(digested_again(new_part() + b"!"))
    yield (
        "an endless header",
        lambda path: path.write_bytes(struct.pack("<Q", 2**63) + new_part()[8:]),
    )
    yield "the form of before", lambda path: path.write_bytes(valid())
    yield "a long name", _new({"n" * 10_000_000: whole["error"]})


SIMPLY = (
    "empty file", "short file", "a pipe", "an endless device", "a link to itself",
    "a link to nothing", "a link to a part", "a folder", "a sparse file of 40 GB",
)  # fmt: skip


class _Members:
    """A part with some members replaced; None leaves one out."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def for_both(self) -> bool:
        """Whether the form of now can say it at all."""
        try:
            self.of_now()
        except (ValueError, TypeError, AttributeError):
            return False
        return True

    def of_now(self) -> bytes:
        texts: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {n: a for n, a in members().items() if n[0] != "_"}
        for name, value in self.changes.items():
            if name.startswith("_"):
                texts[name[1:]] = None if value is None else _said(value)
            elif value is None:
                del arrays[name]
            else:
                arrays[name] = value
        made, dtypes = {}, {}
        names = {"float64": "F64", "float32": "F32", "bool": "BOOL", "int64": "I64", "U": "U32"}
        for name, array in arrays.items():
            shape, dtype = [*array.shape], names.get(array.dtype.name)
            if array.dtype.kind in "Uc":
                dtypes[name], unit = array.dtype.str, {"U": 4, "c": 8}[array.dtype.kind]
                shape.append(array.dtype.itemsize // unit)
                dtype = {"U": "U32", "c": "F64"}[array.dtype.kind]
            if dtype is None:
                raise TypeError
            made[name] = (dtype, shape, array.tobytes())
        gone = dict.fromkeys(new_members().keys() - made.keys())
        return new_part({**made, **gone}, dtypes=json.dumps(dtypes), **texts)

    def __call__(self, path: Path) -> None:
        path.write_bytes(part(**self.changes) if path.suffix == ".npz" else self.of_now())


def _said(value: Any) -> str:
    if value.dtype != np.uint8 or value.ndim != 1:
        raise TypeError
    return value.tobytes().decode()


def _writes(make: Callable[[], bytes]) -> Craft:
    return lambda path: path.write_bytes(make())


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
        yield f"{name} is missing", _Members(**{name: None})
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
            yield f"{name} is {what}", _Members(**{name: value})
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
        yield f"header {what}", _Members(_header=text(header))
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
        yield f"cells {what}", _Members(_cells=text(cells))
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
        yield f"provenance {what}", _Members(_provenance=text(origin))
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
        yield f"array: {what}", _Members(error=array)
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
        yield f"header says {what}", _Members(error=npy(two, **lies))
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
        yield what, _Members(**changes)
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


def random_ones_of_now(count: int) -> Iterator[tuple[str, Craft]]:
    """A part of now with a few bytes changed anywhere, and the digest made for it."""
    for number in range(count):
        rng = np.random.default_rng(number)
        changed = bytearray(new_part())
        for at in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        data = digested_again(bytes(changed))
        yield f"bytes changed at random, {number}", _writes(functools.partial(bytes, data))


def random_ones(count: int) -> Iterator[tuple[str, Craft]]:
    """A part of 0.2.0 with a few bytes changed anywhere, and the digest made for it."""
    whole = valid()[:-64]
    for number in range(count):
        rng = np.random.default_rng(number)
        changed = bytearray(whole)
        for at in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        digest = hashlib.blake2b(bytes(changed), digest_size=32).hexdigest().encode()
        data = bytes(changed) + digest
        yield f"bytes changed at random, {number}", _writes(functools.partial(bytes, data))
