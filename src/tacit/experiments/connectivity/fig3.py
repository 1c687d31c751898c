"""connectivity, Figure 3: a linear network learns one input–output value.

The comparison: loss and singular values of ΔW over the learning time, in simulation, as the exact
flow predicts them (ours) and in the paper's third-order theory, for two targets and with and
without initial connectivity. Training is plain gradient descent on W at the trial's fixed point.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel
from tacit.experiments import Claims
from tacit.experiments.connectivity.linear import SCALED, CurvesExperiment, mean_marks, until
from tacit.theory.connectivity import output_series

FAR = {(0.5, 0.6): 0.11, (2.0, 0.0): 0.13, (2.0, 0.6): 0.32}
"""Targets and strengths of the paper at which third order is too far away from the exact curve for
large N, and how far."""
LATE = (
    "The series' radius of convergence in τ ends before learning does, and third order with it: "
    "its largest distance from the exact curve for large N is {:.2f} of L₀."
)
CLOSE = (
    "Just at the bound: the largest distance is 0.099 of L₀ for the paper's steps of descent, and "
    "0.101 for gradient flow."
)


class Fig3(CurvesExperiment):
    """A linear network learns a value: simulation, exact flow and third-order theory."""

    id, figure = "connectivity/fig3", "Figure 3"

    presets = {
        "smoke": dict(width=60, seed=range(2), every=20),
        "quick": dict(width=256, seed=range(10)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, end = Claims("Figure 3 (ours)"), f"{self.fraction:.0%}"
        ratio = self.counted(runs, "learning_time") / runs["flow_time"]
        last = self.counted(runs, "singular").isel(step=-1)
        for target, g in ((target, g) for target in self.target for g in self.g):
            here = dict(target=target, g=g)
            name = f"ẑ = {target:g}, g = {g:g}"
            claim.median(
                f"exact flow, {name}",
                abs(ratio.sel(here) - 1),
                at_most=0.05,
                says=f"For {name}, simulation takes the time to {end} that its network's "
                "exact flow predicts: the median relative difference is 5% at most.",
            )
            claim.median(
                f"third order, {name}",
                self.series_gap(runs, target, g),
                at_most=0.1,
                place="Figure 3(b), (c)",
                says=f"For {name}, the third-order loss stays within a tenth of L₀ of the "
                f"median network's, each relative to its own L₀, until that has fallen to {end}.",
                fails_because=LATE.format(FAR[target, g]) if (target, g) in FAR else "",
                note=CLOSE if (target, g) == (0.5, 0.0) else "",
            )
            first, second = (last.sel(here).sel(singular_value=k) for k in (1, 2))
            claim.median(
                f"rank one, {name}",
                second / first,
                at_most=0.1,
                place="Figure 3(d), (e)",
                says=f"For {name}, one singular value of ΔW dominates at the end: the "
                "second is a tenth of the first at most, in the median.",
            )
        claim.median(
            "conservation laws",
            runs["drift"].max(["target", "g"]),
            at_most=1e-9,
            place="(ours)",
            says="Along the exact flow to the end of learning, P(I − W)ᵀ(I − W)P and its twin "
            "change by 1e-9 at most in any entry: the largest of a seed's networks, in the median.",
        )
        return claim

    def series_gap(self, runs: xarray.Dataset, target: float, g: float) -> xarray.DataArray:
        """For each network the largest |third order − loss| until learning ends, relative to L₀.

        L₀ is the network's own initial loss: it begins at an output of order 1/√N, which the theory
        for large N sets to zero. The end of learning lies between two stored epochs, and is looked
        at as well, since the series is on its way out there.
        """
        here = runs.sel(target=target, g=g)
        loss, ended = here["loss"], here["learning_time"]
        gaps = abs(here["series_loss"] - loss / loss.isel(step=0))
        reached = np.isfinite(ended)
        last = 1 - output_series(ended.where(reached, 0.0), target, g) / target
        at_end = ended.copy(data=np.abs(last**2 - self.fraction)).where(reached)
        found = np.fmax(gaps.where(here["time"] <= ended).max("step"), at_end)
        return found.where(self.counts(here))

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "Exact theory follows a linear network to the end; third order leaves it on the way",
            [
                *(self.loss_panel(runs, target) for target in self.target),
                *(self.singular_panel(runs, target) for target in self.target),
            ],
            columns=len(self.target),
            caption=f"N = {self.width}, {self.epochs} epochs of plain gradient descent on W, "
            f"η = η₀(1 − g²)², {len(self.seed)} seeds: mean and standard deviation. Exact: large "
            "N. Third-order curves end where they leave the panel; vertical lines: their radius of "
            "convergence.",
        )

    def singular_panel(self, runs: xarray.Dataset, target: float) -> Panel:
        """The first two singular values of ΔW against scaled time."""
        marks: list[Mark] = []
        highest = 1e-9
        for colour, g in enumerate(self.g):
            for number, words, width in ((1, "s₁", 2.4), (2, "s₂", 1.2)):
                chosen = dict(singular_value=number)
                simulated = self.curve(runs, "singular", target, g).sel(chosen)
                limit, series = (
                    self.theory(runs, name, target, g).sel(chosen)
                    for name in ("limit_singular", "series_singular")
                )
                highest = max(highest, float(simulated.mean("seed").max()))
                third = until(series, 1.3 * highest)
                marks += [
                    *mean_marks(simulated, f"g = {g:g}: {words}", colour, width),
                    Line(
                        limit.step,
                        limit,
                        label="exact, large N",
                        colour="ink",
                        style="dotted",
                    ),
                    Line(
                        series.step,
                        third,
                        label=None if colour or number > 1 else "third order",
                        colour=colour,
                        style="dashed",
                        width=1.2,
                    ),
                ]
        return Panel(
            f"singular values of ΔW, ẑ = {target:g}",
            Axis(SCALED, limits=(0, None)),
            Axis("singular value", limits=(0, None)),
            marks,
        )
