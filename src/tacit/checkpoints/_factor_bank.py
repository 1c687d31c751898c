"""The factors of all changes, kept on disk at the largest rank that may be needed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg

from tacit._tensors import Spec, blocks, write_tensors
from tacit.checkpoints._delta import Delta
from tacit.checkpoints._matrices import Layout, as_matrix, layout_of
from tacit.checkpoints._range_finder import leading
from tacit.checkpoints._spectrum import SMALL, gram, norm_of

MOST_RANK = 512
"""The largest rank that is sought for matrices with more than 1,024 on the shorter side."""
_FIRST = 32  # the rank that is sought there first
_ROWS = 1 << 19  # numbers of a block that is put back together in float64


@dataclass(frozen=True)
class Factors:
    """One change as left @ right, at the largest rank that is kept; its first r are rank r.

    `left` (rows, k) and `right` (k, columns) are in the tensor's own dtype; `values` (k,) are the
    singular values that they stand for, and `norm` is ‖Δ‖.
    """

    layout: Layout
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray
    norm: float

    @property
    def most(self) -> int:
        """The largest rank there is."""
        return self.values.size

    def left_out(self) -> np.ndarray:
        """For each rank 0 … most, the share of the norm that it leaves out, before rounding."""
        if not self.norm:
            return np.zeros(self.most + 1)
        kept = np.append(0.0, np.cumsum(self.values**2)) / self.norm**2
        return np.sqrt(np.maximum(0.0, 1.0 - kept))

    def rank_for(self, tolerance: float) -> int | None:
        """The smallest rank that leaves at most `tolerance` out; None if none here does."""
        enough = np.flatnonzero(self.left_out() <= tolerance)
        return int(enough[0]) if enough.size else None

    def bytes(self, rank: int) -> int:
        """What the factors take at a rank."""
        return rank * (self.layout.rows + self.layout.columns) * self.left.dtype.itemsize


class FactorBank:
    """What was changed between two checkpoints, and the factors of what is a matrix.

    `factored` are the names with factors, `whole` those that are stored as they are (vectors,
    other dtypes, matrices too small to gain, what is not finite), `unchanged` the rest.

    `tolerance` is the smallest share of a norm that will be asked for, `rank` the largest rank;
    both limit what is computed. The factors lie in `folder`, mapped when they are used.
    """

    def __init__(
        self, pair: Delta, folder: Path, *, tolerance: float = 0.0, rank: int | None = None
    ) -> None:
        self.pair, self._folder = pair, folder
        self._tolerance, self._rank = tolerance, rank
        self.factored: dict[str, Factors] = {}
        self.whole: list[str] = []
        self.unchanged: set[str] = set()
        for name, spec in pair.specs.items():
            if not pair.is_changed(name):
                self.unchanged.add(name)
                continue
            layout = layout_of(spec.shape)
            made = None
            if layout is not None and layout.break_even and name in pair:
                made = self._made(name, layout)
            if made is None:
                self.whole.append(name)
            else:
                self.factored[name] = made

    @property
    def bytes_after(self) -> int:
        """What all tensors of AFTER take."""
        return sum(spec.bytes for spec in self.pair.specs.values())

    def bytes_of(self, ranks: Mapping[str, int | None]) -> int:
        """What is stored with these ranks, None for a tensor stored whole, without the header."""
        total = sum(self.pair.specs[name].bytes for name in self.whole)
        for name, factors in self.factored.items():
            rank = ranks[name]
            total += self.pair.specs[name].bytes if rank is None else factors.bytes(rank)
        return total

    def ranks_for(self, tolerance: float) -> dict[str, int | None]:
        """The rank of each tensor that leaves at most `tolerance` of its own norm out."""
        return {name: one.rank_for(tolerance) for name, one in self.factored.items()}

    def ranks_at(self, rank: int) -> dict[str, int | None]:
        """The same rank for all; None where factors of that rank are larger than the tensor."""
        return {
            name: rank if rank <= one.layout.break_even and rank <= one.most
            else (one.most if one.most < one.layout.break_even else None)
            for name, one in self.factored.items()
        }  # fmt: skip

    def rows(self, name: str, rank: int | None) -> Iterator[np.ndarray]:
        """A tensor put back with its change at a rank, piece by piece, in its own dtype.

        Products and sums are in float64 and rounded once, so that they are the same wherever
        float64 products are, up to the last bit of float64.
        """
        spec, after = self.pair.specs[name], self.pair.after
        if rank is None or name not in self.factored:
            source = self.pair.before if name in self.unchanged else after
            for start, stop in blocks(spec.size):
                yield source.numbers(name, start, stop)
            return
        factors = self.factored[name]
        yield from put_back(
            spec,
            factors.layout,
            lambda start, stop: self.pair.before.numbers(name, start, stop),
            factors.left[:, :rank],
            factors.right[:rank],
        )

    def error(self, name: str, rank: int | None) -> float:
        """‖put back − AFTER‖, as rounded to the tensor's dtype."""
        if rank is None or name not in self.factored:
            return 0.0
        at, total = 0, 0.0
        for piece in self.rows(name, rank):
            end = self.pair.after.numbers(name, at, at + piece.size).astype(np.float64)
            end -= piece.astype(np.float64)
            total += float(np.dot(end, end))
            at += piece.size
        return float(np.sqrt(total))

    def write_candidate(self, path: Path, ranks: Mapping[str, int | None]) -> None:
        """All weights with the changes at these ranks, as one safetensors file."""
        write_tensors(path, self.pair.specs, lambda name: self.rows(name, ranks.get(name, None)))

    def _made(self, name: str, layout: Layout) -> Factors | None:
        """The factors of one tensor, on disk; None if its change is not finite or too large."""
        change = as_matrix(self.pair[name], layout)
        norm = norm_of(change)
        if not np.isfinite(norm) or not norm:
            return None
        most = layout.break_even if self._rank is None else min(self._rank, layout.break_even)
        found = _decomposed(change, norm, most, self._tolerance)
        del change
        dtype = self.pair.specs[name].dtype
        number = len(self.factored)
        left, right = (
            _mapped(self._folder / f"{number}-{side}.npy", part, dtype)
            for side, part in zip(("left", "right"), found[:2], strict=True)
        )
        finite = all(np.isfinite(part.astype(np.float32)).all() for part in (left, right))
        return Factors(layout, left, right, found[2], norm) if finite else None


