"""Arrays by name in a file: the one format that tacit writes, and its one reader.

A file is a safetensors file, so that the public package reads it too. Checkpoints of weights are
plain ones (`TensorFile`, `write_tensors`). What tacit keeps for itself (parts of stores, descents
on their way, instances of statements) are written by `encoded` and read by `ArrayFile`:

- `__metadata__` holds texts by name. The first is `digest`: BLAKE2b, 256 bits in hexadecimal, of
  all bytes of the file but these 64 digits. So no byte of damage goes unnoticed.
- What safetensors has no dtype for is stored with one more axis at the end, and `dtypes` (a JSON
  object, NumPy's words by name) tells what it is: words `<U9` are codes of characters, U32, nine
  each; complex numbers `<c16` are pairs of F64, `<c8` of F32; long floats `<f16`, `<c32` are bytes.
- Arrays are in C order and little-endian.

A reader never sets aside more memory than the file has bytes.
"""

from tacit._tensors._array_file import MOST_BYTES, ArrayFile, encoded
from tacit._tensors._dtypes import NAMES, name_of
from tacit._tensors._header import MOST_AXES, MOST_HEADER, Refusal, Spec
from tacit._tensors._tensor_file import BLOCK, TensorFile, blocks, write_tensors

__all__ = [
    "BLOCK",
    "MOST_AXES",
    "MOST_BYTES",
    "MOST_HEADER",
    "NAMES",
    "ArrayFile",
    "Refusal",
    "Spec",
    "TensorFile",
    "blocks",
    "encoded",
    "name_of",
    "write_tensors",
]
