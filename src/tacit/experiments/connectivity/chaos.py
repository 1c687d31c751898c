"""connectivity/chaos (ours): learning time over g, N and task, through the edge of chaos.

The comparison: epochs to 5% of the initial loss for networks from no connectivity to deep chaos, at
several sizes, beside the largest Lyapunov exponent λ of the untrained network. The paper looks at
N = 256 and finds the fastest learning near the edge; here the edge itself is measured.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Heatmap, Line, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Claims, Variable
from tacit.experiments.connectivity.fig2 import PUBLISHED
from tacit.experiments.connectivity.figs1 import FigS1
from tacit.measures import crossing, largest_lyapunov_exponent

PLACE = "ours, beside Figure 2(a)"
EPOCHS, EXPONENT = "epochs to learn", "largest Lyapunov exponent at the start"
ORDERED = 0.6  # the largest g of the grids at which networks of any size forget
CHAOTIC = 256  # units: smaller networks end in cycles (λ = 0) at most strengths
EDGE = -0.02  # a network that takes 50 time constants to forget
SLOW_GROWTH = 0.1  # differences grow e-fold in ten time constants or more, a pulse's time


class Chaos(FigS1):
    """Epochs to learn a task over g and N, beside the Lyapunov exponent at the start."""

    id, figure, version = "connectivity/chaos", "ours: through the edge of chaos", 1
    published = {}
    finding = Finding(
        "Small networks learn the flip-flop fastest at g = {small|holds}.",
        "The largest do at {large|holds}; seed by seed the best g of the two ends is the same to a "
        "factor of {same|holds|.2f}.",
        "For Mante it is {mante|holds} and for Romo, whose trials are short, {romo|holds}: there, "
        "or a little beyond, untrained networks of that size begin to be chaotic (λ is "
        "{lyapunov|holds}).",
        "Deep in chaos the largest networks take {cost|holds} times as long on Romo as at their "
        "best, and the smallest {worst|holds} times.",
        small="flip-flop, N = 64: connectivity helps",
        large="flip-flop, N = 256: connectivity helps",
        same="flip-flop: the best g is that of any size: not more",
        mante="mante, N = 256: connectivity helps",
        romo="romo, N = 256: connectivity helps",
        lyapunov="g = 1.8: λ is positive",
        cost="romo, N = 256: chaos hurts",
        worst="romo, N = 32: chaos hurts",
    )
    from_theory = ("exponent",)  # of the network before training
    unspecific = {
        "g = *: λ is *": "about untrained networks: no training is in it that could be permuted",
    }

    width: tuple[int, ...] = (32, 64, 128, 256)
    g: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0)
    ranks: int = 1  # truncation is not looked at here

    presets = {
        "smoke": dict(task="flip-flop", width=(12, 24), g=(0.0, 0.9, 1.8), effort=0.04, trials=32,
                      seed=range(2)),
        "quick": dict(task="flip-flop", width=(32, 64), g=(0.0, 0.6, 0.9, 1.2, 1.8, 2.4),
                      effort=0.25, trials=64),
        "paper": dict(trials=128),
    }  # fmt: skip

    def variables(self) -> dict[str, Variable]:
        return {"epochs_raw": Variable(EPOCHS), "exponent": Variable(EXPONENT)}

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        width, task = batch.one("width"), self.problem(batch.one("task"))
        found = self.networks(batch, width)
        cells = zip(batch.column("g"), batch.column("seed"), strict=True)
        starts = [self.start(task, width, float(g), self.keys(seed)[0]) for g, seed in cells]
        exponents = np.array(
            [largest_lyapunov_exponent(np.asarray(model.W), dt=self.dt) for model in starts]
        )
        return {**{name: found[name] for name in ("outcome", "epochs_raw")}, "exponent": exponents}

    def fastest(self, runs: xarray.Dataset, values: xarray.DataArray) -> xarray.DataArray:
        """What `values` are at the g that learns fastest, seed by seed; NaN where none learned."""
        needed = self.epochs_to_learn(runs)
        best = needed.argmin("g")
        return values.isel(g=best).where(np.isfinite(needed.min("g")))

    @staticmethod
    def slower(task: str) -> float:
        """Epochs at the largest published g over those at the best one, N = 256."""
        epochs = PUBLISHED[task]["epochs_raw"]
        return epochs[-1] / float(np.nanmin(epochs))

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims(PLACE)
        needed, exponent = self.epochs_to_learn(runs), runs["exponent"]
        small, large, deep = min(self.width), max(self.width), max(self.g)
        everywhere = xarray.ones_like(exponent) * exponent["g"]
        best, at_best = (self.fastest(runs, values) for values in (everywhere, exponent))
        for task, width in ((task, width) for task in self.task for width in self.width):
            where = f"{task}, N = {width}"
            claim.median(
                f"{where}: connectivity helps",
                best.sel(task=task, width=width),
                at_least=ORDERED + 0.3,
                says=f"On {task} with N = {width}, the g that learns fastest is {{bound}} or more "
                "in the median network.",
            )
            slower = self.slower(task)
            claim.median(
                f"{where}: chaos hurts",
                (needed.sel(g=deep) / needed.min("g")).sel(task=task, width=width),
                at_least=np.sqrt(slower),
                says=f"On {task} with N = {width}, g = {deep:g} takes {{bound:.2g}} times "
                "the epochs of the best g or more, or does not learn (the square root of the "
                f"factor {slower:.2g} between the last and the lowest published point).",
            )
            # Smaller networks nowhere get as chaotic as that.
            if exponent.sel(task=task, width=width, g=deep).median() > SLOW_GROWTH:
                claim.median(
                    f"{where}: fastest near the edge",
                    at_best.sel(task=task, width=width),
                    at_most=SLOW_GROWTH,
                    says=f"On {task} with N = {width}, the fastest network is chaotic at the start "
                    "by λ = {bound} at most: differences grow e-fold in ten time constants or "
                    f"more. At g = {deep:g} they grow faster.",
                )
        for task in self.task if small < large else ():
            claim.between(
                f"{task}: the best g is that of any size",
                (best.sel(width=large) / best.sel(width=small)).sel(task=task),
                at_least=1 / 1.5,
                at_most=1.5,
                says=f"On {task}, the g that learns fastest at N = {large} is that at N = {small} "
                "to a factor of 1.5, seed by seed.",
            )
        for g, sign, words in ((ORDERED, -1, "negative"), (1.8, 1, "positive")):
            if g in self.g and (sign < 0 or large >= CHAOTIC):
                claim.median(
                    f"g = {g:g}: λ is {words}",
                    sign * exponent.sel(g=g, width=large).isel(task=0),
                    at_least=0.0,
                    says=f"At N = {large} and g = {g:g}, λ of the median network is {words}.",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.sortby(["width", "g"])
        missing = (~self.counts(runs)).sum().item()
        return Figure(
            "Learning is fastest near the edge of chaos, at every size",
            [panel for task in self.task for panel in self._row(runs, task)],
            columns=3,
            caption=f"{len(self.seed)} networks for each g and N. Left: medians, hatched where "
            f"half of the networks or more did not learn; the line is where the median λ of the "
            f"untrained networks passes −{-EDGE:g}, beyond which small networks end in cycles, λ = "
            "0. Right: the same epochs against λ. Bands: the middle half. "
            f"{missing} of {runs['outcome'].size} networks did not learn within {self.budget}.",
        )

    def _row(self, runs: xarray.Dataset, task: str) -> list[Panel]:
        """One task: the plane of g and N, and cuts through it against g and against λ."""
        g, widths = runs["g"].values, runs["width"].values
        needed = self.epochs_to_learn(runs).sel(task=task)
        exponent = runs["exponent"].sel(task=task)
        middle = needed.quantile(0.5, "seed", method="nearest").transpose("width", "g").values
        rows = np.arange(len(widths), dtype=float)
        passed = crossing(g, exponent.median("seed").transpose("width", "g").values, EDGE)
        edges = np.atleast_1d(passed)
        marks: list[Mark] = [Heatmap(g, rows, middle, label=EPOCHS, scale="log", annotate=True)]
        if (inside := np.isfinite(edges)).sum() > 1:
            words = f"λ = −{-EDGE:g}"
            marks.append(Line(edges[inside], rows[inside], label=words, colour="warning"))
        log, curves = Axis(EPOCHS, scale="log"), needed.where(np.isfinite(needed))
        names = dict(zip(rows, map(str, widths), strict=True))
        against: list[Mark] = [VerticalRule(0.0, label="λ = 0", colour="warning", style="solid")]
        for colour, width in enumerate(widths):
            places = exponent.sel(width=width).median("seed")
            line = curves.sel(width=width).assign_coords(g=places.values).sortby("g")
            against += median_lines(line, "g", label=f"N = {width}", colour=colour)
        strengths = Axis("g", ticks={value: f"{value:g}" for value in g})
        return [
            Panel(f"{task}: {EPOCHS}", strengths, Axis("N", ticks=names), marks),
            Panel(f"{task}: against g", Axis("g"), log,
                  median_lines(curves, "g", by="width", label="N = {width}")),
            Panel(f"{task}: against λ", Axis("λ of the untrained network", scale="symlog",
                  threshold=0.1, ticks=(-1, -0.1, -0.05, 0, 0.05, 0.1)), log, against),
        ]  # fmt: skip