def put_back(
    spec: Spec,
    layout: Layout,
    before: Callable[[int, int], np.ndarray],
    left: np.ndarray,
    right: np.ndarray,
) -> Iterator[np.ndarray]:
    """BEFORE + left @ right by blocks of rows, rounded once to the tensor's dtype."""
    wide = right.astype(np.float64)
    for start, stop in blocks(layout.rows, layout.columns, most=_ROWS):
        part = left[start:stop].astype(np.float64) @ wide
        flat = part.reshape(-1)
        flat += before(start * layout.columns, stop * layout.columns).astype(np.float64)
        with np.errstate(over="ignore"):
            yield flat.astype(spec.dtype)


def _decomposed(
    change: np.ndarray, norm: float, most: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """left, right and values: each side has the root of the value."""
    rows, columns = change.shape
    if not most:
        return change[:, :0], change[:0], np.zeros(0)
    if min(rows, columns) <= SMALL:
        squares, vectors = linalg.eigh(gram(change))
        vectors = vectors[:, ::-1][:, :most].astype(change.dtype)
        if rows >= columns:
            left, right = change @ vectors, vectors.T
        else:
            left, right = vectors, vectors.T @ change
        values = np.sqrt(np.maximum(squares[::-1][:most], 0.0))
    else:
        most = min(most, MOST_RANK)
        count = min(most, _FIRST if tolerance else most)
        while True:
            found = leading(change, count, bounded=False)
            left, right, values = found.basis, found.projected, found.values
            left, right, values = left[:, :most], right[:most], values[:most]
            out = 1.0 - float(np.sum(values[:count] ** 2)) / norm**2
            if count >= most or (tolerance and out <= tolerance**2):
                break
            count = min(most, 2 * count)
        left, right, values = left[:, :count], right[:count], values[:count]
    used = values > 1e-7 * values.max(initial=0.0)
    left, right, values = left[:, used], right[used], values[used]
    # One side is orthonormal, the other carries the values: share them.
    root = np.sqrt(values).astype(change.dtype)
    if rows >= columns and min(rows, columns) <= SMALL:
        return left / root, right * root[:, None], values
    return left * root, right / root[:, None], values


def _mapped(path: Path, part: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The part in another dtype, on disk, as bytes that are mapped: read when they are used."""
    with np.errstate(over="ignore"):
        part = np.ascontiguousarray(part, dtype)
    if not part.size:
        return part
    part.tofile(path)
    return np.memmap(path, np.uint8, "r").view(dtype).reshape(part.shape)
