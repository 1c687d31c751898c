"""How well each column is filled, beside its mean: on entries that were held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Floats = np.ndarray

# Held-out entries' worth of doubt, with the errors of all columns: much where columns are alike, so
# that few ratings of an item do not speak against it, and little where each has a unit of its own.
_ALIKE, _OWN = 5.0, 1.0
_WHOLE = 0.95  # a trust above it is whole: the model is exact but for rounding
_MOST = 1e100  # an error that counts, in deviations: squares of larger ones overflow


@dataclass(frozen=True)
class Missed:
    """Held-out entries of one trial: their columns, and by how much model and mean missed them."""

    columns: np.ndarray
    model: Floats
    mean: Floats


@dataclass(frozen=True)
class ColumnErrors:
    """Root mean squared errors on held-out entries, over the deviation of the entry's column.

    - `overall`: of all held-out entries; NaN if there are none.
    - `errors`: of each column; NaN where nothing was held out.
    - `trust`: how far each column is filled by the model, 1, and how far by its mean, 0.
    """

    overall: float
    errors: Floats
    trust: Floats

    @property
    def by_means(self) -> np.ndarray:
        """The numbers of the columns that are filled by their mean."""
        return np.flatnonzero(self.trust == 0)

    @classmethod
    def unknown(cls, columns: int) -> "ColumnErrors":
        """Nothing was held out."""
        return cls(float("nan"), np.full(columns, np.nan), np.ones(columns))

    @classmethod
    def of(cls, trials: Sequence[Missed], deviations: Floats, *, drawn: bool) -> "ColumnErrors":
        """From some trials; `deviations` are of each column, 0 for a constant one.

        A column in which the model misses by more than the mean is filled by its mean. Few entries
        tell little: it is judged by its own and by a few more with the errors of the table. Errors
        e of the model and b of the mean give mean + α (model − mean) the least squares at
        α = Σ b (b − e) / Σ (b − e)², at least ½ where the model is better. Columns are `drawn` so
        far, or not at all; an α of few entries is near 1. A constant column is measured in the
        median of the others' deviations.
        """
        places = np.concatenate([one.columns for one in trials])
        if not places.size:
            return cls.unknown(len(deviations))
        positive = deviations[deviations > 0]
        usual = float(np.median(positive)) if positive.size else 1.0
        over = np.where(deviations > 0, deviations, usual)[places]
        own, mean = (
            np.clip(np.concatenate([getattr(one, name) for one in trials]) / over, -_MOST, _MOST)
            for name in ("model", "mean")
        )
        gain = mean - own

        def total(squares: Floats | None) -> Floats:
            return np.asarray(np.bincount(places, squares, len(deviations)), np.float64)

        count, own_squares, mean_squares = total(None), total(own**2), total(mean**2)
        errors = np.sqrt(own_squares / np.where(count > 0, count, np.nan))
        doubt = _OWN if drawn else _ALIKE
        worse = own_squares + doubt * np.mean(own**2) > mean_squares + doubt * np.mean(mean**2)
        moved = total(gain**2)
        share = np.clip(total(mean * gain) / np.where(moved > 0, moved, 1.0), 0.5, 1.0)
        share[moved == 0] = 1.0
        trust = (count * share + doubt) / (count + doubt) if drawn else np.ones(len(count))
        trust[trust > _WHOLE] = 1.0
        trust[worse] = 0.0
        return cls(float(np.sqrt(np.mean(own**2))), errors, trust)
