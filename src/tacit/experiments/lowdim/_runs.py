"""The runs of a figure that sweeps the training length, as its claims look at them."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.store import ITERATE, LENGTH, METHOD, SEED, SINGULAR_VALUE, TEACHER

if TYPE_CHECKING:
    import xarray


class Runs:
    """The runs of one width at one horizon, with those that did not train left out."""

    def __init__(self, dataset: "xarray.Dataset", *, order: int, gate: float) -> None:
        self._edge = 2 * order
        self._lengths = {int(length) for length in dataset[LENGTH].values}
        self._dataset = dataset
        trained = dataset["train_loss"] <= gate * dataset["zero_loss"]
        self._error = dataset["relative_error"].where(trained)

    def _errors(self, teacher: str, method: str, iterate: str) -> "xarray.DataArray":
        return self._error.sel({TEACHER: teacher, METHOD: method, ITERATE: iterate})

    def at(self, teacher: str, method: str, iterate: str, length: int) -> np.ndarray:
        """The errors of the seeds at one length; empty if it is not in the grid."""
        if length not in self._lengths:
            return np.zeros(0)
        values = self._errors(teacher, method, iterate).sel({LENGTH: length}).values
        return values[~np.isnan(values)]

    def jump(self, teacher: str, method: str, iterate: str) -> np.ndarray:
        """Error at k = 2d̂ over error at k = 2d̂ + 1, seed by seed."""
        if not {self._edge, self._edge + 1} <= self._lengths:
            return np.zeros(0)
        errors = self._errors(teacher, method, iterate)
        ratio = (
            errors.sel({LENGTH: self._edge}).values / errors.sel({LENGTH: self._edge + 1}).values
        )
        return ratio[~np.isnan(ratio)]

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
