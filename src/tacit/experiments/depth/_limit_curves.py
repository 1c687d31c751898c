"""What figures 2 and 5 to 8 share: the limits of Theorem 3.3 against initial scale and depth.

The comparison: σ₁ and the other singular values of the limit, for every depth, against the initial
scale αᴸ, one panel for each ratio m of the start (7). Nothing is trained. Each number comes from
two computations: the theorem's equation, solved, and the end of the reduced flow, integrated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Shade
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import DEPTH, RATIO, SCALE, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

LARGE = 1e6
"""From this ratio on a start counts as close to a multiple of the identity."""

_SCALES = tuple(10.0 ** (-exponent / 2) for exponent in range(21))


@dataclass(frozen=True, kw_only=True)
class LimitCurvesConfig(Config):
    """Parameters of depth/fig2 and depth/fig5 to fig8."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5, 10), "number L of factors", low=2, high=100, swept=True
    )
    ratio: tuple[float, ...] = parameter(
        (2.0, 10.0, 100.0, 1e10),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
        swept=True,
    )
    scale: tuple[float, ...] = parameter(
        _SCALES, "initial scale αᴸ of the product", low=1e-300, high=1e3, swept=True
    )
    blocks: int = parameter(10, "observed diagonal blocks n", low=2, high=1000)
    block_size: int = parameter(1, "size s of a block", low=1, high=1000)
    target: float = parameter(1.0, "value w* of every observed entry", low=1e-100, high=1e100)


def smoke(**options: Any) -> LimitCurvesConfig:
    """The smallest preset of a figure with these values."""
    return LimitCurvesConfig(depth=(2, 3, 10), ratio=(10.0, 1e10), scale=(1.0, 1e-10), **options)


