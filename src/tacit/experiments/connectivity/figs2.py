"""connectivity, Figure S2: singular values and eigenvalues of trained networks.

The comparison: the spectra of the change ΔW and of the final W, for three strengths of the initial
connectivity, the last of them beyond the edge of chaos. Eigenvalues of W₀ fill the circle of radius
g; training adds a few outside.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Line, Mark, Panel, Points, VerticalRule
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import WeightsExperiment

_ASPECT = 1.45  # of a panel
_MARGIN = 0.1  # what the edge of the circle moves by at N of a few hundred


class FigS2(WeightsExperiment):
    """Singular values and eigenvalues of trained networks and of their change."""

    id, figure = "connectivity/figs2", "Figure S2"
    published = dict(seed=range(1))
    finding = Finding(
        "Training with initial connectivity puts {flip|holds} eigenvalues of W outside the circle "
        "of W₀ on the flip-flop.",
        "On Mante it is {mante|holds} and on Romo {romo|holds}.",
        "With the strongest initial connectivity the largest singular value of the flip-flop's "
        "change is {small|holds} of that without.",
        flip="flip-flop, g = 0.9: outside the circle",
        mante="mante, g = 0.9: outside the circle",
        romo="romo, g = 0.9: outside the circle",
        small="flip-flop: smaller singular values of ΔW",
    )

    g: tuple[float, ...] = (0.0, 0.9, 1.8)

    presets = {
        "smoke": dict(task="flip-flop", g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4,
                      shown=8, seed=range(2)),
        "quick": dict(task="flip-flop", width=64, effort=0.12, trials=128, ranks=4, seed=range(8)),
        "paper": {},
    }  # fmt: skip

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, strengths = Claims("Figure S2(a)–(c)"), sorted(self.g)
        for task in self.task:
            for g in (g for g in strengths if 0 < g < 1 and self.long_enough(task, g)):
                beyond = abs(self.counted(runs, "final_eigenvalues").sel(task=task, g=g)) - g
                claim.median(
                    f"{task}, g = {g:g}: outside the circle",
                    (beyond > _MARGIN).sum("unit").where(beyond.notnull().all("unit")),
                    at_least=1,
                    place="Figure S2(g)–(i)",
                    says=f"On {task} with g = {g:g}, {{bound}} eigenvalue of W or more lies "
                    f"further than {_MARGIN:g} outside the circle of radius g, in the median "
                    "network.",
                )
                claim.median(
                    f"{task}, g = {g:g}: most inside",
                    (beyond <= _MARGIN).mean("unit").where(beyond.notnull().all("unit")),
                    at_least=0.5,
                    place="Figure S2(g)–(i)",
                    says=f"On {task} with g = {g:g}, most eigenvalues of W still lie inside, or "
                    f"within {_MARGIN:g} of the circle: {{bound:.0%}} or more in the median "
                    "network.",
                )
            if strengths[0] < strengths[-1]:
                change, final = (
                    first.sel(g=strengths[-1], drop=True) / first.sel(g=strengths[0], drop=True)
                    for first in (
                        runs[name].sel(task=task).isel(singular_value=0, drop=True)
                        for name in ("change_singular", "final_singular")
                    )
                )
                words = f"On {task}, the largest singular value of"
                claim.median(
                    f"{task}: smaller singular values of ΔW",
                    change,
                    at_most=1.0,
                    says=f"{words} ΔW is smaller with g = {strengths[-1]:g} than with g = "
                    f"{strengths[0]:g}: {{bound}} times that at most, in the median.",
                )
                claim.median(
                    f"{task}: larger singular values of W",
                    final,
                    at_least=1.0,
                    says=f"{words} W is larger with g = {strengths[-1]:g} than with g = "
                    f"{strengths[0]:g}: {{bound}} times that at least, in the median.",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        pairs = (("change_singular", "ΔW"), ("final_singular", "W"))
        panels = [
            self._singular_panel(runs, task, name, words)
            for task in self.task
            for name, words in pairs
        ]
        panels += [
            _plane_panel(runs, task, g, words)
            for g in self.g
            for task in self.task
            for words in ("ΔW", "W")
        ]
        return Figure(
            "Training adds a few directions to a random matrix",
            panels,
            columns=2 * len(self.task),
            caption=f"N = {self.width}; singular values: median over {len(self.seed)} networks; "
            "eigenvalues: the first network. Circles have radius g. Left of each pair ΔW, right W.",
        )

    def _singular_panel(self, runs: xarray.Dataset, task: str, name: str, words: str) -> Panel:
        marks: list[Mark] = []
        for colour, g in enumerate(self.g):
            here = dict(task=task, g=g)
            median = runs[name].sel(here).median("seed")
            learned = self.counts(runs).sel(here).sum().item()
            several = f" ({learned} of {len(self.seed)} learned)" if len(self.seed) > 1 else ""
            label = f"g = {g:g}{several}"
            x = runs["singular_value"]
            marks.append(Line(x, median, label=label, colour=colour, marker="o"))
        return Panel(
            f"{task}: singular values of {words}",
            Axis("number"),
            Axis("singular value", limits=(0, None)),
            marks,
        )


def _plane_panel(runs: xarray.Dataset, task: str, g: float, words: str) -> Panel:
    """The eigenvalues of the first network's W or ΔW."""
    run = runs.sel(task=task, g=g).isel(seed=0)
    name = "final_eigenvalues" if words == "W" else "change_eigenvalues"
    values, colour = run[name].values, int(words == "ΔW")
    marks: list[Mark] = [VerticalRule(1.0)]
    if g > 0:
        turn = np.exp(1j * np.linspace(0, 2 * np.pi, 200))
        circle = (g * turn.real, g * turn.imag)
        marks.append(Line(*circle, label="radius g", colour="reference", style="dashed", width=1.0))
    label = f"eigenvalues of {words}"
    marks.append(Points(values.real, values.imag, label=label, colour=colour, opacity=0.7))
    # As wide as high, in a panel that is wider than high: circles are round.
    reach = 1.08 * max([g, 1.0, *np.abs(run["final_eigenvalues"].values)])
    reach = reach if np.isfinite(reach) else 1.0
    return Panel(
        f"{task}, {words}, g = {g:g}",
        Axis("real part", limits=(-_ASPECT * reach, _ASPECT * reach)),
        Axis("imaginary part", limits=(-reach, reach)),
        marks,
    )
