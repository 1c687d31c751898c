"""What the kernel of the start says of state-space students, and whether it was right.

κ and the predicted change of the kernel are known before training. Do they order the settings, and
where does the kernel's own prediction of the response end?
"""

from functools import lru_cache

import numpy as np
import xarray
from scipy.stats import spearmanr

from tacit.draw import Axis, HorizontalRule, Line, Panel, Points, VerticalRule
from tacit.experiments import Claims
from tacit.experiments.regimes.state_space import NAMES, StateSpaceExperiment, teacher_response
from tacit.theory.regimes import kernel_norm, wide_error

AS_IS, CENTRED = "as it is", "centred"
KAPPAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # at which the linear RNN is computed
LAZY, RICH = 0.1, 1.0  # changes of the kernel, predicted, with room between
SATURATES = (
    "the distance saturates where the kernel has turned, and stays small with A frozen, whatever "
    "the change: there it ranks nothing"
)


class PredictedExperiment(StateSpaceExperiment):
    """State-space students with what their kernel at the start predicts."""

    def unpredicted(self, runs: xarray.Dataset) -> str:
        """How many runs have no finite predicted change, in words; empty if none."""
        lost = int((np.isnan(runs["change"]) & self.counts(runs)).sum())
        words = "whose kernel would change beyond double precision"
        return f"{lost} of {runs['change'].size} runs, {words}, are left out" if lost else ""

    def claim_collapse(self, claim: Claims, runs: xarray.Dataset) -> None:
        """κ joins nothing; the predicted change of the kernel says where its prediction ends."""
        error, distance = (self.counted(runs, name) for name in ("error", "distance"))
        kappa, change, lost = runs["kappa"], runs["change"], self.unpredicted(runs)
        cells = [dim for dim in error.dims if dim != "seed"]
        near = error.where((kappa >= 0.5) & (kappa <= 2))
        claim.median(
            "no one curve in κ",
            near.max(cells) / near.min(cells),
            at_least=3,
            says="Over all settings with κ from ½ to 2, the largest error is at least {bound} "
            "times the smallest.",
        )
        claim.median(
            "lazy: the kernel's prediction",
            distance.where(change <= LAZY).median(cells, skipna=True),
            at_most=0.25,
            says=f"Where the kernel would change by at most {LAZY:g}, responses beyond k are "
            "within {bound} of the prediction's own error from it, in the median over settings.",
            note=lost,
        )
        claim.median(
            "rich: no longer",
            distance.where(change >= RICH).median(cells, skipna=True),
            at_least=0.5,
            says=f"Where it would change by {RICH:g} or more, they are at least {{bound}} of that "
            "away.",
            note=lost,
        )
        by_change, by_kappa = (
            rank_correlation(x, distance.where(np.isfinite(change))) for x in (change, kappa)
        )
        claim.median(
            "the change orders the settings",
            by_change,
            at_least=0.7,
            says="Over all settings, the rank correlation of the kernel's predicted change with "
            "the distance from its prediction is at least {bound}.",
            fails_because=f"{SATURATES}; {lost}" if lost else SATURATES,
        )
        claim.median(
            "κ orders them less well",
            by_change - by_kappa,
            at_least=0.0,
            says="The rank correlation of κ with that distance is lower than that.",
            note=lost,
        )

    def predicted_panels(self, runs: xarray.Dataset, linear: xarray.DataArray) -> list[Panel]:
        """Error against κ, beside the linear RNN's, and where the kernel's prediction ends."""
        lines = [
            Line(
                np.array(KAPPAS),
                linear.sel(length=k).values,
                colour="ink",
                style="dashed",
                label="linear RNN" if k == runs["length"].values[0] else None,
            )
            for k in runs["length"].values
        ]
        return [
            Panel(
                "no one curve in κ",
                Axis("κ, predicted", scale="log"),
                Axis("relative error beyond k", scale="log"),
                [
                    *self._points(runs, "kappa", "error"),
                    *lines,
                    HorizontalRule(1.0, label="predicting zero"),
                ],
            ),
            Panel(
                "where the kernel's prediction ends",
                Axis("change of the kernel, predicted", scale="log"),
                Axis("distance from the kernel's prediction", scale="log"),
                [
                    *self._points(runs, "change", "distance"),
                    VerticalRule(LAZY),
                    VerticalRule(RICH),
                ],
            ),
        ]

    def _points(self, runs: xarray.Dataset, x: str, y: str) -> list[Points]:
        """The medians of every setting, by start; hollow where outputs are centred."""

        def centre(values: xarray.DataArray, start: str, output: str) -> np.ndarray:
            found: np.ndarray = values.sel(start=start, output=output).median("seed").values
            return found.ravel().clip(1e-4)

        outputs, counted = runs["output"].values, self.counted(runs, y)
        return [
            Points(
                centre(runs[x], start, output),
                centre(counted, start, output),
                label=NAMES[start] if output == outputs[0] else None,
                colour=colour,
                filled=output == AS_IS,
                size=4.5,
            )
            for colour, start in enumerate(runs["start"].values)
            for output in outputs
        ]


@lru_cache(maxsize=64)
def linear_errors(length: int, tail: int) -> tuple[float, ...]:
    """Errors beyond k of infinitely wide linear RNNs (ν_W = ½) on the same teacher at each κ."""
    target = teacher_response(length + tail)
    norm = kernel_norm(target, length=length, nu_w=0.5)
    return tuple(wide_error(target, kappa / norm, length=length, nu_w=0.5) for kappa in KAPPAS)


def rank_correlation(one: xarray.DataArray, other: xarray.DataArray) -> xarray.DataArray:
    """Spearman's rank correlation over all cells of a seed, by seed."""
    cells = [dim for dim in one.dims if dim != "seed"]
    values = [a.stack(cell=cells).transpose("seed", "cell").values for a in (one, other)]
    found = []
    for x, y in zip(*values, strict=True):
        known = np.isfinite(x) & np.isfinite(y)
        found.append(spearmanr(x[known], y[known]).statistic if known.sum() > 5 else np.nan)
    return xarray.DataArray(found, {"seed": one["seed"].values}, ("seed",))
