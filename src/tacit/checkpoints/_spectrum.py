"""The spectrum of a change: all of it, or what leads and the exact norm of the rest."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from tacit import measures
from tacit._doors import door, real, whole
from tacit._tensors import BLOCK, blocks
from tacit.checkpoints._noise_edge import Edge, noise_edge
from tacit.checkpoints._range_finder import leading

SMALL = 1024  # the shorter side up to which all singular values are computed
LEADING = 64  # how many are sought beyond it
_HUGE = 1e150  # its square is finite
EXACT = 1e-3  # the relative error up to which a value is kept


@dataclass(frozen=True)
class Spectrum:
    """Singular values of a change (rows × columns).

    `values` are the largest, each within `bounds` of its own size; `rest` is the norm of all that
    is not in them, √(‖Δ‖² − Σ values²), and `following` the next value, less exact and from below.
    If all are known, both are 0 and `complete` is True.
    """

    rows: int
    columns: int
    values: np.ndarray
    bounds: np.ndarray
    rest: float
    following: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether all singular values are known."""
        return self.values.size == min(self.rows, self.columns)

    @property
    def norm(self) -> float:
        """‖Δ‖ in Frobenius' norm."""
        return float(np.hypot(np.linalg.norm(self.values), self.rest))

    @property
    def stable_rank(self) -> float:
        """‖Δ‖² / σ₁², which the leading value and the norm give; 0 for no change."""
        if self.complete:
            return float(measures.stable_rank_from_singular_values(self.values))
        largest = float(self.values[0]) if self.values.size else self.following
        return (self.norm / largest) ** 2 if largest else 0.0

    @property
    def effective_rank(self) -> float:
        """`measures.effective_rank`; if only the leading values are known, an estimate.

        The estimate has the rest spread evenly over all values that are not known. Nothing spreads
        it further, so that a steeper end has a smaller rank.
        """
        return float(measures.effective_rank_from_singular_values(self._spread()))

    def rank_for(self, tolerance: float) -> int:
        """The smallest rank that leaves at most `tolerance` of the norm out; an estimate beyond
        the values that are known, as in `effective_rank`.
        """
        squares = self._spread() ** 2
        left = np.concatenate([np.cumsum(squares[::-1])[::-1], [0.0]])
        return int(np.argmax(left <= tolerance**2 * left[0]))

    def edge(self) -> Edge:
        """Where noise ends, and how many values stand out of it (see `noise_edge`)."""
        return noise_edge(self.values, self.rest, self.following, self.rows, self.columns)

    def _spread(self) -> np.ndarray:
        left = min(self.rows, self.columns) - self.values.size
        if not left:
            return self.values
        level = self.rest / np.sqrt(left)
        if self.values.size:  # none that is not known is larger than the last that is
            level = min(level, float(self.values[-1]))
        return np.concatenate([self.values, np.full(left, level)])


@door(answer="any", change=real(2), count=whole(1, 65_536))
def spectrum(change: np.ndarray, *, count: int = LEADING) -> Spectrum:
    """The spectrum of a finite matrix: all of it if the shorter side is at most 1,024.

    Then as roots of the eigenvalues of ΔᵀΔ in float64, as `measures.mean_layer_ranks` does: what
    is below 1e-7 of the largest is lost. Else about `count` leading values, those of them whose
    error is at most a thousandth by the bound of `_range_finder`.
    """
    array = np.asarray(change)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    largest = float(np.abs(array).max())
    if largest > _HUGE:
        raise ValueError(
            f"change: received entries up to {largest:.3g}, they must not be larger than {_HUGE:g}"
        )
    return spectrum_of(array, count)


def spectrum_of(change: np.ndarray, count: int) -> Spectrum:
    """`spectrum` of what is known to be finite, in float32 or float64: nothing is copied."""
    rows, columns = change.shape
    if min(rows, columns) <= SMALL:
        values = np.sqrt(np.maximum(linalg.eigvalsh(gram(change))[::-1], 0.0))
        return Spectrum(rows, columns, values, np.full(values.size, 1e-6), 0.0)
    norm = norm_of(change)
    if not norm:
        return Spectrum(rows, columns, np.zeros(0), np.zeros(0), 0.0)
    found = leading(change, count)
    good = int(np.argmax(np.append(found.bounds > EXACT, True)))
    good = min(good, count)
    values, bounds = found.values[:good], found.bounds[:good]
    rest = float(np.sqrt(max(0.0, norm**2 - float(np.sum(values**2)))))
    if rest < 1e-3 * EXACT * norm:  # the rounding of a change of exactly low rank
        rest = 0.0
    following = float(found.values[good]) if rest else 0.0
    return Spectrum(rows, columns, values, bounds, rest, following)


def gram(change: np.ndarray) -> np.ndarray:
    """ΔᵀΔ or ΔΔᵀ, the smaller one, in float64."""
    tall = change.shape[0] >= change.shape[1]
    side = min(change.shape)
    total = np.zeros((side, side))
    for start, stop in blocks(max(change.shape), side):
        part = np.asarray(change[start:stop] if tall else change[:, start:stop].T, np.float64)
        total += part.T @ part
    return total


def norm_of(change: np.ndarray) -> float:
    """‖Δ‖ in Frobenius' norm, summed in float64."""
    flat = change.reshape(-1)
    parts = (
        float(np.sum(np.square(flat[start:stop], dtype=np.float64)))
        for start, stop in blocks(flat.size, most=BLOCK)
    )
    return float(np.sqrt(sum(parts)))
