"""What a descent returns: the models, how each lane ended, and what was seen on the way."""

import collections
import dataclasses
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from tacit._notebook import few_lines, html_table

if TYPE_CHECKING:
    import xarray

M = TypeVar("M")


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Where the time of a descent went."""

    seconds: float
    segments: int
    programs: int  # distinct compiled shapes (bucket sizes)
    lane_steps: int  # steps of lanes that were still running


@dataclasses.dataclass(frozen=True)
class DescentResult(Generic[M]):
    """The end of a descent.

    `model` is the last iterate and `best` the one with the lowest loss: under Adam they differ, and
    either may extrapolate better. With lanes every array has a leading lane axis and the models
    are `Lanes`; for one model the arrays are scalars.
    """

    model: M
    best: M
    loss: np.ndarray  # of the last iterate
    best_loss: np.ndarray
    best_step: np.ndarray  # the first one with that loss
    steps: np.ndarray  # updates made
    outcome: np.ndarray  # words: converged, stopped, diverged, stalled
    record_steps: np.ndarray  # empty when times were asked for
    records: dict[str, np.ndarray]  # name -> (lane, record, …)
    report: dict[str, np.ndarray]  # what the method reports: a flow's time and accuracy
    statistics: Statistics
    record_times: np.ndarray | None = None  # those that `Record.at_times` asked for

    def __repr__(self) -> str:
        return few_lines(self._headline(), (f"{name:<10}{words}" for name, words in self._rows()))

    def _repr_html_(self) -> str:
        return html_table((), self._rows(), caption=self._headline())

    def _headline(self) -> str:
        ends = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        return f"DescentResult: {ends}" if np.ndim(self.loss) else f"DescentResult: {self.outcome}"

    def _rows(self) -> list[tuple[str, str]]:
        """What there is, name and words."""
        rows = [("loss", _span(self.loss)), ("best", _span(self.best_loss))]
        rows += [("steps", _span(self.steps))]
        if self.records:
            count = len(self.record_steps) if self.record_times is None else len(self.record_times)
            rows += [("records", f"{', '.join(self.records)}, each at {count} moments")]
        if self.report:
            rows += [("report", ", ".join(self.report))]
        spent = self.statistics
        rows += [("took", f"{spent.seconds:.1f} s, {spent.lane_steps:,} steps of lanes")]
        return [*rows, ("see", "model, best, outcome, to_xarray()")]

    @property
    def outcomes(self) -> dict[str, int]:
        """How many lanes ended in each way."""
        return dict(collections.Counter(np.atleast_1d(self.outcome).tolist()))

    def to_xarray(self) -> "xarray.Dataset":
        """The numbers of the result as a labelled dataset; see `Lanes.grid` for the labels.

        - `loss`, `best_loss`, `best_step`, `steps` and `outcome` have the grid's axes as their
          dimensions, or `lane` without a grid, or none for one model.
        - `recorded_loss` and the other records have `step` (or `time`) after these, and then their
          own axes, `<name>_0`, `<name>_1`, …
        - `report_time` and so on are what the method reports of each lane.
        """
        from tacit.descent._labelled import as_dataset

        return as_dataset(self)


def _span(values: np.ndarray) -> str:
    """One number, or the least, the median and the largest of several."""
    finite = np.ravel(values)[np.isfinite(np.ravel(values))]
    if not finite.size:
        return "not a number"
    low, high = finite.min(), finite.max()
    if low == high:
        return f"{low:.6g}"
    return f"{low:.3g} … {high:.3g}, median {np.median(finite):.3g}"
