"""connectivity, Figure S2: singular values and eigenvalues of trained networks.

The comparison: the spectra of the change ΔW and of the final W, for three strengths of the initial
connectivity, the last of them beyond the edge of chaos. Eigenvalues of W₀ fill the circle of radius
g; training adds a few outside.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, Points
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import WeightsExperiment

_ASPECT = 1.45  # of a panel
_MARGIN = 0.1  # what the edge of the circle moves by at N of a few hundred


class FigS2(WeightsExperiment):
    """Singular values and eigenvalues of trained networks and of their change."""

    id, figure = "connectivity/figs2", "Figure S2"

    g: tuple[float, ...] = (0.0, 0.9, 1.8)

    presets = {
        "smoke": dict(task="flip-flop", g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4,
                      shown=8, seed=range(2)),
        "quick": dict(task="flip-flop", width=64, effort=0.12, trials=128, ranks=4, seed=range(8)),
        "paper": {},
    }  # fmt: skip

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S2(d)–(l)")
        for task, g in ((task, g) for task in self.task for g in self.g if g > 0):
            sizes = abs(runs["final_eigenvalues"].sel(task=task, g=g))
            inside = (sizes <= g + _MARGIN).mean("unit")
            claim.median(
                f"{task}, g = {g:g}: inside the circle",
                inside.where(sizes.notnull().all("unit")),
                at_least=0.9,
                says=f"On {task} with g = {g:g}, most eigenvalues of W stay within {_MARGIN:g} of "
                "the circle of radius g: 90% or more of the median network's.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        panels = [
            self._singular_panel(runs, task, name, words)
            for name, words in (("change_singular", "ΔW"), ("final_singular", "W"))
            for task in self.task
        ]
        panels += [_plane_panel(runs, task, g) for g in self.g for task in self.task]
        tasks = len(self.task)
        return Figure(
            "Training adds a few directions to a random matrix",
            panels,
            columns=tasks if tasks > 1 else min(3, 2 + len(self.g)),
            caption=f"N = {self.width}; singular values: median over {len(self.seed)} networks; "
            "eigenvalues: the first network. Circles have radius g.",
        )

    def _singular_panel(self, runs: xarray.Dataset, task: str, name: str, words: str) -> Panel:
        marks: list[Mark] = []
        for colour, g in enumerate(self.g):
            here = dict(task=task, g=g)
            median = runs[name].sel(here).median("seed")
            learned = self.counts(runs).sel(here).sum().item()
            label = f"g = {g:g} ({learned} of {len(self.seed)} learned)"
            x = runs["singular_value"]
            marks.append(Line(x, median, label=label, colour=colour, marker="o"))
        return Panel(
            f"{task}: singular values of {words}",
            Axis("number"),
            Axis("singular value", limits=(0, None)),
            marks,
        )


def _plane_panel(runs: xarray.Dataset, task: str, g: float) -> Panel:
    """The eigenvalues of the first network's W and ΔW."""
    run = runs.sel(task=task, g=g).isel(seed=0)
    W, change = run["final_eigenvalues"].values, run["change_eigenvalues"].values
    marks: list[Mark] = []
    if g > 0:
        turn = np.exp(1j * np.linspace(0, 2 * np.pi, 200))
        circle = (g * turn.real, g * turn.imag)
        marks.append(Line(*circle, label="radius g", colour="reference", style="dashed", width=1.0))
    for colour, (words, values, marker) in enumerate((("W", W, "o"), ("ΔW", change, "x"))):
        x, y, size = values.real, values.imag, 3.5 + 1.5 * colour
        label = f"eigenvalues of {words}"
        marks.append(
            Points(x, y, label=label, colour=colour, marker=marker, size=size, opacity=0.7)
        )
    # As wide as high, in a panel that is wider than high: circles are round.
    reach = 1.08 * max([g, *np.abs(W)])
    reach = reach if np.isfinite(reach) else 1.0
    return Panel(
        f"{task}, g = {g:g}",
        Axis("real part", limits=(-_ASPECT * reach, _ASPECT * reach)),
        Axis("imaginary part", limits=(-reach, reach)),
        marks,
    )
