"""connectivity, Figure 4: how the strength of initial connectivity speeds up a linear network.

The comparison: learning time, norm of ΔW, mean norm of the gradient and the loss after shuffling
W₀, against g, in simulation, at first order as the paper predicts them, and by each network's own
exact flow (ours). The first three are drawn relative to their value at g = 0; claims are about each
network's exponents, the slopes through all g on logarithmic axes.
"""

from collections.abc import Callable

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.claims import Finding
from tacit.draw import Axis, Figure, Line, Mark, Panel, lines, mean_lines, median_lines
from tacit.experiments import Claims, Variable
from tacit.experiments.connectivity.linear import FlowExperiment, Trained, outcome, paper_rate
from tacit.theory.connectivity import LearningCurve, shuffled_loss

QUANTITIES = {
    "learning_time": "learning time τ*",
    "change_norm": "norm of ΔW at the end",
    "gradient_norm": "mean norm of dW/dτ until τ*",
}
FIRST_ORDER = {
    "learning_time": ("(1 − g²)²", 2),
    "change_norm": ("1 − g²", 1),
    "gradient_norm": ("1/(1 − g²)", -1),
}
"""The paper's scalings (12), (13): in words, and the power of 1 − g²."""
MIDDLE = (0.3, 0.7)  # g between which a shuffled W₀ costs neither nothing nor everything


