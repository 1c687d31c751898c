"""kernel/width (ours): how fast does a linear RNN approach its kernel as it gets wider?

The comparison: the distance of the RNN's impulse response, the largest on its way through training,
from two predictions: the limit of infinite width, and the kernel of the network at its start. The
first is off because the kernel is (like 1/√n), the second because the kernel moves (like 1/n).
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, median_lines
from tacit.experiments import Claims, Finding
from tacit.experiments.kernel.dynamics import COLOURS, MODELS, STYLES, DynamicsExperiment

SLOPES = {"limit": (-0.5, 0.1), "start": (-1.0, 0.2)}  # each with its margin


class Width(DynamicsExperiment):
    """Distance of a linear RNN from its limit (1/√n) and from its start kernel (1/n).

    Task and student are those of kernel/fig1.
    """

    id, figure = "kernel/width", "ours, beside Figure 1"
    finding = Finding(
        "The kernel of a network approaches its limit like n to the power {gram|.2f|holds}, and "
        "the trained network goes with it: their ratio has the power {limit|.2f|holds}.",
        "From the prediction of its own kernel at the start the network's distance falls faster, "
        "with the power {start|.2f|holds}.",
        gram="gram: slope at most -0.4",
        limit="limit over gram: slope at most 0.1",
        start="start: slope at most -0.8",
    )
    unspecific = {
        "limit over gram: slope at *": "That the ratio does not depend on the width is the claim.",
        "*: slope at least -*": "One of two bounds on a slope: the other one falls if the width "
        "does nothing.",
    }

    width: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    seed: tuple[int, ...] = tuple(range(60))
    epochs: tuple[int, ...] = (0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 50)

    presets = {
        "smoke": dict(width=(40, 160), seed=range(2)),
        "quick": dict(width=(32, 64, 128, 256, 512), seed=range(100)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Theorem 3.3(b), Proposition 3.1 (rates: ours)")
        if len(self.width) < 2:
            return claim
        distance = self.distances(runs)
        # From the limit the response is as far as the kernel is, and the slope of their ratio
        # scatters less than that of the distance: a student's kernel is in both.
        cases = [
            (
                "limit over gram",
                0.0,
                0.1,
                distance.sel(model="limit") / runs["gram_gap"],
                f"distance from {MODELS['limit']}, over ‖G − D(ρ)‖ at the start,",
            ),
            ("start", *SLOPES["start"], distance.sel(model="start"),
             f"distance from {MODELS['start']}"),
            ("gram", *SLOPES["limit"], runs["gram_gap"], "‖G − D(ρ)‖ at the start"),
        ]  # fmt: skip
        widths = np.log(np.array(self.width, float))
        for name, slope, margin, values, words in cases:
            table = np.log(values.transpose("seed", "width").values)
            slopes = [np.polyfit(widths, row, 1)[0] for row in table]
            high, low = slope + margin, slope - margin
            claim.median(
                f"{name}: slope at most {high:g}",
                slopes,
                at_most=high,
                says=f"In most seeds the {words} goes like n to a power of {{bound}} at most.",
            )
            claim.median(
                f"{name}: slope at least {low:g}",
                slopes,
                at_least=low,
                says=f"In most seeds the {words} goes like n to a power of {{bound}} at least.",
            )
        return claim

    def distances(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The largest distance on the way, relative to the teacher's norm."""
        return runs["gap"].max("step") / runs["target_norm"]

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.sortby("width")
        x = Axis("hidden units n", scale="log", ticks=sorted(self.width))
        marks: list[Mark] = []
        for name, (slope, _) in SLOPES.items():
            distance = self.distances(runs).sel(model=name)
            marks += median_lines(distance, "width", label=MODELS[name], colour=COLOURS[name])
            marks.append(slope_line(distance, slope, STYLES[name]))
        gram = runs["gram_gap"]
        right = [
            *median_lines(gram, "width", label="‖G − D(ρ)‖/‖D(ρ)‖", colour=0),
            slope_line(gram, -0.5, "dashed"),
        ]
        left = Axis("largest ‖L − L of the model‖ / ‖L*‖", scale="log")
        return Figure(
            "Two rates: the limit is approached like 1/√n, the kernel at start like 1/n",
            [
                Panel("distance of the trained RNN's response", x, left, marks, legend="best"),
                Panel(
                    "distance of the kernel at start",
                    x,
                    Axis("relative distance", scale="log"),
                    right,
                    legend="best",
                ),
            ],
            caption=f"Task of kernel/fig1, {max(self.epochs)} epochs. Lines are medians over "
            f"{len(self.seed)} seeds, bands the middle half.",
        )


def slope_line(values: xarray.DataArray, slope: float, style: str) -> Line:
    """A power of the width through the median at the narrowest."""
    widths = values["width"].values.astype(float)
    line = float(values.isel(width=0).median()) * (widths / widths[0]) ** slope
    label = f"slope {slope:g}".replace("-", "−")
    return Line(widths, line, label=label, colour="reference", style=style)
