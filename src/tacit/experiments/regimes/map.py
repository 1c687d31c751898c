"""regimes/map (ours): where gradient descent on linear RNNs extrapolates, and where it cannot.

The comparison: how well a student continues its teacher beyond the k lags that it was trained on,
and how large a state space it uses, against k and against γ₀, at the same training error. One
paper finds that wide linear RNNs learn filters with a short memory, another that they find the
teacher's state space from k > 2d̂ lags; both are corners of this map.

A student extrapolates if its relative error on the lags after k is below ½. The border is that of
an infinitely wide student, computed without training (χ = γ₀/γ₀*, see regimes/border). Its sides
are taken with room: χ ≤ ¼ and χ ≥ 4.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Line,
    Mark,
    Panel,
    Shade,
    VerticalRule,
    median_lines,
)
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import (
    KERNEL,
    LEVEL,
    LIMIT,
    LONGEST,
    NEAR,
    ORDER,
    PLACE,
    RICH,
    RegimeExperiment,
    border,
)
from tacit.measures import crossing
from tacit.store import Variable

EDGE = 2 * ORDER


class Map(RegimeExperiment):
    """Error beyond k and Hankel rank of a linear RNN, against k and γ₀ at one train error."""

    id, figure = "regimes/map", "ours: kernel and lowdim in one plane"
    version = 2
    unspecific = {
        "*: follows the limit": "a distance is from the limit of its own run, and changes places "
        "with it; that errors are the limit's is claimed against theory that stays",
    }
    finding = Finding(
        "With k > 2d̂ students well beyond the border of theory (χ ≥ 4) extrapolate, with an error "
        "of {rich|holds} at worst; well below it (χ ≤ ¼) they do not, with {kernel|holds} at best.",
        "With fewer than 2d̂ − 1 lags none does at any γ₀: the best error is {short|holds}.",
        "The error passes ½ at χ = {chi|holds|.2f}, and over the whole map students of this width "
        "are {distance|holds} of the teacher away from infinitely wide ones.",
        rich="long and rich: extrapolates",
        kernel="long but kernel: does not",
        short="short: does not, at any γ₀",
        chi="the border in χ: not less",
        distance="all k: follows the limit",
    )

    length: tuple[int, ...] = swept(
        (4, 6, 7, 8, 10, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    gamma0: tuple[float, ...] = swept(
        (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        "γ₀ = γ/√n, what decides between the regimes",
        low=1e-4,
        high=10.0,
    )
    seed: tuple[int, ...] = swept(range(100, 130), "seed of the student's start", low=0)
    width: int = fixed(96, "hidden units n of the student", low=2, high=2000)

    presets = {
        "smoke": dict(length=(4, 8), gamma0=(0.03, 0.3, 3), seed=range(100, 102), width=32),
        "quick": dict(
            length=(4, 6, 8, 12), gamma0=(0.01, 0.1, 0.3, 1.0, 10.0), seed=range(100, 130)
        ),
        "paper": {},
    }
    chunk = {"seed": 5}

    def variables(self) -> dict[str, Variable]:
        return {**super().variables(), **LIMIT, "chi": Variable("χ = γ₀/γ₀*, predicted")}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        length, gamma0 = batch.column("length"), batch.column("gamma0")
        found = self.train(batch, width=self.width, gamma0=gamma0, length=length)
        limit = self.beside_the_limit(found["response"], gamma0=gamma0, length=length)
        at = [border("modes", k, self.nu_w, self.tail, self.goal) for k in length.tolist()]
        return {**found, **limit, "chi": gamma0 / np.array(at)}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, cells = Claims(PLACE), ("length", "gamma0")
        error, chi = self.counted(runs, "error"), runs["chi"]
        length = error["length"]
        claim.median(
            "long and rich: extrapolates",
            error.where((length > EDGE) & (chi >= RICH)).max(cells),
            at_most=LEVEL,
            says=f"With k > 2d̂ = {EDGE} and χ ≥ {RICH:g}, the worst relative error over all "
            "such cells is at most {bound}.",
        )
        claim.median(
            "long but kernel: does not",
            error.where((length > EDGE) & (chi <= KERNEL)).min(cells),
            at_least=LEVEL,
            says=f"With k > 2d̂ but χ ≤ {KERNEL}, the best relative error over all such cells "
            "is at least {bound}.",
        )
        claim.median(
            "short: does not, at any γ₀",
            error.where(length < EDGE - 1).min(cells),
            at_least=LEVEL,
            says="With k < 2d̂ − 1, the best relative error over all γ₀ is at least {bound}.",
        )
        distance = self.counted(runs, "distance")
        for name, among in (("all k", length > 0), ("k = 2d̂", length == EDGE)):
            claim.median(
                f"{name}: follows the limit",
                distance.where(among).median(cells, skipna=True),
                at_most=NEAR,
                says=f"Over the map ({name}), students are at most {{bound}} of the teacher away, "
                "beyond k, from infinitely wide ones, in the median over cells.",
            )
        claim.median(
            "errors are the limit's",
            abs(error - runs["wide_error"]).median(cells, skipna=True),
            at_most=NEAR / 2,
            says="Over the map the error beyond k differs by at most {bound} from that of an "
            "infinitely wide student, in the median over cells.",
        )
        self._claim_falls(claim, error)
        self._claim_ranks(claim, runs)
        claim.between(
            "the border in χ",
            self.thresholds(runs).median("length", skipna=True),
            at_least=0.5,
            at_most=2,
            says="For k > 2d̂ the error passes ½ at χ between ½ and 2, in the median over lengths.",
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
            says=f"At γ₀ = {high:g} the error falls at least by a factor of {{bound}} from k = 2d̂ "
            f"to k = {longest}.",
        )
        claim.median(
            "kernel: length does not help",
            ratio.sel(gamma0=low),
            at_most=1.25,
            says=f"At γ₀ = {low:g} the error at k = 2d̂ is at most {{bound}} times that at k = "
            f"{longest}.",
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
        """χ at which the error first falls to ½ along γ₀, by (length, seed); NaN if it never does.

        The logarithm of χ is interpolated between the two neighbours on the grid.
        """
        runs = runs.sortby("gamma0").transpose("length", "seed", "gamma0", ...)
        runs = runs.isel(length=np.flatnonzero(runs["length"] > EDGE))
        error = self.counted(runs, "error")
        found = crossing(
            runs["chi"], error, LEVEL, falling=True, log_x=True, never=np.nan, at_start=np.nan
        )
        return error.isel(gamma0=0, drop=True).copy(data=found)

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["length", "gamma0"])
        lengths, small = ordered["length"].values, ordered.sizes["length"] * len(self.gamma0) <= 120
        borders = self._borders(ordered)
        error, rank = "relative error on the lags after k", "Hankel rank"
        look: dict[str, Any] = dict(annotate=small, marks=borders)
        cut = Panel(
            "the same errors against χ",
            Axis("χ = γ₀/γ₀*, from theory", scale="log"),
            Axis(error, limits=(0, None)),
            [
                VerticalRule(1.0, label="χ = 1", colour="warning", style="solid"),
                HorizontalRule(LEVEL, label="½"),
                *self._along_chi(ordered),
            ],
            note="dashed: infinitely wide students; bands: the middle half of the starts",
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
            f"starts, gradient flow. Error: on the {self.tail} lags after k, relative to the "
            f"teacher's. Rank: Hankel singular values above {self.tolerance:.0%} of the largest. "
            "Red: χ = 1, where the error of an infinitely wide student is ½, computed without "
            "training; dashed: k = 2 × order. Hatched: fewer than half of the runs converged."
            f"{self.unconverged(runs)}",
            size=(11.0, 8.6),
        )

    def _along_chi(self, runs: xarray.Dataset) -> list[Mark]:
        """Errors against χ, a line for each length that has a border, and those of the limit."""
        marks, shades = list[Mark](), Shade.family(runs.sizes["length"])
        for shade, k in zip(shades, runs["length"].values, strict=True):
            one = runs.sel(length=k)
            places = one["chi"].median("seed").values
            if places.max() > 0:
                values = self.counted(one, "error").assign_coords(gamma0=places)
                marks += median_lines(values, "gamma0", label=f"k = {k}", colour=shade)
                limit = one["wide_error"].median("seed").values
                marks.append(Line(places, limit, colour=shade, style="dashed", width=1.0))
        return marks

    def _borders(self, runs: xarray.Dataset) -> list[Mark]:
        """χ = 1 as predicted, a step line through the rows, and k = 2d̂."""
        lengths = runs["length"].values
        rows = np.arange(len(lengths), dtype=float)
        first = runs.isel(gamma0=0)  # χ is proportional to γ₀: any column tells where it is 1
        chi = first["chi"].median("seed").values
        edge = np.divide(first["gamma0"].values, chi, out=np.full(len(rows), np.nan), where=chi > 0)
        steps = np.stack([rows - 0.5, rows + 0.5], axis=1).ravel()
        look: dict[str, Any] = dict(label="χ = 1, from theory", colour="warning", width=2.2)
        marks: list[Mark] = [Line(np.repeat(edge, 2), steps, **look)]
        if lengths.min() <= EDGE < lengths.max():
            between = float(np.searchsorted(lengths, EDGE, side="right")) - 0.5
            marks.append(HorizontalRule(between, label="k = 2 × order", colour="ink"))
        return marks
