"""The runs of a figure that sweeps the training length, as its claims look at them."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.store import ITERATE, LAG, LENGTH, METHOD, SEED, SINGULAR_VALUE, TEACHER

if TYPE_CHECKING:
    import xarray


def trained(dataset: "xarray.Dataset", gate: float) -> "xarray.DataArray":
    """Which runs count: their loss is at most `gate` times that of the zero response.

    Where the target is zero over the training length (a delay line's is at first), the zero
    response has no loss to compare with: the energy of the whole target takes its place.
    """
    whole = (dataset["target"] ** 2).sum([d for d in dataset["target"].dims if d in _OF_A_TARGET])
    scale = dataset["zero_loss"].where(dataset["zero_loss"] > 0, whole)
    return dataset["train_loss"] <= gate * scale


_OF_A_TARGET = (LAG, "output", "input")


class Series:
    """A number of every run, by length and seed, with those that do not count as NaN."""

    def __init__(self, values: "xarray.DataArray") -> None:
        self.lengths = [int(length) for length in values[LENGTH].values]
        self.table = values.transpose(LENGTH, SEED).values  # (length, seed)

    def _row(self, length: int) -> np.ndarray:
        if length not in self.lengths:
            return np.full(self.table.shape[1], np.nan)
        return self.table[self.lengths.index(length)]

    def at(self, length: int) -> np.ndarray:
        """The values of the seeds at one length; empty if it is not in the grid."""
        row = self._row(length)
        return row[~np.isnan(row)]

    def ratio(self, first: int, second: int) -> np.ndarray:
        """The value at one length over that at another, seed by seed."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self._row(first) / self._row(second)
        return ratio[~np.isnan(ratio)]

    def needed(self, level: float) -> np.ndarray:
        """The length from which on no value exceeds `level`, seed by seed; infinite if none.

        Runs that do not count are passed over: a seed needs the length from which its counting
        runs are good, and one without such a run at the longest length needs more than there is.
        """
        order = np.argsort(self.lengths)
        found = []
        for column in self.table[order].T:
            good = (column <= level) | np.isnan(column)
            tail = np.logical_and.accumulate(good[::-1])[::-1] & ~np.isnan(column)
            places = np.flatnonzero(tail)
            found.append(self.lengths[order[places[0]]] if places.size else np.inf)
        return np.asarray(found, dtype=float)


class Runs:
    """The runs of one width at one horizon, with those that did not train left out."""

    def __init__(self, dataset: "xarray.Dataset", *, order: int, gate: float) -> None:
        self._edge = 2 * order
        self._dataset = dataset
        counts = dataset["train_loss"] <= gate * dataset["zero_loss"]
        self._error = dataset["relative_error"].where(counts)

    def _errors(self, teacher: str, method: str, iterate: str) -> "xarray.DataArray":
        return self._error.sel({TEACHER: teacher, METHOD: method, ITERATE: iterate})

    def at(self, teacher: str, method: str, iterate: str, length: int) -> np.ndarray:
        """The errors of the seeds at one length; empty if it is not in the grid."""
        return Series(self._errors(teacher, method, iterate)).at(length)

    def jump(self, teacher: str, method: str, iterate: str) -> np.ndarray:
        """Error at k = 2d̂ over error at k = 2d̂ + 1, seed by seed."""
        return Series(self._errors(teacher, method, iterate)).ratio(self._edge, self._edge + 1)

    def fall(self, teacher: str, method: str, iterate: str) -> np.ndarray:
        """Typical (median) error above the threshold over that below it, seed by seed."""
        errors = self._errors(teacher, method, iterate)
        above = errors.where(errors[LENGTH] > self._edge)
        below = errors.where(errors[LENGTH] <= self._edge)
        ratio = above.median(LENGTH, skipna=True).values / below.median(LENGTH, skipna=True).values
        return ratio[~np.isnan(ratio)]

    def worst_above(self, teacher: str, method: str, iterate: str) -> np.ndarray:
        """The largest error over the lengths above the threshold, seed by seed."""
        errors = self._errors(teacher, method, iterate)
        worst = errors.where(errors[LENGTH] > self._edge).max(LENGTH).values
        return worst[~np.isnan(worst)]

    def resolved(self, teacher: str, method: str, iterate: str) -> np.ndarray:
        """How many Hankel singular values exceed √loss, seed by seed (median over k > 2d̂)."""
        chosen = self._dataset.sel({TEACHER: teacher, METHOD: method})
        left = np.sqrt(chosen["train_loss"].sel({ITERATE: iterate}))
        count = (chosen["hankel"] > left).sum(SINGULAR_VALUE).where(np.isfinite(left))
        above = count.where(count[LENGTH] > self._edge)
        values = above.median(LENGTH, skipna=True).values
        return values[~np.isnan(values)]

    def zero_loss_counts(self, teacher: str, method: str) -> list[tuple[int, int]]:
        """(converged, all) polishes for lengths up to 2d̂, and above."""
        words = self._dataset["polish_outcome"].sel({TEACHER: teacher, METHOD: method})
        sides = (words[LENGTH] <= self._edge, words[LENGTH] > self._edge)
        return [
            (int((words.isel({LENGTH: np.flatnonzero(side)}) == "converged").sum()),
             int(side.sum()) * words.sizes[SEED])
            for side in sides
        ]  # fmt: skip
