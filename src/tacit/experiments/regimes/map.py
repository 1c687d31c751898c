"""regimes/map (ours): where gradient descent on linear RNNs extrapolates, and where it cannot.

The comparison: how well a student continues its teacher beyond the k lags that it was trained on,
and how large a state space it uses, against k and against γ₀, at the same training error. One
paper finds that wide linear RNNs learn filters with a short memory, another that they find the
teacher's state space from k > 2d̂ lags; both are corners of this map.

A student extrapolates if its relative error on the lags after k is below ½. The sides of the border
are taken with room: κ ≤ 0.3 is the kernel side and κ ≥ 1.3 the rich one, between which a trial saw
the error pass ½ in nine settings.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.descent import BoundedStep
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Shade, VerticalRule
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import (
    KERNEL,
    LEVEL,
    LONGEST,
    ORDER,
    PLACE,
    RICH,
    RegimeExperiment,
)
from tacit.measures import crossing

EDGE = 2 * ORDER


class Map(RegimeExperiment):
    """Error beyond k and Hankel rank of a linear RNN, against k and γ₀ at one train error."""

    id, figure = "regimes/map", "ours: kernel and lowdim in one plane"

    length: tuple[int, ...] = swept(
        (4, 6, 7, 8, 10, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    gamma0: tuple[float, ...] = swept(
        (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        "γ₀ = γ/√n, what decides between the regimes",
        low=1e-4,
        high=10.0,
    )
    seed: tuple[int, ...] = swept(range(10), "seed of the student's start", low=0)
    width: int = fixed(96, "hidden units n of the student", low=2, high=2000)

    presets = {
        "smoke": dict(
            length=(4, 8, 10), gamma0=(0.03, 0.3, 3), seed=range(2), width=32, steps=2000
        ),
        "quick": dict(length=(4, 6, 8, 12), gamma0=(0.01, 0.1, 0.3, 1.0, 10.0), seed=range(40)),
        "paper": dict(seed=range(30)),
    }
    chunk = {"seed": 5}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        return self.train(
            batch,
            BoundedStep(self.fraction),
            width=self.width,
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
        )

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, cells = Claims(PLACE), ("length", "gamma0")
        error, kappa = self.counted(runs, "error"), runs["kappa"]
        length = error["length"]
        rich = error.where((length > EDGE) & (kappa >= RICH))
        claim.median(
            "long and rich: extrapolates",
            rich.median(cells, skipna=True),
            at_most=LEVEL,
            says=f"With k > 2d̂ = {EDGE} and κ ≥ {RICH}, the median relative error over all "
            f"such cells is at most {LEVEL}, in the median over seeds.",
        )
        claim.median(
            "long and rich: everywhere",
            rich.max(cells),
            at_most=LEVEL,
            says=f"With k > 2d̂ = {EDGE} and κ ≥ {RICH}, the worst relative error over all "
            f"such cells is at most {LEVEL}, in the median over seeds.",
        )
        claim.median(
            "long but kernel: does not",
            error.where((length > EDGE) & (kappa <= KERNEL)).min(cells),
            at_least=LEVEL,
            says=f"With k > 2d̂ but κ ≤ {KERNEL}, the best relative error over all such cells "
            f"is at least {LEVEL}.",
        )
        claim.median(
            "short: does not, at any γ₀",
            error.where(length < EDGE).min(cells),
            at_least=LEVEL,
            says=f"With k < 2d̂, the best relative error over all γ₀ is at least {LEVEL}.",
        )
        claim.median(
            "k = 2d̂: does not, at any γ₀",
            error.where(length == EDGE).min(cells),
            at_least=LEVEL,
            says=f"With k = 2d̂ exactly, the best relative error over all γ₀ is at least {LEVEL}.",
        )
        self._claim_falls(claim, error)
        self._claim_ranks(claim, runs)
        threshold = self.thresholds(runs).median("length", skipna=True)
        words = "For k > 2d̂ the error passes ½ at a κ of order one: in the median over lengths it"
        claim.median(
            f"threshold: κ above {KERNEL}",
            threshold,
            at_least=KERNEL,
            says=f"{words} is at least {KERNEL}.",
        )
        claim.median(
            f"threshold: κ below {RICH}",
            threshold,
            at_most=RICH,
            says=f"{words} is at most {RICH}.",
        )
        claim.median(
            "runs converge",
            self.counts(runs).mean(cells),
            at_least=0.9,
            says=f"In most seeds at least 90% of the runs reach a relative train error of "
            f"{self.goal:g} within {self.steps:,} steps.",
        )
        return claim

    def _claim_falls(self, claim: Claims, error: xarray.DataArray) -> None:
        """From k = 2d̂ to the longest: a fall on the rich side, none on the kernel side."""
        longest, low, high = max(self.length), min(self.gamma0), max(self.gamma0)
        if EDGE not in self.length or longest <= EDGE:
            return
        ratio = error.sel(length=EDGE) / error.sel(length=longest)
        claim.median(
            "rich: length helps",
            ratio.sel(gamma0=high),
            at_least=5,
            says=f"At γ₀ = {high:g} the error falls at least fivefold from k = 2d̂ to "
            f"k = {longest}.",
        )
        claim.median(
            "kernel: length does not help",
            ratio.sel(gamma0=low),
            at_most=1.25,
            says=f"At γ₀ = {low:g} the error at k = 2d̂ is at most 1.25 times that "
            f"at k = {longest}.",
        )

    def _claim_ranks(self, claim: Claims, runs: xarray.Dataset) -> None:
        """The teacher's order on the rich side, the filter's length on the kernel side."""
        rank, low, high = self.counted(runs, "rank"), min(self.gamma0), max(self.gamma0)
        rank = rank.where(rank["length"] > EDGE, drop=True)
        kernel, rich = rank.sel(gamma0=low), rank.sel(gamma0=high)
        claim.median(
            "rich: the teacher's order",
            (rich == ORDER).where(rich.notnull()).mean("length"),
            at_least=0.5,
            says=f"At γ₀ = {high:g}, in most seeds, at least half of the students with k > 2d̂ "
            f"have Hankel rank {ORDER}.",
        )
        claim.median(
            "kernel: a filter of k taps",
            (kernel >= kernel["length"] - 1).where(kernel.notnull()).mean("length"),
            at_least=0.5,
            says=f"At γ₀ = {low:g}, in most seeds, at least half of the students with k > 2d̂ "
            "have a Hankel rank of k − 1 or more.",
        )

    def thresholds(self, runs: xarray.Dataset) -> xarray.DataArray:
        """κ at which the error first falls to ½ along γ₀, by (length, seed); NaN if it never does.

        The logarithm of κ is interpolated between the two neighbours on the grid.
        """
        runs = runs.sortby("gamma0").transpose("length", "seed", "gamma0", ...)
        runs = runs.isel(length=np.flatnonzero(runs["length"] > EDGE))
        error = self.counted(runs, "error")
        found = crossing(
            runs["kappa"], error, LEVEL, falling=True, log_x=True, never=np.nan, at_start=np.nan
        )
        return error.isel(gamma0=0, drop=True).copy(data=found)

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["length", "gamma0"])
        lengths, small = ordered["length"].values, ordered.sizes["length"] * len(self.gamma0) <= 120
        borders = self._borders(ordered)
        error, rank = "relative error on the lags after k", "Hankel rank"
        look: dict[str, Any] = dict(annotate=small, marks=borders)
        cut = Panel(
            "the same errors against κ",
            Axis("κ = γ₀ × the teacher's norm in the kernel", scale="log"),
            Axis(error, limits=(0, None)),
            [
                VerticalRule(1.0, label="κ = 1", colour="warning", style="solid"),
                HorizontalRule(LEVEL, label="½"),
                *self.along_kappa(ordered, "error", Shade.family(len(lengths)), dotted=EDGE),
            ],
            note="dotted: k ≤ 2 × order; bands: the middle half of the starts",
        )
        return Figure(
            "Two theories, one map: extrapolation needs a long enough sequence and a rich enough "
            "start",
            [
                self.plane(
                    ordered, "error", "how wrong beyond k", label=error, limits=(0.0, 1.0), **look
                ),
                self.plane(ordered, "rank", "how large a state space", label=rank, **look),
                cut,
                self.responses(ordered, int(lengths[-1]), "what the two corners learned"),
            ],
            columns=2,
            caption=f"Linear RNNs of width {self.width} with their output divided by γ = γ₀ √n and "
            f"centred, trained on the first k lags of a teacher of order {ORDER} until their "
            f"relative error there is {self.goal:g}. Medians over {len(self.seed)} "
            "starts. Gradient descent with an adaptive step; for γ₀ > 1 the rate of W is divided "
            f"by γ₀. Error: on the {self.tail} lags after k, relative to the teacher's. Rank: "
            f"Hankel singular values above {self.tolerance:.0%} of the largest. "
            "Red: κ = 1, where κ is γ₀ times the teacher's norm in the kernel, computed without "
            "training; dashed: k = 2 × order. Hatched: fewer than half of the runs converged."
            f"{self.unconverged(runs)}",
            size=(11.0, 8.6),
        )

    def _borders(self, runs: xarray.Dataset) -> list[Mark]:
        """κ = 1 as predicted, a step line through the rows, and k = 2d̂."""
        lengths = runs["length"].values
        rows = np.arange(len(lengths), dtype=float)
        # κ is proportional to γ₀, so that any column tells where it is 1.
        first = runs.isel(gamma0=0)
        with np.errstate(divide="ignore"):
            edge = first["gamma0"].values / first["kappa"].median("seed").values
        steps = np.stack([rows - 0.5, rows + 0.5], axis=1).ravel()
        label = "κ = 1: the kernel begins to turn"
        marks: list[Mark] = [
            Line(np.repeat(edge, 2), steps, label=label, colour="warning", width=2.2)
        ]
        if lengths.min() <= EDGE < lengths.max():
            between = float(np.searchsorted(lengths, EDGE, side="right")) - 0.5
            marks.append(HorizontalRule(between, label="k = 2 × order", colour="ink"))
        return marks
