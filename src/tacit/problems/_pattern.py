"""Observation patterns: which entries of a matrix are seen, and how they hang together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import jax
import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import ArrayLike

from tacit._types import PRNGKeyArray


@final
@dataclass(frozen=True, eq=False, init=False)
class Pattern:
    """The set Ω of observed entries, as a boolean mask (rows, columns), True where observed.

    Its graph (depth, def. 1) has a vertex for every row and every column and an edge for every
    observed entry. Rows and columns without any entry are isolated vertices and are left out; the
    pattern is connected when the rest is.
    """

    mask: Bool[np.ndarray, "rows columns"]

    def __init__(self, mask: ArrayLike) -> None:
        mask = np.array(mask)  # a copy: the pattern is frozen, its mask too
        if mask.ndim != 2 or 0 in mask.shape:
            raise ValueError(f"mask must be a matrix (rows, columns), got the shape {mask.shape}")
        if mask.dtype != np.bool_:
            if mask.dtype.kind not in "iuf" or not np.isin(mask, (0, 1)).all():
                raise ValueError(
                    f"mask must hold booleans (or 0 and 1), got the dtype {mask.dtype}; "
                    "for a matrix with missing entries pass ~np.isnan(matrix)"
                )
            mask = mask.astype(bool)
        if not mask.any():
            raise ValueError("mask must observe at least one entry, got none")
        mask.flags.writeable = False
        object.__setattr__(self, "mask", mask)

    @classmethod
    def of(cls, observed: Any) -> "Pattern":
        """The pattern itself, or the one with this mask."""
        return observed if isinstance(observed, cls) else cls(observed)

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the matrix."""
        return self.mask.shape[0], self.mask.shape[1]

    @property
    def count(self) -> int:
        """|Ω|, the number of observed entries."""
        return int(self.mask.sum())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and np.array_equal(self.mask, other.mask)

    def __hash__(self) -> int:
        return hash((self.shape, self.mask.tobytes()))

    def __le__(self, other: "Pattern") -> bool:
        """Whether every entry of this pattern is in the other one."""
        return self.shape == other.shape and bool(np.all(other.mask | ~self.mask))

    def components(self) -> Int[np.ndarray, "rows columns"]:
        """The connected component of every observed entry, numbered from 0, and −1 elsewhere.

        Numbers follow the first entry of each component, row by row.
        """
        from scipy.sparse import coo_array  # not above: slow to import
        from scipy.sparse.csgraph import connected_components

        rows, columns = self.shape
        i, j = np.nonzero(self.mask)
        graph = coo_array((np.ones(i.size), (i, rows + j)), shape=(rows + columns,) * 2)
        # An isolated vertex makes a component of its own, which no entry belongs to.
        _, vertex = connected_components(graph, directed=False)
        _, first, label = np.unique(vertex[i], return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        numbered = np.full(self.shape, -1)
        numbered[i, j] = order[label]
        return numbered

    @property
    def component_count(self) -> int:
        """The number of connected components, isolated rows and columns not counted."""
        return int(self.components().max()) + 1

    @property
    def is_connected(self) -> bool:
        """Whether every observed entry can be reached from every other through rows and columns."""
        return self.component_count == 1

    @classmethod
    def diagonal(cls, size: int) -> "Pattern":
        """The diagonal of a square matrix: `size` components (M_D in depth, fig. 1)."""
        _check_count("size", size)
        return cls(np.eye(size, dtype=bool))

    @classmethod
    def column(cls, rows: int, columns: int, *, index: int = 0) -> "Pattern":
        """One whole column: connected (M_C in depth, fig. 1, is column 0)."""
        _check_count("rows", rows)
        _check_count("columns", columns)
        if not 0 <= index < columns:
            raise ValueError(f"index must lie in [0, columns = {columns}), got {index!r}")
        mask = np.zeros((rows, columns), dtype=bool)
        mask[:, index] = True
        return cls(mask)

    @classmethod
    def block_diagonal(cls, blocks: int, block_size: int) -> "Pattern":
        """Square blocks along the diagonal: n of size s in an ns × ns matrix (depth, 3.2)."""
        _check_count("blocks", blocks)
        _check_count("block_size", block_size)
        return cls(np.kron(np.eye(blocks, dtype=bool), np.ones((block_size, block_size), bool)))

    @classmethod
    def random(cls, rows: int, columns: int, *, count: int, key: PRNGKeyArray) -> "Pattern":
        """`count` entries drawn uniformly without repetition.

        With one key, more entries contain fewer: see `nested`.
        """
        return cls.nested(rows, columns, counts=(count,), key=key)[0]

    @classmethod
    def nested(
        cls, rows: int, columns: int, *, counts: Sequence[int], key: PRNGKeyArray
    ) -> tuple["Pattern", ...]:
        """Random patterns with so many entries each, every one inside the next: Ω_pre ⊂ Ω_post."""
        _check_count("rows", rows)
        _check_count("columns", columns)
        for i, count in enumerate(counts):
            _check_count(f"counts[{i}]", count)
            if count > rows * columns or (i > 0 and count < counts[i - 1]):
                raise ValueError(
                    f"counts must not fall, nor pass rows × columns = {rows * columns}, "
                    f"got {tuple(counts)!r}"
                )
        order = np.asarray(jax.random.permutation(key, rows * columns))
        rank = np.empty(rows * columns, dtype=np.int64)
        rank[order] = np.arange(rows * columns)
        return tuple(cls((rank < count).reshape(rows, columns)) for count in counts)


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
