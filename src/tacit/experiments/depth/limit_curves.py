"""What figures 2 and 5 to 8 share: the limits of Theorem 3.3 against initial scale and depth.

The comparison: σ₁ and the other singular values of the limit, for every depth, against the initial
scale αᴸ, one panel for each ratio m of the start (7). Nothing is trained. Each number comes from
two computations: the theorem's equation, solved, and the end of the reduced flow, integrated.
"""

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Shade
from tacit.experiments import Batch, Claims, Experiment, Finding, Variable, fixed, swept
from tacit.theory.depth import limit_singular_values, reduced_flow

FEW = 5
"""Up to here L is a depth that figures of limits may well show; the paper names none."""

LARGE = 1e6
"""From this ratio on a start counts as close to a multiple of the identity."""

CLOSE = 0.01
"""Relative: less than the width of a line in the figures."""


class LimitCurves(Experiment):
    """Singular values of the limit against initial scale, depth and ratio."""

    depth: tuple[int, ...] = swept((2, 3, 4, 5, 10), "number L of factors", low=2, high=100)
    ratio: tuple[float, ...] = swept(
        (2.0, 10.0, 100.0, 1e10),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
    )
    scale: tuple[float, ...] = swept(
        tuple(10.0 ** (-exponent / 2) for exponent in range(21)),
        "initial scale αᴸ of the product",
        low=1e-300,
        high=1e3,
    )
    blocks: int = fixed(10, "observed diagonal blocks n", low=2, high=1000)
    block_size: int = fixed(1, "size s of a block", low=1, high=1000)
    target: float = fixed(1.0, "value w* of every observed entry", low=1e-100, high=1e100)

    presets = {
        "smoke": dict(depth=(2, 3, 10), ratio=(10.0, 1e10), scale=(1.0, 1e-10)),
        "quick": {},
        "paper": {},
    }
    batch_by = "depth"
    unspecific = {
        "two computations agree": "Each cell holds its own difference of the two computations, and "
        "the largest of all is asked for, wherever it stands.",
    }
    finding = Finding(
        "For finite m the limit has a stable rank of {rank|.2f|holds} from the smallest scale if "
        "L ≥ 3; if L = 2 it is the same from every scale.{?two|holds}",
        "The largest m is near α I, but not at it: σ₁ lies above that of α I by {few|.1%} at most "
        "for up to five factors, and by {many|.0%} for more, which are depths of ours.",
        rank="deep limits have rank one",
        two="two factors end alike from every scale",
        few="large m is independent of scale, L ≤ 5",
        many="large m is independent of scale, L > 5",
    )

    def ran(self, runs: xarray.Dataset) -> xarray.DataArray:
        """None: nothing is trained."""
        return xarray.zeros_like(runs["outcome"], dtype=bool)

    def variables(self) -> dict[str, Variable]:
        """Logarithms beside the values: σ_i may be far below the smallest float's square root."""
        return {
            "first": Variable("σ₁ of the limit"),
            "others": Variable("σ₂ = … = σ_n of the limit"),
            "log_others": Variable("log σ₂ of the limit"),
            "stable_rank": Variable("stable rank of the limit"),
            "gap": Variable("largest relative difference of σ₁, σ₂ to the end of the reduced flow"),
        }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, ratios = batch.one("depth"), batch.column("ratio")
        alpha = batch.column("scale") ** (1 / depth)
        family = dict(
            depth=depth, blocks=self.blocks, block_size=self.block_size, target=self.target
        )
        limit = limit_singular_values(scale=alpha, ratio=ratios, **family)
        logs = limit_singular_values(scale=alpha, ratio=ratios, **family, log=True)
        gaps = []
        lanes = zip(alpha, ratios, np.asarray(logs.first), np.asarray(logs.others), strict=True)
        for scale, ratio, log_first, log_second in lanes:
            end = reduced_flow(np.inf, scale=scale, ratio=ratio, **family)
            gap = abs(np.expm1(depth * np.log(end.first) - log_first))
            if ratio > 1:  # at m = 1 both are zero
                gap = max(gap, abs(np.expm1(depth * np.log(end.second) - log_second)))
            gaps.append(float(gap))
        return {
            "first": limit.first,
            "others": limit.others,
            "log_others": logs.others,
            "stable_rank": 1 + (self.blocks - 1) * np.exp(2 * (logs.others - logs.first)),
            "gap": gaps,
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        """What depth and scale do for finite m, and what they do not do for m → ∞ or L = 2."""
        claim, smallest = Claims(f"{self.figure}, Corollary 3.4"), min(self.scale)
        finite = [ratio for ratio in self.ratio if 1 < ratio < LARGE]
        large = [ratio for ratio in self.ratio if LARGE <= ratio < np.inf]
        deep = sorted(depth for depth in self.depth if depth > 2)
        claim.value(
            "two computations agree",
            runs["gap"].max(),
            says="The solved equation and the integrated reduced flow agree to {bound}.",
            at_most=1e-8,
            place="Theorem 3.3, Lemma D.6",
        )
        if 2 in self.depth:
            two = runs.sel(depth=2)
            spread = two["first"].max("scale") / two["first"].min("scale") - 1
            claim.value(
                "two factors end alike from every scale",
                (spread + 2 * two["gap"].max("scale")).max(),
                says="For L = 2 the reduced flow, integrated from each initial scale, ends at one "
                "limit, to {bound}: the spread of the solved σ₁ and twice the flow's distance.",
                at_most=1e-8,
                place="Theorem 3.3",
            )
        ends = runs.sel(ratio=finite, scale=smallest, depth=deep)
        if finite and deep:
            claim.value(
                "deep limits have rank one",
                ends["stable_rank"].max(),
                says=f"For L ≥ 3 and finite m the stable rank at αᴸ = {smallest:g} is at most "
                "{bound}.",
                at_most=1.01,
            )
        if finite and len(deep) > 1:
            claim.value(
                "each depth has less of the rest",
                ends["log_others"].diff("depth").max(),
                says=f"At αᴸ = {smallest:g} and finite m, σ₂ falls from each depth to the next, "
                "its logarithm by at least a tenth.",
                at_most=-0.1,
            )
        for depths, words in (
            ([L for L in self.depth if L <= FEW], f"L ≤ {FEW}"),
            ([L for L in self.depth if L > FEW], f"L > {FEW}"),
        ):
            if large and depths:
                self._claim_about_large_ratios(
                    claim, runs["first"].sel(ratio=large, depth=depths), words
                )
        return claim

    def _claim_about_large_ratios(self, claim: Claims, first: xarray.DataArray, words: str) -> None:
        off = first / (self.block_size * self.target) - 1
        # To first order in 1/m, from Theorem 3.3: what grows out of the difference.
        n, (L, m) = self.blocks, (off["depth"], off["ratio"])
        power = (self.block_size * self.target / off["scale"]) ** ((L - 2) / L)
        grows = float(((n - 1) * self.block_size * L / m * power).max()) > CLOSE
        worst = off.where(off == off.max(), drop=True)
        caption = "caption" if self.figure == "Figure 2" else "as the caption of Figure 2"
        claim.value(
            f"large m is independent of scale, {words}",
            off.max(),
            says=f"For finite m ≥ {LARGE:g} and {words}, σ₁ is s w* to {{bound:.0%}} from every "
            f"scale (the largest excess is at L = {int(worst['depth'][0])}, "
            f"αᴸ = {float(worst['scale'][0]):g}).",
            at_most=CLOSE,
            fails_because="No finite m is the identity: from a scale that is small enough for the "
            "depth, the difference of 1/m grows into the limit."
            if grows
            else "",
            place=f"{self.figure}, {caption}",
        )

    def draw(self, runs: xarray.Dataset) -> Figure:
        """One panel for each ratio: σ₁ solid, the others dashed, depths by shade."""
        level, runs = self.block_size * self.target, runs.sortby("scale")
        x = Axis("initial scale αᴸ", scale="log")
        y = Axis("singular values of the limit", limits=(0, None))
        panels = []
        for ratio in sorted(self.ratio):
            marks: list[Mark] = [
                HorizontalRule(level, label="s w*: rank n"),
                HorizontalRule(self.blocks * level, label="w* d: rank one", style="dotted"),
            ]
            for depth, shade in Shade.by_value(sorted(self.depth)).items():
                at = runs.sel(ratio=ratio, depth=depth)
                marks += [
                    Line(at["scale"], at["first"], label=f"L = {depth}", colour=shade),
                    Line(at["scale"], at["others"], colour=shade, style="dashed"),
                ]
            panels.append(Panel(f"m = {ratio:g}", x, y, marks))
        return Figure(
            f"Limits of Theorem 3.3: w* = {self.target:g}, n = {self.blocks}, "
            f"s = {self.block_size}",
            panels,
            main=len(panels) // 2,
            caption="Solid: σ₁. Dashed: σ₂ = … = σ_n. The other singular values are zero. Depth "
            "and a small scale lower the rank for finite m, not for L = 2. Largest relative "
            f"difference to the reduced flow: {float(runs['gap'].max()):.1e}.",
        )
