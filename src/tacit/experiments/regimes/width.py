"""regimes/width (ours): does a wider linear RNN extrapolate better or worse? It depends on γ.

The comparison: the error beyond k on the plane of the width n and of γ, by which the output is
divided. γ = 1 is the kernel paper's scaling: along it a wider network is closer to its kernel, and
extrapolation goes. Along γ ∝ √n, where γ₀ = γ/√n stays, width changes nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Heatmap, HorizontalRule, Line, Mark, Panel, median_lines
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import LEVEL, LONGEST, PLACE, RegimeExperiment


class Width(RegimeExperiment):
    """Error beyond k against width and γ: at γ = 1 widening destroys extrapolation."""

    id, figure = "regimes/width", "ours: the scaling that decides what width does"
    finding = Finding(
        "At γ = 1, the scaling of the kernel paper, widening takes the error beyond k from "
        "{narrow|holds} to {wide|holds}.",
        "Along γ ∝ √n, where γ₀ stays, four times the width changes it by a factor of "
        "{same|holds|.2f} in the median.",
        narrow="γ = 1, narrow: extrapolates",
        wide="γ = 1, wide: does not",
        same="one γ₀: width makes it no better",
    )

    width: tuple[int, ...] = swept((16, 32, 64, 128, 256, 512), "hidden units n", low=2, high=4096)
    gamma: tuple[float, ...] = swept(
        (0.25, 0.5, 1, 2, 4, 8, 16), "γ, by which the output is divided", low=1e-3, high=1000.0
    )
    seed: tuple[int, ...] = swept(range(10), "seed of the student's start", low=0)
    length: int = fixed(12, "training length k", low=2, high=LONGEST, units="lags")

    presets = {
        "smoke": dict(width=(16, 32), gamma=(0.5, 1, 2, 4), seed=range(3), length=8),
        "quick": dict(width=(16, 32, 64, 128, 256), gamma=(0.5, 1, 2, 4, 8), seed=range(20)),
        "paper": dict(seed=range(20)),
    }
    batch_by = "width"
    chunk = {"seed": 10}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        width, length = batch.one("width"), np.full(len(batch), self.length)
        gamma0 = batch.column("gamma") / np.sqrt(width)
        return self.train(batch, width=width, gamma0=gamma0, length=length)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error")
        narrow, wide = min(self.width), max(self.width)
        if 1.0 in self.gamma and narrow < wide:
            small, large = (error.sel(gamma=1.0, width=n) for n in (narrow, wide))
            claim.median(
                "γ = 1, narrow: extrapolates",
                small,
                at_most=LEVEL,
                says=f"At γ = 1 and n = {narrow} the relative error beyond k = "
                f"{self.length} is at most {{bound}}.",
            )
            claim.median(
                "γ = 1, wide: does not",
                large,
                at_least=LEVEL,
                says=f"At γ = 1 and n = {wide} it is at least {{bound}}: widening destroys "
                "extrapolation.",
            )
            claim.median(
                "γ = 1: widening makes it worse",
                large / small,  # seeds of two widths have nothing in common; any pairing will do
                at_least=2,
                says=f"At γ = 1 the error at n = {wide} is at least {{bound}} times that at n = "
                f"{narrow}.",
            )
        pairs = self.quadrupled(error)
        words = "From (n, γ) to (4n, 2γ), which has the same γ₀, the error becomes no"
        over = "times as large, in the median over all such pairs."
        worse, better = (f"one γ₀: width makes it no {word}" for word in ("worse", "better"))
        claim.median(
            worse,
            pairs,
            at_most=1.5,
            says=f"{words} more than {{bound:.2f}} {over}",
            note="among narrow students, up to n of about 32, the error still grows by a third to "
            "a half; from n = 64 on it does not",
        )
        claim.median(
            better, pairs, at_least=1 / 1.5, says=f"{words} less than {{bound:.2f}} {over}"
        )
        return claim

    def quadrupled(self, error: xarray.DataArray) -> xarray.DataArray:
        """Error at (4n, 2γ) over that at (n, γ): by seed, the median over all pairs on the grid."""
        ratios = [
            error.sel(width=4 * n, gamma=2 * gamma, drop=True)
            / error.sel(width=n, gamma=gamma, drop=True)
            for n in self.width
            for gamma in self.gamma
            if 4 * n in self.width and 2 * gamma in self.gamma
        ]
        if not ratios:  # no pair, no number: the claims stay undecided
            return error.isel(width=0, gamma=0, drop=True) * np.nan
        return xarray.concat(ratios, "pair").median("pair", skipna=True)

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["width", "gamma"])
        widths, gammas = ordered["width"].values.astype(float), ordered["gamma"].values
        x = Axis("hidden units n", scale="log", ticks={w: f"{w:g}" for w in widths})
        y = Axis("γ", scale="log", ticks={float(g): f"{g:g}" for g in gammas})
        table = np.round(self.medians(ordered, "error", "gamma", "width"), 2)
        label = "relative error on the lags after k"
        plane = Heatmap(widths, gammas, table, label=label, limits=(0, 1), annotate=True)
        borders = self._borders(ordered, x.edges(widths), y.edges(gammas))
        cuts = [HorizontalRule(LEVEL, label="½"), *self._cuts(self.counted(ordered, "error"))]
        return Figure(
            "Wider is lazier at γ = 1; along γ ∝ √n width matters little",
            [
                Panel("how wrong beyond k", x, y, [plane, *borders]),
                Panel(
                    "cuts: along γ = 1, and along one γ₀",
                    x,
                    Axis(label, limits=(0, None)),
                    cuts,
                    note="bands: the middle half of the starts",
                ),
            ],
            caption="Linear RNNs with their output divided by γ and centred, trained by gradient "
            f"flow on k = {self.length} lags of a teacher of order 3 until their relative error "
            f"there is {self.goal:g}. Medians over {len(self.seed)} starts. Oblique lines: "
            "γ = γ₀ √n at one κ, computed without training; dashed frame: γ = 1. "
            f"Hatched: fewer than half of the runs converged.{self.unconverged(runs)}",
            size=(11.4, 5.6),
        )

    def _borders(self, runs: xarray.Dataset, x: np.ndarray, y: np.ndarray) -> list[Mark]:
        """Lines of one κ, and a frame around γ = 1, so that the numbers in it can be read."""
        first, line = runs.isel(width=0, gamma=0), np.geomspace(x[0], x[-1], 60)
        gamma0 = float(first["gamma"]) / np.sqrt(float(first["width"]))  # κ is proportional to it
        marks: list[Mark] = []
        for kappa in (0.3, 1.0, 3.0):
            values = kappa * (gamma0 / float(first["kappa"].median("seed"))) * np.sqrt(line)
            inside = (values >= y[0]) & (values <= y[-1])
            look = ("κ = 1", "warning", 2.4) if kappa == 1.0 else ("κ = 0.3 and 3", "ink", 1.0)
            label, colour, thick = look
            if inside.sum() >= 2:
                part = line[inside], values[inside]
                marks.append(Line(*part, label=label, colour=colour, width=thick))
        for row in np.flatnonzero(runs["gamma"] == 1.0):
            frame, ends = "γ = 1: the kernel paper", y[row : row + 2]
            marks += [HorizontalRule(end, label=frame, colour="ink") for end in ends]
        return marks

    def _cuts(self, error: xarray.DataArray) -> list[Mark]:
        """The error along γ = 1, and along lines of one γ₀ from the narrowest student on."""
        widths, gammas, marks = error["width"].values, error["gamma"].values.tolist(), []
        if 1.0 in gammas:
            marks += median_lines(error.sel(gamma=1.0), "width", label="γ = 1", colour="warning")
        for colour, gamma in enumerate(g for g in gammas if g in (0.5, 1.0, 2.0, 4.0)):
            # Every fourfold width has twice the γ.
            pairs = [(w, gamma * np.sqrt(w / widths[0])) for w in widths]
            found = [
                error.sel(width=w, gamma=g).drop_vars("gamma") for w, g in pairs if g in gammas
            ]
            if len(found) >= 2:
                line, gamma0 = xarray.concat(found, "width"), gamma / np.sqrt(widths[0])
                label = f"γ₀ = {gamma0:g}"
                marks += median_lines(line, "width", label=label, colour=colour, style="dashed")
        return marks
