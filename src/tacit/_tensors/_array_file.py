"""What tacit keeps for itself: any of NumPy's plain arrays, whole, under a digest."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from tacit._errors import shown
from tacit._files import parsed_json
from tacit._tensors._dtypes import name_of
from tacit._tensors._header import METADATA, Refusal, Spec, header_bytes
from tacit._tensors._tensor_file import BLOCK, TensorFile, blocks

MOST_BYTES = 8 * 2**30
_DIGITS = 64
_BEFORE_DIGEST = f'{{"{METADATA}":{{"digest":"'.encode()
_AT = 8 + len(_BEFORE_DIGEST)  # where the digest's digits begin
_WORDS = re.compile("<(U[1-9][0-9]{0,7}|c8|c16|f16|c32)")  # what `dtypes` may say


def encoded(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file with these arrays and texts; a `ValueError` if it could not be read."""
    plain = {name: _plain(name, np.asarray(array)) for name, array in arrays.items()}
    words = {
        name: _little(np.asarray(array).dtype).str
        for name, array in arrays.items()
        if name_of(np.asarray(array).dtype) is None
    }
    said = {"digest": "0" * _DIGITS, **({"dtypes": json.dumps(words)} if words else {}), **metadata}
    specs = {name: Spec(array.dtype, array.shape) for name, array in plain.items()}
    data = b"".join([header_bytes(specs, said), *(array.tobytes() for array in plain.values())])
    before, after = data[:_AT], data[_AT + _DIGITS :]
    digest = hashlib.blake2b(before, digest_size=_DIGITS // 2)
    digest.update(after)
    return b"".join([before, digest.hexdigest().encode(), after])


class ArrayFile(TensorFile):
    """A file that `encoded` has made, open for reading: `metadata` has the texts.

    `check` reads all of it; what is not checked is read as the header says.
    """

    def __init__(self, file: IO[bytes], refuse: Refusal, *, most: int = MOST_BYTES) -> None:
        super().__init__(file, refuse, most=most)
        try:
            file.seek(0)
            if file.read(_AT)[8:] != _BEFORE_DIGEST:
                raise refuse("it is not one of tacit's: it does not begin with a digest")
            self.layout = self._layout()
        except BaseException:
            file.close()
            raise

    @property
    def digest(self) -> str:
        """The digest that the file says of itself."""
        return self.metadata["digest"]

    def _layout(self) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
        """The dtype and the shape of each array, as `dtypes` has them."""
        try:
            said = parsed_json(self.metadata.get("dtypes", "{}").encode(), unique=True)
        except ValueError:
            said = None
        if not isinstance(said, dict) or not said.keys() <= self.specs.keys():
            raise self.refuse("its dtypes are not those of its arrays")
        found = {name: (spec.dtype, spec.shape) for name, spec in self.specs.items()}
        for name, word in said.items():
            spec, dtype = self.specs[name], _from_word(word)
            if dtype is None or (spec.dtype, *spec.shape[-1:]) != _held_as(dtype):
                raise self.refuse(f"array {shown(name)} cannot have the dtype {shown(word)}")
            found[name] = (dtype, spec.shape[:-1])
        return found

    def check(self) -> None:
        """Read every byte: the digest, that words are of characters, and truths true or false."""
        digest = hashlib.blake2b(digest_size=_DIGITS // 2)
        self._file.seek(0)
        digest.update(self._file.read(_AT))
        digest.update(self._file.read(self._data - _AT)[_DIGITS:])
        left = self._size - self._data
        while left > 0 and (piece := self._file.read(min(BLOCK, left))):
            digest.update(piece)
            left -= len(piece)
        if digest.hexdigest() != self.digest:
            raise self.refuse("it is damaged, or not one of tacit's: its digest does not match")
        for name, (dtype, _) in self.layout.items():
            if dtype.kind in "Ub":
                for start, stop in blocks(self.specs[name].size):
                    if not _are_sound(self.numbers(name, start, stop), dtype):
                        what = "words with characters" if dtype.kind == "U" else "truth values"
                        raise self.refuse(f"{shown(name)} holds {what} that are none")

    def array(self, name: str) -> np.ndarray:
        """An array as it was written."""
        dtype, shape = self.layout[name]
        found = self.numbers(name, 0, self.specs[name].size)
        return found.view(dtype).reshape(shape)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays, after `check`."""
        self.check()
        return {name: self.array(name) for name in self.layout}


def _plain(name: str, array: np.ndarray) -> np.ndarray:
    """The array in a dtype that safetensors has."""
    dtype = _little(array.dtype)
    if name_of(dtype) is not None:
        return array.astype(dtype, copy=False)
    if _WORDS.fullmatch(dtype.str) is None:
        raise ValueError(f"{name!r} has dtype {array.dtype}, which is not storable")
    held, count = _held_as(dtype)
    numbers = np.ascontiguousarray(array, dtype).reshape(-1).view(held)
    if dtype.kind == "U" and not _are_sound(numbers, dtype):
        raise ValueError(
            f"{name!r} has words with characters that are none, such as half of a pair"
        )
    return numbers.reshape(*array.shape, count)


def _little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def _from_word(word: Any) -> np.dtype | None:
    """The dtype that `dtypes` may name so."""
    try:
        return np.dtype(word) if isinstance(word, str) and _WORDS.fullmatch(word) else None
    except TypeError:  # a long float, where there is none
        return None


def _held_as(dtype: np.dtype) -> tuple[np.dtype, int]:
    """What a dtype that safetensors lacks is stored in, and how many of these."""
    pairs = {"<c8": "<f4", "<c16": "<f8"}
    held = np.dtype("<u4" if dtype.kind == "U" else pairs.get(dtype.str, "u1"))
    return held, dtype.itemsize // held.itemsize


def _are_sound(numbers: np.ndarray, dtype: np.dtype) -> bool:
    """Whether codes are those of characters, and truth values 0 or 1."""
    if dtype.kind == "b":
        return not np.any(numbers.view(np.uint8) > 1)
    return not np.any((numbers > 0x10FFFF) | ((numbers >= 0xD800) & (numbers <= 0xDFFF)))
