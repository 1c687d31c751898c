"""regimes/rotation (ours): how far the kernel turns on the way.

The comparison: 1 − cosine between the kernel of the student at its start and at its end, against
γ₀, for several widths and lengths, beside that of an infinitely wide student. In the limit the
kernel changes by γ₀² G² to leading order (`tacit.theory.regimes.first_correction`), so that the
rotation grows like γ₀⁴. At width n it also changes by chance, by γ₀/√n, which turns it like γ₀²/n:
there is a slope of 2 at small γ₀, and it says nothing of extrapolation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade, median_lines
from tacit.experiments import Batch, Claims, swept
from tacit.experiments.regimes.regime import LEVEL, LIMIT, LONGEST, PLACE, RegimeExperiment
from tacit.store import Variable

TURNING = 0.3  # γ₀ from which the kernel of the limit has turned, by a tenth and more


class Rotation(RegimeExperiment):
    """How far the kernel turns against γ₀, at several widths and lengths."""

    id, figure = "regimes/rotation", "ours: the kernel turns"
    version = 2
    unspecific = {
        "from γ₀ = 0.3: that of the limit: not more": "one side of an interval: the other one, "
        "not less, falls",
    }
    finding = Finding(
        "Where the kernel turns by much it turns as that of an infinitely wide network: by "
        "{limit|holds|.2f} times as far.",
        "At small γ₀ chance turns it first, like γ₀ to the power {slope|holds|.2f} where theory "
        "has four; the widest networks turn {width|holds|.1f} times less than the narrowest.",
        limit="from γ₀ = 0.3: that of the limit: not less",
        slope="small γ₀: slope 2: not less",
        width="small γ₀: by chance, less with n",
    )

    width: tuple[int, ...] = swept((48, 96, 192), "hidden units n", low=2)
    length: tuple[int, ...] = swept(
        (8, 10, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    gamma0: tuple[float, ...] = swept(
        (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10), "γ₀ = γ/√n", low=1e-4, high=10.0
    )
    seed: tuple[int, ...] = swept(range(100, 120), "seed of the student's start", low=0)

    presets = {
        "smoke": dict(width=32, length=8, gamma0=(0.001, 0.003, 0.3, 3), seed=range(100, 103)),
        "quick": dict(width=(32, 96), length=(8, 12), gamma0=(0.0003, 0.001, 0.01, 0.1, 0.3, 1, 3)),
        "paper": {},
    }
    batch_by = "width"
    chunk = {"seed": 10}

    def variables(self) -> dict[str, Variable]:
        return {**super().variables(), **LIMIT}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        length, gamma0 = batch.column("length"), batch.column("gamma0")
        found = self.train(batch, width=batch.one("width"), gamma0=gamma0, length=length)
        limit = self.beside_the_limit(found["response"], gamma0=gamma0, length=length)
        return {**found, **limit}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, turned = Claims(PLACE), self.counted(runs, "rotation")
        narrow, wide, small = min(self.width), max(self.width), sorted(self.gamma0)[:2]
        if len(small) == 2:
            ratio = turned.sel(gamma0=small[1]) / turned.sel(gamma0=small[0])
            slope = np.log(ratio) / np.log(small[1] / small[0])
            claim.between(
                "small γ₀: slope 2",
                slope.median(("width", "length")),
                at_least=1.8,
                at_most=2.2,
                says=f"From γ₀ = {small[0]:g} to {small[1]:g} the rotation of students of finite "
                "width grows like γ₀², where that of the limit grows like γ₀⁴: the slope, in the "
                "median over widths and lengths, is between 1.8 and 2.2.",
            )
        if narrow < wide:
            fall = (turned.sel(width=narrow) / turned.sel(width=wide)).sel(gamma0=small[0])
            claim.median(
                "small γ₀: by chance, less with n",
                fall.median("length"),
                at_least=1,
                says=f"At γ₀ = {small[0]:g} it is smaller at n = {wide} than at {narrow}.",
                note="like 1/n in the mean; one start's chance is another's by a factor of ten",
            )
        ratio = (turned / runs["wide_rotation"]).sel(width=wide)
        claim.between(
            "from γ₀ = 0.3: that of the limit",
            ratio.where(ratio["gamma0"] >= TURNING).median(("length", "gamma0"), skipna=True),
            at_least=1 / 1.25,
            at_most=1.25,
            says=f"At n = {wide} and γ₀ ≥ {TURNING} the rotation is that of an infinitely wide "
            "student to a factor of 1.25, in the median over lengths and γ₀.",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["width", "length", "gamma0"])
        n, k, gamma0 = max(self.width), max(self.length), ordered["gamma0"].values
        longest, widest = ordered.sel(length=k), ordered.sel(width=n)
        turned, error = (self.counted(longest, name) for name in ("rotation", "error"))
        of_widest = self.counted(widest, "rotation")
        square = turned.median("seed").values[..., :1] * (gamma0 / gamma0[0]) ** 2
        x, angle = Axis("γ₀ = γ/√n", scale="log"), "rotation, 1 − cosine"

        def limit(of: xarray.Dataset, **look: Any) -> Line:
            over = [dim for dim in of["wide_rotation"].dims if dim != "gamma0"]
            return Line(gamma0, of["wide_rotation"].median(over).values, style="dashed", **look)

        chance: list[Mark] = [
            Line(gamma0, row, label="∝ γ₀²" if i == 0 else None, colour="reference", style="dotted")
            for i, row in enumerate(np.where(square <= 1, square, np.nan).reshape(-1, len(gamma0)))
        ]
        by_width = Panel(
            f"chance turns it first, less at larger widths, k = {k}",
            x,
            Axis(angle, scale="log", limits=(None, 1.5)),
            [
                *median_lines(turned, "gamma0", by="width", label="n = {width}"),
                limit(longest, label="n → ∞, from theory", colour="ink"),
                *chance,
            ],
        )
        by_length = Panel(
            f"then as the limit does, n = {n}",
            x,
            Axis(angle, limits=(0, 1)),
            [
                *median_lines(of_widest, "gamma0", by="length", label="k = {length}"),
                *(limit(one, colour=i) for i, (_, one) in enumerate(widest.groupby("length"))),
            ],
            note="dashed: infinitely wide students, from theory",
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
            "The kernel turns as that of an infinitely wide network, beyond what chance does",
            [by_width, by_length, buys],
            columns=3,
            caption="1 − cosine between the kernels (Gram matrices of the trained lags) of start "
            "and end, between 0 and 1. Linear RNNs with centred outputs, trained by gradient flow "
            f"on the teacher of regimes/map until their relative train error is {self.goal:g}. "
            f"Lines are medians over {len(self.seed)} starts, bands the middle half."
            f"{self.unconverged(runs)}",
            size=(14.4, 5.4),
        )
