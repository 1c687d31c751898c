"""regimes/rotation (ours): how far the kernel turns on the way.

The comparison: 1 − cosine between the kernel of the student at its start and at its end, against
γ₀, for several widths and lengths, beside the error beyond k. It lies between 0 and 1 whatever the
kernels' sizes; the relative change of the kernel, also stored, grows without end because the kernel
grows with γ₀ even where it has stopped turning.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.descent import GaussNewton, GradientFlow
from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Line,
    Panel,
    Points,
    Shade,
    VerticalRule,
    median_lines,
)
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import KERNEL, LEVEL, LONGEST, PLACE, RegimeExperiment

LEADING = 0.1  # κ up to which the leading order in γ₀ should do
BEYOND = (
    "higher orders: at κ = 0.3 the rotation is above its leading term already, since the kernel "
    "turns faster once it has begun to; up to κ = 0.1 it is nearer to the square"
)
SCATTER = "the slope of one seed scatters by about 0.4, more than its distance from the bound"
TURNED = (
    "the median is near 1 because at most γ₀ of the grid the kernel has turned at both widths; "
    "where it has hardly begun to, at γ₀ up to 0.1, a threefold width lowers the rotation to 0.3 "
    "to 0.7 of what it was"
)


class Rotation(RegimeExperiment):
    """How far the kernel turns against γ₀, at several widths and lengths."""

    id, figure = "regimes/rotation", "ours: the kernel turns"

    width: tuple[int, ...] = swept((48, 96, 192), "hidden units n", low=2)
    length: tuple[int, ...] = swept(
        (8, 10, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    gamma0: tuple[float, ...] = swept(
        (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0),
        "γ₀ = γ/√n",
        low=1e-4,
        high=10.0,
    )
    seed: tuple[int, ...] = swept(range(10), "seed of the student's start", low=0)
    steps: int = fixed(2_000, "cap on the steps of the flow's solver", low=1, high=10_000_000)
    rtol: float = fixed(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)

    presets = {
        "smoke": dict(width=32, length=10, gamma0=(0.01, 0.03, 0.3, 3.0), seed=range(2), steps=200),
        "quick": dict(
            width=(32, 96),
            length=(8, 12),
            gamma0=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
            seed=range(60),
        ),
        "paper": {},
    }
    batch_by = "width"
    chunk = {"seed": 10}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        return self.train(
            batch,
            GradientFlow(GaussNewton(), rtol=self.rtol, atol=self.rtol),
            width=batch.one("width"),
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
        )

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, turned = Claims(PLACE), self.counted(runs, "rotation")
        for level, because in ((LEADING, ""), (KERNEL, BEYOND)):
            slopes = self.slopes_below(runs, level)
            words = (
                f"For κ ≤ {level:g} the angle is proportional to γ₀, so that the "
                "rotation grows like its square: the slope in a log-log plot, in the median over "
                "widths and lengths, is"
            )
            claim.median(
                f"κ ≤ {level:g}: slope at least 1.8",
                slopes,
                at_least=1.8,
                says=f"{words} at least 1.8.",
            )
            claim.median(
                f"κ ≤ {level:g}: slope at most 2.2",
                slopes,
                at_most=2.2,
                says=f"{words} at most 2.2.",
                fails_because=because,
                note=SCATTER,
            )
        narrow, wide, top = min(self.width), max(self.width), max(self.gamma0)
        ratio = turned.sel(width=wide) / turned.sel(width=narrow)
        ratio = ratio.median(("length", "gamma0"), skipna=True)
        words = f"At the same γ₀ the rotation at n = {wide} is at"
        times = f"times that at n = {narrow}, in the median over lengths and γ₀."
        claim.median(
            "one γ₀: width lowers it little",
            ratio,
            at_least=1 / 1.5,
            says=f"{words} least {1 / 1.5:.2f} {times}",
            note=TURNED,
        )
        claim.median(
            "one γ₀: width raises it little",
            ratio,
            at_most=1.5,
            says=f"{words} most {1.5:.2f} {times}",
        )
        claim.median(
            "rotation is bounded",
            turned.sel(gamma0=top).max(("width", "length")),
            at_most=1,
            says=f"At γ₀ = {top:g} the rotation is still at most 1.",
        )
        claim.median(
            "relative change is not",
            self.counted(runs, "change").sel(gamma0=top).min(("width", "length")),
            at_least=1,
            says=f"At γ₀ = {top:g} the relative change of the kernel exceeds 1.",
        )
        return claim

    def slopes_below(self, runs: xarray.Dataset, level: float) -> xarray.DataArray:
        """Slopes of log rotation against log γ₀ where κ ≤ level: one for each seed.

        It is the median over those widths and lengths that have two points or more.
        """
        turned = self.counted(runs, "rotation").where(runs["kappa"] <= level)
        turned = turned.transpose("width", "length", "seed", "gamma0")
        scale = np.log(turned["gamma0"].values)

        def slope(row: np.ndarray) -> float:
            used = row > 0
            return np.polyfit(scale[used], np.log(row[used]), 1)[0] if used.sum() >= 2 else np.nan

        slopes = turned.isel(gamma0=0, drop=True).copy(
            data=np.apply_along_axis(slope, -1, turned.values)
        )
        return slopes.median(("width", "length"), skipna=True)

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["width", "length", "gamma0"])
        n, k, gamma0 = max(self.width), max(self.length), ordered["gamma0"].values
        longest, error = ordered.sel(length=k), self.counted(ordered, "error").sel(length=k)
        turned = self.counted(longest, "rotation")
        square = turned.median("seed").median("width").values[0] * (gamma0 / gamma0[0]) ** 2
        shown = square <= 1
        changes = {"rotation": "rotation", "change": "relative change, ‖G − G⁰‖/‖G⁰‖"}
        x, angle = Axis("γ₀ = γ/√n", scale="log"), "rotation, 1 − cosine"
        by_width = Panel(
            f"one curve at all widths, k = {k}",
            x,
            Axis(angle, scale="log", limits=(None, 1.5)),
            [
                *median_lines(turned, "gamma0", by="width", label="n = {width}"),
                Line(
                    gamma0[shown], square[shown], label="∝ γ₀²", colour="reference", style="dashed"
                ),
            ],
        )
        by_length = Panel(
            f"it begins at κ of order one, n = {n}",
            Axis("κ = γ₀ × the teacher's norm in the kernel", scale="log"),
            Axis(angle, limits=(0, 1)),
            [
                VerticalRule(1.0, label="κ = 1", colour="warning", style="solid"),
                *self.along_kappa(ordered.sel(width=n), "rotation", range(len(self.length))),
            ],
        )
        change = Panel(
            "why rotation: the relative change has no end",
            x,
            Axis("of the kernel", scale="log"),
            [
                HorizontalRule(1.0, label="1"),
                *(
                    mark
                    for colour, (name, label) in enumerate(changes.items())
                    for mark in median_lines(
                        self.counted(longest.sel(width=n), name),
                        "gamma0",
                        label=label,
                        colour=colour,
                    )
                ),
            ],
            note=f"n = {n}, k = {k}",
        )
        buys = Panel(
            f"what turning buys, k = {k}",
            Axis(angle, scale="log", limits=(None, 1.5)),
            Axis("relative error on the lags after k", limits=(0, None)),
            [
                HorizontalRule(LEVEL, label="error ½"),
                *(
                    Points(
                        turned.sel(gamma0=scale).values.ravel(),
                        error.sel(gamma0=scale).values.ravel(),
                        label=f"γ₀ = {scale:g}",
                        colour=shade,
                        size=4.5,
                        opacity=0.75,
                    )
                    for shade, scale in zip(Shade.family(len(gamma0)), gamma0, strict=True)
                ),
            ],
            note="every start of every width",
        )
        return Figure(
            "The kernel turns at κ of order one, at every width",
            [by_width, by_length, change, buys],
            columns=2,
            caption="1 − cosine between the kernels (Gram matrices of the trained lags) of start "
            "and end, between 0 and 1. Linear RNNs with centred outputs, trained by gradient flow "
            f"on the teacher of regimes/map until their relative train error is {self.goal:g}. "
            f"Lines are medians over {len(self.seed)} starts, bands the middle half."
            f"{self.unconverged(runs)}",
            size=(10.4, 8.4),
        )
