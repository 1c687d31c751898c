"""A descent on the disk, so that one that was killed goes on from near where it was."""

import os
import time
import uuid
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tacit._doors import check_fields, number, path
from tacit._files import open_regular, write_atomically
from tacit._tensors import ArrayFile, encoded
from tacit._types import PyTree
from tacit.descent._owner import NoOwnerError, owner_of

_OWNER = "owner"  # what the file belongs to


@dataclass(frozen=True)
class Checkpoint:
    """A file that holds a descent on its way; the same call of `descend` goes on from it.

    A descent that goes on takes the same steps as one that was never stopped. A file that is
    damaged, or of another descent (another loss, method, data, start, key, budget, record or
    precision, another tacit or JAX), is passed over. Who is done with the result removes the file.

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


def keeper_of(checkpoint: Checkpoint | None, kind: Hashable, *trees: PyTree) -> Keeper | None:
    """The keeper for a descent that is told from others by its program and the numbers in `trees`.

    `kind` is `static_kind(program)`. Where something in it has no content that another process
    could compare, such as a compiled function of a notebook, the descent cannot go on there.
    """
    if checkpoint is None:
        return None
    try:
        return Keeper(checkpoint, owner_of(kind, trees))
    except NoOwnerError as error:
        warnings.warn(
            f"checkpoint: {error} cannot be compared with that of another process, so this descent "
            "begins anew there; write it as a function of a file, without arrays of objects",
            stacklevel=4,
        )
        return Keeper(checkpoint, uuid.uuid4().hex)


def flat(name: str, tree: PyTree) -> dict[str, np.ndarray]:
    """The arrays of a tree under numbered names."""
    leaves = jax.tree.leaves(tree)
    return {f"{name}/{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}


def unflat(name: str, stored: Mapping[str, np.ndarray], like: PyTree) -> Any:
    """The tree again, in the form of another one."""
    leaves = [stored[f"{name}/{place}"] for place in range(len(jax.tree.leaves(like)))]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)
