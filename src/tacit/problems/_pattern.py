"""Observation patterns: which entries of a matrix are seen, and how they hang together."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsInt, final

import jax
import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, each, key, text, whole
from tacit._types import PRNGKeyArray

_LARGEST_SIDE = 7  # 5,040 orders of the columns; 49 bits of a code
_MOST_CELLS = 20


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
            raise ValueError(
                f"mask: received the shape {mask.shape}, it must be a matrix (rows, columns)"
            )
        if mask.dtype != np.bool_:
            if mask.dtype.kind not in "iuf" or not np.isin(mask, (0, 1)).all():
                raise ValueError(
                    f"mask: received the dtype {mask.dtype}, it must hold booleans (or 0 and 1); "
                    "for a matrix with missing entries pass ~np.isnan(matrix)"
                )
            mask = mask.astype(bool)
        if not mask.any():
            raise ValueError("mask: received none, it must observe at least one entry")
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

    def canonical(self) -> "Pattern":
        """The same pattern for every order of the rows and columns, and of its transpose if square.

        Two patterns are alike, so that targets and starts drawn without regard to order cannot
        tell them apart, when their canonical forms are equal. Small matrices only: every order of
        the columns is tried.
        """
        rows, columns = self.shape
        if max(rows, columns) > _LARGEST_SIDE:
            raise ValueError(
                f"mask: received the shape {self.shape}, its larger side must be at most "
                f"{_LARGEST_SIDE}, since canonical tries every order of the columns"
            )
        code = _canonical_codes(self.mask[None])[0]
        return type(self)(_mask_of(int(code), rows, columns))

    def most_diagonal(self) -> "Pattern":
        """The pattern with its rows in the order that puts most entries on the diagonal.

        From α I the order of rows counts, and in this one the entries are most decoupled. Small
        matrices only: every order of the rows is tried.
        """
        if self.shape[0] > _LARGEST_SIDE:
            raise ValueError(
                f"mask: received the shape {self.shape}, it must have at most {_LARGEST_SIDE} "
                "rows, since most_diagonal tries every order of them; take fewer rows"
            )
        orders = itertools.permutations(range(self.shape[0]))
        return type(self)(
            self.mask[list(max(orders, key=lambda order: np.trace(self.mask[list(order)])))]
        )

    @classmethod
    @door(rows=whole(1), columns=whole(1), least=whole(1), most=whole(1))
    def classes(
        cls, rows: int, columns: int, *, least: int = 1, most: int | None = None
    ) -> tuple["Pattern", ...]:
        """Every pattern with `least` to `most` entries, alike ones (see `canonical`) once.

        3 × 3 with 2 to 8 entries: the 23 of depth, fig. 4. Ordered by entries, then by the binary
        number that the mask spells row by row.
        """
        _check_count("rows", rows)
        _check_count("columns", columns)
        _check_count("least", least)
        cells = rows * columns
        if cells > _MOST_CELLS:
            raise ValueError(
                f"rows × columns: received {rows} × {columns}, they must be at most {_MOST_CELLS}, "
                f"of which there are 2^{_MOST_CELLS} patterns; draw some with Pattern.random"
            )
        last = cells if most is None else most
        if not least <= last <= cells:
            raise ValueError(
                f"most: received {most!r}, it must lie between least = {least} and rows × columns "
                f"= {cells}"
            )
        every = np.arange(1, 2**cells, dtype=np.int64)
        every = every[np.isin(np.bitwise_count(every), np.arange(least, last + 1))]
        bits = every[:, None] >> np.arange(cells - 1, -1, -1) & 1
        kept = np.unique(_canonical_codes(bits.astype(bool).reshape(-1, rows, columns)))
        ordered = kept[np.argsort(np.bitwise_count(kept), kind="stable")]
        return tuple(cls(_mask_of(int(code), rows, columns)) for code in ordered)

    @classmethod
    @door(rows=whole(1), columns=whole(1), numbers=each(whole()))
    def numbered(
        cls, rows: int, columns: int, *, numbers: Iterable[SupportsInt]
    ) -> list["Pattern"]:
        """The patterns of these numbers in the list of all `classes` of this size, from 0 on."""
        known = cls.classes(rows, columns)
        wanted = [int(number) for number in numbers]
        wrong = [number for number in wanted if not 0 <= number < len(known)]
        if wrong:
            raise ValueError(
                f"numbers: received {wrong[0]}, there are {len(known)} patterns of a "
                f"{rows} × {columns} matrix, numbered from 0"
            )
        return [known[number] for number in wanted]

    @property
    def name(self) -> str:
        """The mask in words, row by row: `110.010.001`."""
        return ".".join("".join("01"[int(entry)] for entry in row) for row in self.mask)

    @classmethod
    @door(name=text)
    def named(cls, name: str) -> "Pattern":
        """The pattern with this `name`."""
        lines = name.split(".")
        if len({len(line) for line in lines}) != 1 or set(name) - set("01."):
            raise ValueError(
                f"name: received {name!r}, it must spell rows of 0 and 1 of one length, as in "
                "'10.01'"
            )
        return cls([[entry == "1" for entry in line] for line in lines])

    def with_entries(self, observed: ArrayLike) -> "Pattern":
        """Ω_post = Ω_pre ∪ the entries of another pattern or mask: this one lies inside it."""
        more = Pattern.of(observed)
        if more.shape != self.shape:
            raise ValueError(
                f"observed: received {more.shape}, it must have the shape {self.shape}"
            )
        return Pattern(self.mask | more.mask)

    @classmethod
    @door(size=whole(1, 100_000))
    def diagonal(cls, size: int) -> "Pattern":
        """The diagonal of a square matrix: `size` components (M_D in depth, fig. 1)."""
        _check_count("size", size)
        return cls(np.eye(size, dtype=bool))

    @classmethod
    @door(rows=whole(1, 100_000), columns=whole(1, 100_000), index=whole())
    def column(cls, rows: int, columns: int, *, index: int = 0) -> "Pattern":
        """One whole column: connected (M_C in depth, fig. 1, is column 0)."""
        _check_count("rows", rows)
        _check_count("columns", columns)
        if not 0 <= index < columns:
            raise ValueError(f"index: received {index!r}, it must lie in [0, columns = {columns})")
        mask = np.zeros((rows, columns), dtype=bool)
        mask[:, index] = True
        return cls(mask)

    @classmethod
    @door(blocks=whole(1, 10_000), block_size=whole(1, 10_000))
    def block_diagonal(cls, blocks: int, block_size: int) -> "Pattern":
        """Square blocks along the diagonal: n of size s in an ns × ns matrix (depth, 3.2)."""
        _check_count("blocks", blocks)
        _check_count("block_size", block_size)
        return cls(np.kron(np.eye(blocks, dtype=bool), np.ones((block_size, block_size), bool)))

    @classmethod
    @door(rows=whole(1, 100_000), columns=whole(1, 100_000), count=ANY, key=key)
    def random(cls, rows: int, columns: int, *, count: int, key: PRNGKeyArray) -> "Pattern":
        """`count` entries drawn uniformly without repetition.

        With one key, more entries contain fewer: see `nested`.
        """
        return cls.nested(rows, columns, counts=(count,), key=key)[0]

    @classmethod
    @door(rows=whole(1, 100_000), columns=whole(1, 100_000), counts=each(whole(1)), key=key)
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
                    f"counts: received {tuple(counts)!r}, they must not fall, nor pass rows × "
                    f"columns = {rows * columns}"
                )
        order = np.asarray(jax.random.permutation(key, rows * columns))
        rank = np.empty(rows * columns, dtype=np.int64)
        rank[order] = np.arange(rows * columns)
        return tuple(cls((rank < count).reshape(rows, columns)) for count in counts)


def _canonical_codes(masks: Bool[np.ndarray, "masks rows columns"]) -> Int[np.ndarray, " masks"]:
    """The least binary number that a mask spells in any order of its rows and columns."""
    _, rows, columns = masks.shape
    images = [masks, masks.transpose(0, 2, 1)] if rows == columns else [masks]
    best = None
    for image in images:
        for order in itertools.permutations(range(columns)):
            # The order of the rows that spells the least number is that of their own numbers.
            weights = 2 ** np.arange(columns - 1, -1, -1, dtype=np.int64)
            lines = np.sort(image[:, :, list(order)] @ weights, axis=1)
            code = np.zeros(len(masks), np.int64)
            for row in range(rows):
                code = (code << columns) | lines[:, row]
            best = code if best is None else np.minimum(best, code)
    assert best is not None  # there is an order
    return best


def _mask_of(code: int, rows: int, columns: int) -> Bool[np.ndarray, "rows columns"]:
    bits = [code >> place & 1 for place in range(rows * columns - 1, -1, -1)]
    return np.array(bits, bool).reshape(rows, columns)


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: received {value!r}, it must be a positive integer")
