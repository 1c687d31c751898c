"""The header of a safetensors file: what is said of the tensors, checked before anything is read.

The format is public (huggingface/safetensors): eight bytes with the length of the header, little
endian; the header, a JSON object; the tensors' bytes. A file is taken only if all of this is true:

- the header's length is that of a header that is there, and at most `MOST_HEADER`;
- the header is one JSON object, no name twice, of `__metadata__` (texts) and tensors;
- a tensor has a known dtype, a shape that NumPy can have, of at most 32 lengths, and two offsets;
- the offsets fit shape and dtype, and the tensors fill the rest of the file: no overlap, no hole.

So nothing that a header says can make a reader set aside more memory than the file has bytes.
"""

import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import parsed_json
from tacit._tensors._dtypes import NAMES, name_of

MOST_HEADER = 16 << 20  # bytes: more than a hundred thousand tensors
MOST_AXES = 32
_MOST_NUMBERS = 2**48  # of a tensor, were its empty axes not empty: NumPy counts so
_MOST_NAME = 500  # characters
METADATA = "__metadata__"

Refusal = Callable[[str], Exception]
"""Makes the error from the reason: whoever opens a file says what it should have been."""


@dataclass(frozen=True)
class Spec:
    """What a header says of one tensor: its dtype, its shape, and where its bytes begin."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int = 0

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes its numbers take."""
        return self.size * self.dtype.itemsize


def header_length(first: bytes, file_bytes: int, refuse: Refusal) -> int:
    """The length of the header from the first eight bytes; `file_bytes` is the whole file's."""
    if len(first) < 8:
        raise refuse(f"it has {file_bytes} bytes, too few for a safetensors file")
    length = struct.unpack("<Q", first)[0]
    if length > MOST_HEADER:
        raise refuse(
            f"its first eight bytes ask for a header of {length:,} bytes, at most "
            f"{MOST_HEADER:,} are allowed: it is no safetensors file",
        )
    if length < 2 or 8 + length > file_bytes:
        raise refuse(
            f"its header should have {length:,} bytes, but the file has {file_bytes:,} in all: it "
            "is cut off, or no safetensors file",
        )
    return int(length)


def parsed_header(
    header: bytes, data_bytes: int, refuse: Refusal
) -> tuple[dict[str, Spec], dict[str, str]]:
    """The tensors and the metadata; `data_bytes` is what the file has after the header."""
    try:
        said = parsed_json(header, unique=True)
    except (ValueError, UnicodeDecodeError) as error:
        raise refuse(f"its header is no JSON object ({str(error)[:80]})") from None
    if not isinstance(said, dict):
        raise refuse("its header is no JSON object")
    metadata = said.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise refuse(f"its {METADATA} must be texts by name")
    specs = {key: _spec(key, entry, data_bytes, refuse) for key, entry in said.items()}
    at = 0
    for key, spec in sorted(specs.items(), key=lambda item: (item[1].begin, item[1].bytes)):
        if spec.begin != at:
            what = "overlap" if spec.begin < at else "leave a hole"
            raise refuse(f"its tensors {what} at byte {at:,}, before {shown(key)}")
        at += spec.bytes
    if at != data_bytes:
        raise refuse(
            f"its tensors take {at:,} bytes, but {data_bytes:,} follow the header: it is cut off "
            "or has something after its end",
        )
    return specs, metadata


def header_bytes(specs: Mapping[str, Spec], metadata: Mapping[str, str]) -> bytes:
    """The first bytes of a file with these tensors, in this order, each after the one before."""
    said: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    at = 0
    for key, spec in specs.items():
        said[key] = {
            "dtype": name_of(spec.dtype),
            "shape": list(spec.shape),
            "data_offsets": [at, at + spec.bytes],
        }
        at += spec.bytes
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers begin at a multiple of eight bytes
    if len(text) > MOST_HEADER:
        raise UsageError(
            f"a header of {len(text):,} bytes is too long, at most {MOST_HEADER:,} are allowed: "
            "store fewer or smaller things in one file"
        )
    return struct.pack("<Q", len(text)) + text


def _spec(key: str, entry: Any, data_bytes: int, refuse: Refusal) -> Spec:
    if not key or len(key) > _MOST_NAME or not key.isprintable():
        raise refuse(f"it has a tensor with the name {shown(key)}")
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise refuse(f"tensor {shown(key)} must have dtype, shape and data_offsets")
    dtype = NAMES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise refuse(f"tensor {shown(key)} has the unknown dtype {shown(entry['dtype'])}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _is_counts(shape) or not _is_possible(shape):
        raise refuse(f"tensor {shown(key)} has the shape {shown(shape)}")
    if not _is_counts(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= data_bytes:
        raise refuse(
            f"tensor {shown(key)} lies at {shown(offsets)}, but {data_bytes:,} bytes follow the "
            "header",
        )
    spec = Spec(dtype, tuple(shape), offsets[0])
    if spec.bytes != offsets[1] - offsets[0]:
        raise refuse(
            f"tensor {shown(key)} of shape {shown(shape)} has other than the "
            f"{offsets[1] - offsets[0]:,} bytes between its offsets",
        )
    return spec


def _is_possible(shape: list[int]) -> bool:
    return len(shape) <= MOST_AXES and math.prod(n for n in shape if n) <= _MOST_NUMBERS


def _is_counts(value: Any) -> bool:
    """A list of whole numbers that are not negative, none of them beyond any file."""
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**62 for n in value)
