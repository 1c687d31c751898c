"""connectivity, beyond the paper: the exact learning curve, and how far its series reaches.

The comparison: the exact solution of learning for large N (closed form without initial
connectivity), the third-order series, and simulated networks, with the radius of convergence of the
series in the learning time. The paper looked for a closed form and expanded where it found none.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Figure, Line, Mark, Panel, Points
from tacit.experiments.connectivity._linear import (
    LinearConfig,
    LinearExperiment,
    where_it_ended,
)
from tacit.experiments.connectivity._linear_draw import loss_panel
from tacit.store import SEED, SINGULAR_VALUE, STEP, STRENGTH, TARGET

if TYPE_CHECKING:
    import xarray


class Exact(LinearExperiment):
    """Exact curves, third order and simulation, with the radius of convergence."""

    id = "connectivity/exact"
    figure = "Figures 3 and 4, beyond the paper"
    summary = "the exact learning curve of a linear network, its series and simulation together"
    presets: ClassVar[Mapping[str, LinearConfig]] = {
        "smoke": LinearConfig(width=60, target=(0.5, 2.0), g=(0.0, 0.6), seed=(0, 1), every=20),
        "quick": LinearConfig(
            width=256, target=(0.5, 1.0, 2.0), g=(0.0, 0.3, 0.6), seed=tuple(range(10)), every=4
        ),
        "paper": LinearConfig(
            target=(0.5, 1.0, 2.0), g=(0.0, 0.3, 0.6, 0.8), seed=tuple(range(10)), every=4
        ),
    }

    def claims(self, dataset: "xarray.Dataset", config: LinearConfig) -> list[Claim]:
        """Simulation is the exact curve; the series cannot reach the end of learning."""
        found = []
        for target in config.target:
            for g in config.g:
                runs = where_it_ended(dataset, target, g)
                name = f"ẑ = {target:g}, g = {g:g}"
                found.append(
                    claim_about_mean(
                        np.abs(runs["learning_time"].values / runs["flow_time"].values - 1),
                        name=f"flow, {name}",
                        statement=f"For {name}, every simulated network keeps the time of its own "
                        "exact flow: the mean relative difference is 5% at most.",
                        place="(ours)",
                        at_most=0.05,
                    )
                )
                reach = float(runs["radius"].mean() / runs["limit_time"].mean())
                found.append(
                    claim_about_value(
                        reach,
                        name=f"radius, {name}",
                        statement=f"For {name}, the radius of convergence of the series in τ is "
                        f"below the time to {config.fraction:.0%}: no order of it can reach the "
                        "end of learning.",
                        place="(15) (ours)",
                        at_most=1.0,
                    )
                )
        zero = [g for g in config.g if g == 0]
        for g in zero:
            ends = dataset["limit_end"].sel({STRENGTH: g}).values
            arc = float(np.nanmean(ends))
            found.append(
                claim_about_value(
                    abs(arc * np.tanh(arc) - 1),
                    name="divergence without connectivity",
                    statement="At g = 0 the output diverges at the arc length σ with σ tanh σ = 1, "
                    "found by the flow of large N without the closed form: to 1e-8.",
                    place="(68)–(70) (ours)",
                    at_most=1e-8,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: LinearConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Losses for each target, learning times against radii, and the path of ΔW."""
        panels = [loss_panel(dataset, config, target) for target in config.target]
        panels += [_times_panel(dataset, config), _path_panel(dataset, config)]
        return Figure(
            "Learning is over after the series has stopped converging",
            panels,
            columns=3,
            caption=(
                f"N = {config.width}, plain gradient descent on W, {dataset.sizes[SEED]} seeds: "
                "mean and standard deviation. Exact: large N, by "
                "the flow along the arc length of ΔW. Vertical dotted lines: the radius of "
                "convergence of the power series in τ."
            ),
        )


def _times_panel(dataset: "xarray.Dataset", config: LinearConfig) -> Panel:
    marks: list[Mark] = []
    x = np.array(sorted(config.g))
    for colour, target in enumerate(config.target):
        runs = dataset.sel({TARGET: target, STRENGTH: x})
        exact = runs["limit_time"].mean(SEED).values
        radius = runs["radius"].mean(SEED).values
        each = runs["learning_time"].transpose(STRENGTH, SEED).values
        marks += [
            Line(x, exact, label=f"ẑ = {target:g}: exact", colour=colour),
            Line(x, radius, label=f"ẑ = {target:g}: radius", colour=colour, style="dotted"),
            Points(np.repeat(x, each.shape[1]), each.ravel(), colour=colour, size=3.0, opacity=0.6),
        ]
    return Panel(
        f"time to {config.fraction:.0%} and radius of convergence",
        Axis("g"),
        Axis("learning time τ", scale="log"),
        marks,
        legend="outside",
        note="points: simulated networks",
    )


def _path_panel(dataset: "xarray.Dataset", config: LinearConfig) -> Panel:
    """s₁ + s₂ against s₁: all targets lie on one path of W."""
    marks: list[Mark] = []
    g = config.g[-1]
    styles = ("solid", "dashed", "dotted")
    for place, target in enumerate(config.target[:3]):
        runs = where_it_ended(dataset, target, g)
        if not runs.sizes[SEED]:
            continue
        one = runs["limit_singular"].isel({SEED: 0}).transpose(STEP, SINGULAR_VALUE).values
        marks.append(
            Line(
                one[1:, 0],
                one[1:, 1],
                label=f"ẑ = {target:g}",
                colour=place,
                style=styles[place],
                width=3.0 - 0.7 * place,
            )
        )
    return Panel(
        f"one path for every target, g = {g:g}",
        Axis("s₁ of ΔW"),
        Axis("s₂ of ΔW", scale="log"),
        marks,
        legend="outside",
        note="exact for large N: a target decides how far W goes, not where",
    )