class Fig4(FlowExperiment):
    """A linear network's learning time, change and gradient against initial connectivity."""

    id, figure = "connectivity/fig4", "Figure 4"
    published = dict(target=(0.5, 2.0), seed=range(5))
    finding = Finding(
        "A network's learning time, change and gradient are those of its own exact flow: in the "
        "median to {time|.1%}, {norm|.1%} and {gradient|.1%} for the largest target.",
        "Shuffling W₀ costs as much as taking it away, to {small} and {large} of the initial loss "
        "for the smallest and the largest target; the loss after it is the further from first "
        "order the larger the target, by {more}.",
        time="learning time τ*, own exact flow, ẑ = 2",
        norm="norm of ΔW at the end, own exact flow, ẑ = 2",
        gradient="mean norm of dW/dτ until τ*, own exact flow, ẑ = 2",
        small="shuffling, as without W₀, ẑ = 0.5",
        large="shuffling, as without W₀, ẑ = 2",
        more="shuffling, larger targets differ more",
    )
    from_theory = (
        *(f"{kind}_{name}" for kind in ("flow", "limit") for name in QUANTITIES),
        "beta",
        "removed_loss",
    )

    target: tuple[float, ...] = (0.5, 1.0, 2.0)
    g: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    seed: tuple[int, ...] = tuple(range(20))

    presets = {
        "smoke": dict(width=60, g=(0.0, 0.5), target=(0.5, 2.0), seed=range(2)),
        "quick": dict(width=512, g=(0.0, 0.2, 0.4, 0.6, 0.8)),
        "paper": {},
    }

    def variables(self) -> dict[str, Variable]:
        kinds = {"": "", "flow_": ", the network's exact flow", "limit_": ", exact for large N"}
        return {
            kind + name: Variable(words + said)
            for kind, said in kinds.items()
            for name, words in QUANTITIES.items()
        } | {
            "beta": Variable("|x||y| before learning, which is β = 1/(1 − g²) for large N"),
            "shuffled_loss": Variable("loss after shuffling W₀ / initial loss"),
            "removed_loss": Variable("loss of the exact flow's ΔW without W₀ / initial loss"),
        }

    def row(self, trained: Trained) -> dict[str, ArrayLike]:
        network, seed, _, target, rate, state, run, flow = trained
        ended, last = self.learning_time(run, rate), rate * self.epochs
        until = 1 + int(ended / rate) if np.isfinite(ended) else 0

        def lost(W: ArrayLike) -> float:
            z = network.w @ np.linalg.solve(np.eye(self.width) - np.asarray(W), network.m)
            return float((target - z) ** 2 / 2 / run.losses[0])

        change = state.change()
        return {
            "outcome": outcome(run, ended),
            "learning_time": ended,
            "change_norm": np.linalg.norm(change),
            "gradient_norm": run.gradients[:until].mean() if until else np.nan,
            **self._exact("flow_", flow, target, last),
            "beta": run.gradients[0] / np.sqrt(2 * run.losses[0]),
            "shuffled_loss": lost(measures.shuffled(network.W0, seed=seed) + change),
            # A shuffled W₀ is independent of ΔW: for large N the output is that of ΔW alone.
            "removed_loss": lost(flow.change(last, target=target)),
        }

    def predicted(self, limit: LearningCurve, target: float, g: float) -> dict[str, ArrayLike]:
        return self._exact("limit_", limit, target, paper_rate(target, g) * self.epochs)

    def _exact(
        self, kind: str, curve: LearningCurve, target: float, last: float
    ) -> dict[str, ArrayLike]:
        """The same of an exact flow; ∫‖dW/dτ‖dτ is its arc length, so that nothing is averaged."""
        ended = curve.learning_time(target, self.fraction)
        values = curve.singular_values(last, target=target, count=16)
        return {
            f"{kind}learning_time": ended,
            f"{kind}change_norm": float(np.linalg.norm(values)),
            f"{kind}gradient_norm": float(curve.arc_length(ended, target=target)) / ended,
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, runs = Claims("ours"), runs.sortby("g")
        low, high = min(self.target), max(self.target)
        for (name, words), panel in zip(QUANTITIES.items(), "abc", strict=True):
            place, power = f"Section 3, Figure 4({panel})", -FIRST_ORDER[name][1]
            beta = runs["beta"]
            found, flow = (
                _exponents(self.counted(runs, each), beta) for each in (name, f"flow_{name}")
            )
            claim.median(
                f"{words}, exponent, ẑ = {low:g}",
                abs(found.sel(target=low) - power),
                at_most=0.5,
                place=place,
                says=f"For ẑ = {low:g}, the {words} scales as {FIRST_ORDER[name][0]}, the first "
                "order, with a network's own β = |x||y| for 1/(1 − g²): the slope on β, through "
                f"all g on logarithmic axes, is within {{bound}} of {power:g}, nearer than to any "
                "other whole power, in the median of the networks.",
            )
            if low < high and name != "gradient_norm":
                claim.median(
                    f"{words}, more so for larger targets",
                    found.sel(target=low) - found.sel(target=high),
                    at_least=0.0,
                    place="Section 3, after (15)",
                    says=f"Higher orders add to it: the {words} falls more steeply with β for ẑ = "
                    f"{high:g} than for ẑ = {low:g}, in the median of the networks.",
                )
            for target in self.target:
                here = runs.sel(target=target)
                claim.median(
                    f"{words}, exponent of its exact flow, ẑ = {target:g}",
                    abs(found - flow).sel(target=target),
                    at_most=0.1,
                    says=f"For ẑ = {target:g}, the slope of the {words} on β is within {{bound}} "
                    "of that of the network's own exact flow, in the median of the networks.",
                )
                claim.median(
                    f"{words}, own exact flow, ẑ = {target:g}",
                    abs(self.counted(here, name) / here[f"flow_{name}"] - 1).median(
                        "g", skipna=False
                    ),
                    at_most=0.05,
                    says=f"For ẑ = {target:g}, the {words} is that of the network's own exact "
                    "flow, to {bound:.0%} in the median over g and over the networks.",
                )
        self._claim_shuffling(claim, runs)
        return claim

    def _claim_shuffling(self, claim: Claims, runs: xarray.Dataset) -> None:
        """Without its correlation with W₀ a change is worth what it is without W₀."""
        lost, low, high = self.counted(runs, "shuffled_loss"), min(self.target), max(self.target)
        first = xarray.DataArray(
            [shuffled_loss(g) for g in runs["g"].values], {"g": runs["g"].values}, ("g",)
        )
        between = [g for g in self.g if MIDDLE[0] <= g <= MIDDLE[1]]
        for target in dict.fromkeys((low, high)) if between else ():
            off, exact = (
                abs(xarray.apply_ufunc(np.log2, each.sel(target=target, g=between) / first)).median(
                    "g", skipna=False
                )
                for each in (lost, runs["removed_loss"])
            )
            away = float(exact.median())
            claim.median(
                f"shuffling, g from {MIDDLE[0]:g} to {MIDDLE[1]:g}, ẑ = {target:g}",
                off,
                at_most=1.0,
                place="Section 3, Figure 4(d)",
                says=f"For ẑ = {target:g} the loss after shuffling W₀ is L₀g⁴(2 − g²)² to within a "
                f"factor of 2, in the median over g from {MIDDLE[0]:g} to {MIDDLE[1]:g}, where it "
                "is neither zero nor all, and over the networks.",
                fails_because=f"The exact flow's ΔW without W₀ has {2**away:.1f} times that loss; "
                "the paper speaks of notable quantitative differences for larger targets."
                if away > 1
                else "",
            )
        removed = abs(lost - runs["removed_loss"]).median("g", skipna=False)
        for target in self.target:
            claim.median(
                f"shuffling, as without W₀, ẑ = {target:g}",
                removed.sel(target=target),
                at_most=0.1,
                says=f"For ẑ = {target:g}, shuffling W₀ is as good as removing it: the loss is "
                "{bound} of L₀ at most from that of the exact flow's ΔW alone, in the median over "
                "g and over the networks.",
            )
        if low < high:
            off = abs(lost - first).median("g", skipna=False)
            claim.median(
                "shuffling, larger targets differ more",
                off.sel(target=high) - off.sel(target=low),
                at_least=0.0,
                place="Section 3, Figure 4(d)",
                says=f"After shuffling, ẑ = {high:g} is further from first order than ẑ = {low:g}, "
                "in the median over g and over the networks.",
            )

    def first_order(self, name: str) -> np.ndarray:
        """The paper's scaling against g, relative to the smallest g."""
        scaling = (1 - np.sort(self.g) ** 2) ** FIRST_ORDER[name][1]
        return scaling / scaling[0]

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "Initial connectivity speeds up learning, and more so for large targets",
            self._panels(runs.sortby("g"), median_lines),
            columns=2,
            caption=f"N = {self.width}, {self.epochs} epochs of plain gradient descent on W, "
            f"{len(self.seed)} seeds: medians and the middle half. Dashed, grey: first order. "
            "Dotted: medians of the networks' own exact flows (ours); in the last panel of their "
            f"ΔW without W₀.{self._overshoot(runs)}",
        )

    def draw_paper(self, runs: xarray.Dataset) -> Figure:
        """With means and standard deviations."""
        return Figure("", self._panels(runs.sortby("g"), mean_lines), columns=2)

    def _panels(self, runs: xarray.Dataset, summary: Callable[..., list[Mark]]) -> list[Panel]:
        g = np.sort(self.g)
        lost, removed = (self.counted(runs, each) for each in ("shuffled_loss", "removed_loss"))
        first = [shuffled_loss(each) for each in g]
        words = "first order: g⁴(2 − g²)²"
        shuffled = [
            *summary(lost, "g", by="target", label="ẑ = {target:g}"),
            Line(g, first, label=words, colour="reference", style="dashed"),
        ]
        without = [
            mark
            for colour, target in enumerate(self.target)
            for mark in lines(
                removed.sel(target=target).median("seed"),
                "g",
                label=None if colour else "without W₀",
                colour=colour,
                style="dotted",
            )
        ]
        axes = Axis("g"), Axis("loss / initial loss", limits=(0, None))
        return [
            *(self._ratio_panel(runs, name, summary) for name in QUANTITIES),
            Panel("loss after shuffling W₀", *axes, shuffled, ours=without),
        ]

    def _overshoot(self, runs: xarray.Dataset) -> str:
        """Which networks end far from their flow: steps that are too long near the pole."""
        far = (runs["change_norm"] > 2 * runs["flow_change_norm"]).sum("seed")
        words = [
            f"{int(count)} with ẑ = {target:g} and g = {g:g}"
            for target in self.target
            for g in self.g
            if (count := far.sel(target=target, g=g))
        ]
        said = " Networks that overshoot and end far from their flow: "
        return f"{said}{', '.join(words)}." if words else ""

    def _ratio_panel(
        self, runs: xarray.Dataset, name: str, summary: Callable[..., list[Mark]]
    ) -> Panel:
        marks, ours = list[Mark](), list[Mark]()
        for colour, target in enumerate(self.target):
            ratio, exact = (
                _relative(self.counted(runs, each).sel(target=target))
                for each in (name, f"flow_{name}")
            )
            words = None if colour else "exact flow"
            marks += summary(ratio, "g", label=f"ẑ = {target:g}", colour=colour)
            ours += lines(exact.median("seed"), "g", label=words, colour=colour, style="dotted")
        g, words = np.sort(self.g), f"first order: {FIRST_ORDER[name][0]}"
        marks.append(
            Line(g, self.first_order(name), label=words, colour="reference", style="dashed")
        )
        log = name == "gradient_norm"
        ratio_axis = Axis("ratio", scale="log") if log else Axis("ratio", limits=(0, None))
        title = f"{QUANTITIES[name]} / that at g = {g[0]:g}"
        return Panel(title, Axis("g"), ratio_axis, marks, ours=ours)


def _relative(values: xarray.DataArray) -> xarray.DataArray:
    """Relative to the smallest g, network by network."""
    return values / values.isel(g=0, drop=True)


def _exponents(values: xarray.DataArray, beta: xarray.DataArray) -> xarray.DataArray:
    """Slopes of log values on log β through all g, network by network."""
    x, y = (xarray.apply_ufunc(np.log, each) for each in (beta, values))
    x = x - x.mean("g")
    return (x * (y - y.mean("g", skipna=False))).sum("g", skipna=False) / (x**2).sum("g")
