"""connectivity, beyond the paper: the exact learning curve, and how far its series reaches.

The comparison: the exact solution of learning for large N (closed form without initial
connectivity), the third-order series, and simulated networks, with the radius of convergence of the
series in the learning time. The paper looked for a closed form, expanded where it found none, and
stopped the expansion where its output reaches the target.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Line, Mark, Panel, lines, run_points
from tacit.experiments import Claims
from tacit.experiments.connectivity.linear import CurvesExperiment


class Exact(CurvesExperiment):
    """The exact learning curve of a linear network, its series and simulation together."""

    id, figure = "connectivity/exact", "Figures 3 and 4, beyond the paper"
    finding = Finding(
        "Simulated networks keep the time of their own exact flow, to {flow|holds|.1%} in the "
        "median for the largest target.",
        "The paper's series converges up to {near|holds|.0%} of the learning time for the small "
        "target and {far|holds|.0%} for the large one: the end of learning, and the last stretch "
        "of third order, lie where it does not.",
        flow="flow, ẑ = 2, g = 0.6",
        near="radius, ẑ = 0.5, g = 0.6",
        far="radius, ẑ = 2, g = 0.6",
    )
    unspecific = {
        "radius*": "two numbers of theory side by side: no run is in it that could be permuted",
        "divergence without connectivity": "one way to compute a number beside another: no run is "
        "in it",
    }

    presets = {
        "smoke": dict(width=60, seed=range(2), every=20),
        "quick": dict(width=256, target=(0.5, 1.0, 2.0), g=(0.0, 0.3, 0.6), seed=range(8), every=4),
        "paper": dict(target=(0.5, 1.0, 2.0), g=(0.0, 0.3, 0.6, 0.8), seed=range(10), every=4),
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("ours")
        for name, cell in self.settings(runs):
            claim.median(
                f"flow, {name}",
                abs(self.counted(cell, "learning_time") / cell["flow_time"] - 1),
                at_most=0.05,
                says=f"For {name}, a simulated network keeps the time of its own exact flow: the "
                "median relative difference is {bound:.0%} at most.",
            )
            claim.value(
                f"radius, {name}",
                cell["radius"].max() / cell["limit_time"].max(),
                at_most=1.0,
                says=f"For {name}, the radius of convergence of the series in τ is below the time "
                f"to {self.fraction:.0%}: the series does not converge where learning ends.",
            )
            claim.value(
                f"radius and end of third order, {name}",
                cell["radius"].max() / cell["series_end"].max(),
                at_most=1.0,
                says=f"For {name}, the radius is also below the time at which z of third order, "
                "(15), reaches ẑ: its last stretch lies where the series does not converge.",
            )
        if 0 in self.g:
            arc = float(np.nanmean(runs["limit_end"].sel(g=0.0).values))
            claim.value(
                "divergence without connectivity",
                abs(arc * np.tanh(arc) - 1),
                at_most=1e-8,
                says="At g = 0 the output diverges at the arc length σ with σ tanh σ = 1, found by "
                "the flow of large N without the closed form: to {bound}.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "Learning is over after the series has stopped converging",
            [
                *(self.loss_panel(runs, target) for target in self.target),
                self._times_panel(runs),
                self._path_panel(runs),
            ],
            columns=3,
            caption=f"N = {self.width}, plain gradient descent on W, {len(self.seed)} seeds: mean "
            "and standard deviation. Exact: large N, by the flow along the arc length of ΔW. "
            "Third order stands still from where its z is ẑ, as in the paper. Vertical dotted "
            "lines: the radius of convergence of the power series in τ.",
        )

    def _times_panel(self, runs: xarray.Dataset) -> Panel:
        marks: list[Mark] = []
        for colour, target in enumerate(self.target):
            here = runs.sel(target=target)
            curves = {"limit_time": "solid", "radius": "dotted", "series_end": "dashed"}
            for name, style in curves.items():
                label = f"ẑ = {target:g}" if style == "solid" else None
                mean = here[name].mean("seed")
                marks += lines(mean, "g", label=label, colour=colour, style=style)
            marks += run_points(here["learning_time"], "g", colour=colour, opacity=0.6)
        # What a style means is said once, for all colours.
        for label, style in (("radius", "dotted"), ("end of third order", "dashed")):
            marks.append(Line([np.nan], [np.nan], label=label, colour="reference", style=style))
        return Panel(
            f"time to {self.fraction:.0%}, exact",
            Axis("g"),
            Axis("learning time τ", scale="log"),
            marks,
            note="points: simulated networks",
        )

    def _path_panel(self, runs: xarray.Dataset) -> Panel:
        """s₂ against s₁: all targets lie on one path of W."""
        marks: list[Mark] = []
        g = self.g[-1]
        styles = ("solid", "dashed", "dotted")
        for place, (target, style) in enumerate(zip(self.target, styles, strict=False)):
            path = (
                runs["limit_singular"].sel(target=target, g=g).max("seed").isel(step=slice(1, None))
            )
            first, second = (path.sel(singular_value=k) for k in (1, 2))
            width = 3.0 - 0.7 * place
            label = f"ẑ = {target:g}"
            marks.append(Line(first, second, label=label, colour=place, style=style, width=width))
        return Panel(
            f"one path for every target, g = {g:g}",
            Axis("s₁ of ΔW"),
            Axis("s₂ of ΔW", scale="log"),
            marks,
            note="exact for large N: a target decides how far W goes, not where",
        )
