"""A digest of a tensor: of its dtype, its shape and its bytes."""

import hashlib
from collections.abc import Iterable

import numpy as np

from tacit._tensors import Spec, blocks, name_of
from tacit.checkpoints._checkpoint import Checkpoint


class Digest:
    """A digest that takes a tensor's numbers piece by piece: 128 bits of BLAKE2b."""

    def __init__(self, spec: Spec) -> None:
        self._state = hashlib.blake2b(digest_size=16)
        self._state.update(f"{name_of(spec.dtype)} {list(spec.shape)} ".encode())

    def add(self, piece: np.ndarray) -> None:
        """Take in the next numbers."""
        self._state.update(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)

    def text(self) -> str:
        """The digest, in hexadecimal."""
        return self._state.hexdigest()


def digest(checkpoint: Checkpoint, name: str) -> str:
    """The digest of one tensor of a checkpoint."""
    spec = checkpoint.specs[name]
    made = Digest(spec)
    for start, stop in blocks(spec.size):
        made.add(checkpoint.numbers(name, start, stop))
    return made.text()


def digest_of(spec: Spec, pieces: Iterable[np.ndarray]) -> str:
    """The digest of a tensor whose numbers come in pieces."""
    made = Digest(spec)
    for piece in pieces:
        made.add(piece)
    return made.text()


def digest_of_factors(left: np.ndarray, right: np.ndarray) -> str:
    """One digest of both factors."""
    made = Digest(Spec(left.dtype, left.shape))
    made.add(left)
    made.add(right)
    return made.text()
