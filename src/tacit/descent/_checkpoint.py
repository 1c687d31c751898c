"""A descent on the disk, so that one that was killed goes on from near where it was."""

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tacit._doors import check_fields, number, path
from tacit._files import open_regular, write_atomically
from tacit._tensors import ArrayFile, encoded
from tacit._types import PyTree

_OWNER = "owner"  # what the file belongs to


@dataclass(frozen=True)
class Checkpoint:
    """A file that holds a descent on its way; the same call of `descend` goes on from it.

    A descent that goes on takes the same steps as one that was never stopped. A file that is
    damaged, or of another descent (other starts, keys, budget or records), is passed over. Who is
    done with the result removes the file.

    **Arguments:**

    - `path`: the file, in the form of safetensors; its folder is made when it is needed.
    - `seconds`: how often it is written, between two segments.
    """

    path: Path
    seconds: float = 30.0

    def __post_init__(self) -> None:
        check_fields(self, path=path, seconds=number(infinite=True))
        object.__setattr__(self, "path", Path(self.path))
        if not self.seconds >= 0:
            raise ValueError(
                f"seconds: received {self.seconds!r}, it must be at least 0; write for instance "
                "Checkpoint(path, seconds=30)"
            )


@dataclass
class Keeper:
    """A checkpoint at work: whose it is, and when it was last written."""

    checkpoint: Checkpoint
    owner: str
    written: float = field(default_factory=time.monotonic)

    def load(self) -> dict[str, np.ndarray] | None:
        """What was saved of this very descent; None if there is nothing."""
        try:
            file = os.fdopen(open_regular(self.checkpoint.path), "rb", buffering=0)
            with ArrayFile(file, ValueError) as stored:
                mine = stored.metadata.get(_OWNER) == self.owner
                return stored.arrays() if mine else None
        except (OSError, ValueError):
            return None

    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self.written >= self.checkpoint.seconds

    def save(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the file, whole or not at all."""
        self.checkpoint.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.checkpoint.path, encoded(arrays, {_OWNER: self.owner}))
        self.written = time.monotonic()


def keeper_of(checkpoint: Checkpoint | None, *trees: PyTree) -> Keeper | None:
    """The keeper for a descent that is told from others by the numbers in `trees`."""
    if checkpoint is None:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for leaf in jax.tree.leaves(trees):
        array = np.asarray(leaf)
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return Keeper(checkpoint, digest.hexdigest())


def flat(name: str, tree: PyTree) -> dict[str, np.ndarray]:
    """The arrays of a tree under numbered names."""
    leaves = jax.tree.leaves(tree)
    return {f"{name}/{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}


def unflat(name: str, stored: Mapping[str, np.ndarray], like: PyTree) -> Any:
    """The tree again, in the form of another one."""
    leaves = [stored[f"{name}/{place}"] for place in range(len(jax.tree.leaves(like)))]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)