class LimitCurves(Experiment):
    """Singular values of the limit against initial scale, depth and ratio."""

    paper = "depth"
    version = 1
    Config = LimitCurvesConfig
    batch_by = (DEPTH,)

    def variables(self, config: LimitCurvesConfig) -> dict[str, Variable]:
        """Logarithms beside the values: σ_i may be far below the smallest float's square root."""
        return {
            "outcome": OUTCOME,
            "first": Variable((), "1", "σ₁ of the limit"),
            "others": Variable((), "1", "σ₂ = … = σ_n of the limit"),
            "log_others": Variable((), "1", "log σ₂ of the limit"),
            "stable_rank": Variable((), "1", "stable rank of the limit"),
            "gap": Variable(
                (), "1", "largest relative difference of σ₁, σ₂ to the end of the reduced flow"
            ),
        }

    def cell(self, batch: Batch, config: LimitCurvesConfig) -> Mapping[str, Any]:
        """The theorem's numbers for one depth, each beside its reduced flow."""
        from tacit.theory.depth import limit_singular_values, reduced_flow

        depth = batch.one(DEPTH)
        family = {
            "depth": depth,
            "blocks": config.blocks,
            "block_size": config.block_size,
            "target": config.target,
        }
        alpha = batch.column(SCALE) ** (1 / depth)
        ratios = batch.column(RATIO)
        first, others = limit_singular_values(scale=alpha, ratio=ratios, **family)
        logs = limit_singular_values(scale=alpha, ratio=ratios, **family, log=True)
        log_first, log_others = np.asarray(logs.first), np.asarray(logs.others)
        gaps = []
        for place, (scale, ratio) in enumerate(zip(alpha, ratios, strict=True)):
            end = reduced_flow(np.inf, scale=scale, ratio=ratio, **family)
            gap = abs(np.expm1(depth * np.log(end.first) - log_first[place]))
            if ratio > 1:  # at m = 1 both are zero
                second = np.expm1(depth * np.log(end.second) - log_others[place])
                gap = max(gap, abs(second))
            gaps.append(float(gap))
        return {
            "outcome": ["converged"] * len(batch),
            "first": first,
            "others": others,
            "log_others": log_others,
            "stable_rank": 1 + (config.blocks - 1) * np.exp(2 * (log_others - log_first)),
            "gap": np.array(gaps),
        }

    def claims(self, dataset: "xarray.Dataset", config: LimitCurvesConfig) -> list[Claim]:
        """What depth and scale do for finite m, and what they do not do for m → ∞ or L = 2."""
        found = [
            claim_about_value(
                float(dataset["gap"].max()),
                name="two computations agree",
                statement="The solved equation and the integrated reduced flow agree to 1e-8.",
                place="Theorem 3.3, Lemma D.6",
                at_most=1e-8,
            )
        ]
        finite = [ratio for ratio in config.ratio if 1 < ratio < LARGE]
        large = [ratio for ratio in config.ratio if LARGE <= ratio < np.inf]
        deep = sorted(depth for depth in config.depth if depth > 2)
        smallest = min(config.scale)
        place = f"{self.figure}, Corollary 3.4"
        if 2 in config.depth:
            first = dataset["first"].sel({DEPTH: 2})
            spread = (first.max(SCALE) / first.min(SCALE) - 1).max()
            found.append(
                claim_about_value(
                    float(spread),
                    name="depth 2 does not see the scale",
                    statement="For L = 2 the limit is the same for every initial scale.",
                    place="Theorem 3.3",
                    at_most=1e-12,
                )
            )
        if finite and deep:
            end = dataset.sel({RATIO: finite, SCALE: smallest})
            found.append(
                claim_about_value(
                    float(end["stable_rank"].sel({DEPTH: deep}).max()),
                    name="deep limits have rank one",
                    statement=f"For L ≥ 3 and finite m the stable rank at αᴸ = {smallest:g} is one "
                    "to 1%.",
                    place=place,
                    at_most=1.01,
                )
            )
            logs = end["log_others"].sel({DEPTH: deep}).transpose(DEPTH, RATIO).values
            if len(deep) > 1:
                found.append(
                    claim_about_value(
                        float(np.diff(logs, axis=0).max()),
                        name="each depth has less of the rest",
                        statement=f"At αᴸ = {smallest:g} and finite m, log σ₂ falls with depth.",
                        place=place,
                        at_most=0.0,
                    )
                )
        if large:
            level = config.block_size * config.target
            off = dataset["first"].sel({RATIO: large}) / level - 1
            worst = off.where(off == off.max(), drop=True)
            depth, scale = int(worst[DEPTH][0]), float(worst[SCALE][0])
            found.append(
                claim_about_value(
                    float(off.max()),
                    name="large m is independent of depth and scale",
                    statement=f"For finite m ≥ {LARGE:g}, σ₁ is s w* to 1% for every depth and "
                    f"scale (the largest excess is at L = {depth}, αᴸ = {scale:g}).",
                    place=f"{self.figure}, caption",
                    at_most=0.01,
                    expected="fails",
                    because="m = 1e10 is no identity: from a scale that is small enough for the "
                    "depth, the difference of 1/m grows into the limit.",
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: LimitCurvesConfig, claims: Sequence[Claim]
    ) -> Figure:
        """One panel for each ratio: σ₁ solid, the others dashed, depths by shade."""
        scales = np.array(sorted(config.scale))
        depths = sorted(config.depth)
        x = Axis("initial scale αᴸ", scale="log")
        y = Axis("singular values of the limit", limits=(0, None))
        panels = []
        for ratio in sorted(config.ratio):
            marks: list[Mark] = [
                HorizontalRule(config.block_size * config.target, label="s w*: rank n"),
                HorizontalRule(
                    config.target * config.blocks * config.block_size,
                    label="w* d: rank one",
                    style="dotted",
                ),
            ]
            for shade, depth in zip(Shade.family(len(depths)), depths, strict=True):
                curve = dataset.sel({RATIO: ratio, DEPTH: depth, SCALE: scales})
                marks += [
                    Line(scales, curve["first"].values, label=f"L = {depth}", colour=shade),
                    Line(scales, curve["others"].values, colour=shade, style="dashed"),
                ]
            panels.append(Panel(f"m = {ratio:g}", x, y, marks, legend="outside"))
        return Figure(
            f"Limits of Theorem 3.3: w* = {config.target:g}, n = {config.blocks}, "
            f"s = {config.block_size}",
            panels,
            columns=2 if len(panels) in (2, 4) else None,
            caption=(
                "Solid: σ₁. Dashed: σ₂ = … = σ_n. The other singular values are zero. Depth and a "
                "small scale lower the rank for finite m, not for L = 2. Largest relative "
                f"difference to the reduced flow: {float(dataset['gap'].max()):.1e}."
            ),
        )
