"""lowdim, Figure 6: impulse responses of dense students of a delay line.

The comparison: the teacher's response and the students', averaged over seeds, lag by lag, in the
setting of Figure 1(b) and with the same cells: k = 8 sees nothing but zeros, k = 18 leaves the
teacher after its last lag, k = 20 stays.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, VerticalRule, lines, median_lines
from tacit.experiments import Claims, Finding, fixed
from tacit.experiments.lowdim.fig1b import LOSSES, Fig1b


class Fig6(Fig1b):
    """Impulse responses of a delay line and of students trained on 8, 18 and 20 lags."""

    id, figure = "lowdim/fig6", "Figure 6"
    finding = Finding(
        "As the paper says, two more lags make the difference: trained on k = 2d̂ − 2 lags of a "
        "delay line the student is wrong beyond them by {leaves|holds} (the teacher's peak is 1), "
        "trained on 2d̂ by {stays|holds}.",
        "With k < d̂, where all that it sees is zero, it learns zero, to {zero|holds}.",
        leaves="k = 18: leaves",
        stays="k = 20: stays",
        zero="k = 8: learns zero",
    )
    unspecific = {}

    length: tuple[int, ...] = (8, 18, 20)
    horizons: tuple[int, ...] = fixed(
        (40,), "the lags k … horizon − 1 are drawn and compared", low=2, high=500
    )

    presets = {
        "smoke": dict(seed=(0, 1), steps=200),
        "quick": dict(seed=range(10), steps=10_000),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 6, appendix A.3")
        last = runs.isel(width=0, loss=0, horizon=0).sel(iterate="last")
        response, error = self.counted(last, "response"), self.counted(last, "error")
        gap = abs(response - last["target"])
        within = gap.where(gap["lag"] < gap["length"]).max("lag")
        for k in sorted(self.length):
            if k < self.order:
                claim.median(
                    f"k = {k}: learns zero",
                    abs(response).max("lag").sel(length=k),
                    at_most=0.01,
                    says=f"Trained on k = {k} < d̂ lags, all of them zero, the student stays below "
                    "{bound} at every lag.",
                )
                continue
            claim.median(
                f"k = {k}: tracks to k",
                within.sel(length=k),
                at_most=0.01,
                says=f"Trained on k = {k} lags, the student follows the teacher there to "
                f"{{bound}}.",
            )
            stays = k >= 2 * self.order
            claim.median(
                f"k = {k}: {'stays' if stays else 'leaves'}",
                error.sel(length=k),
                at_most=0.05 if stays else None,
                at_least=None if stays else 0.3,
                says=f"Trained on k = {k} lags, the student is wrong beyond them by at "
                f"{'most' if stays else 'least'} {{bound}}.",
            )
            if not stays:
                claim.median(
                    f"k = {k}: worse than zero",
                    error.sel(length=k),
                    at_least=1,
                    says=f"Trained on k = {k} lags, the student is wrong beyond them by at least "
                    "the error of the zero response, {bound} at the teacher's peak.",
                    place="appendix B.3",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        lags = np.arange(self.horizons[0])
        last = runs.isel(width=0, loss=0).sel(iterate="last", lag=lags)
        target = last["target"].isel(length=0, seed=0)
        averages: list[Mark] = [
            Line(lags, target.values, label="teacher", colour="reference", width=3.0)
        ]
        gaps: list[Mark] = []
        counts = []
        for colour, k in enumerate(sorted(self.length)):
            response = self.counted(last, "response").sel(length=k)
            trained = response.dropna("seed")
            counts.append(f"{trained.sizes['seed']} of {len(self.seed)} at k = {k}")
            style = ("dotted", "dashed", "solid")[colour % 3]
            rule = VerticalRule(k - 0.5, label=f"end of training, k = {k}", style=style)
            if trained.sizes["seed"]:
                average = trained.mean("seed")
                averages += lines(average, "lag", label=f"k = {k}, average", colour=colour)
            averages.append(rule)
            gap = abs(response - target)
            gaps += median_lines(gap, "lag", label=f"k = {k}", colour=colour, band=False)
            gaps.append(rule)
        distance = Axis("|student − teacher|", scale="log", limits=(1e-10, None))
        return Figure(
            "Two more lags make the difference",
            [
                Panel(
                    "impulse responses",
                    Axis("lag"),
                    Axis("impulse response", limits=(-1.6, 1.6)),
                    averages,
                ),
                Panel("distance from the teacher", Axis("lag"), distance, gaps),
            ],
            columns=2,
            caption=f"Delay line of order {self.order}, dense students of width {self.width[0]}, "
            f"{LOSSES[self.loss[0]]}, Adam {self.adam_rate:g}, at most {self.steps:,} steps, "
            f"stopped at a loss of {self.goal:g}. Averages and medians over the runs that trained: "
            f"{', '.join(counts)}. The left panel is cut at ±1.6, the right one at 1e-10.",
        )
