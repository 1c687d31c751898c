"""connectivity, Figure 4: how the strength of initial connectivity speeds up a linear network.

The comparison: learning time, norm of ΔW, mean norm of the gradient and the loss after shuffling
W₀, against g, in simulation, at first order as the paper predicts them, and exactly for large N
(ours). The first three are taken relative to their value at g = 0.
"""

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.draw import Axis, Figure, Line, Mark, Panel, lines, mean_lines
from tacit.experiments import Batch, Claims, Variable, stacked
from tacit.experiments.connectivity.linear import LinearExperiment, outcome, paper_rate
from tacit.theory.connectivity import FixedPoint, LinearNetwork, gradient_descent, large_n

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
FAR = {
    ("learning_time", 2.0): 0.11,
    ("change_norm", 1.0): 0.12,
    ("change_norm", 2.0): 0.15,
    ("gradient_norm", 0.5): 0.45,
    ("gradient_norm", 1.0): 0.60,
    ("gradient_norm", 2.0): 0.38,
}
"""Where first order is further than a tenth of the panel's height from the exact theory for large
N, and how far, with g up to 0.9."""
LATE = (
    "Third-order terms grow with ẑ²β, (14) and (15): the exact theory for large N is off first "
    "order by {:.2f} of the panel's height, with g up to 0.9."
)


class Fig4(LinearExperiment):
    """A linear network's learning time, change and gradient against initial connectivity."""

    id, figure = "connectivity/fig4", "Figure 4"

    target: tuple[float, ...] = (0.5, 1.0, 2.0)
    g: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

    presets = {
        "smoke": dict(width=60, g=(0.0, 0.5), target=(0.5, 2.0), seed=range(2)),
        "quick": dict(width=512, g=(0.0, 0.2, 0.4, 0.6, 0.8), seed=range(48)),
        "paper": {},
    }
    batch_by = "g"

    def variables(self) -> dict[str, Variable]:
        return {
            **{name: Variable(words) for name, words in QUANTITIES.items()},
            **{
                f"limit_{name}": Variable(f"{words}, large N") for name, words in QUANTITIES.items()
            },
            "shuffled_loss": Variable("loss after shuffling W₀ / initial loss"),
            "final_loss": Variable("loss at the end / initial loss"),
        }

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        g = batch.one("g")
        networks = {s: LinearNetwork.random(self.width, g, seed=s) for s in batch.values("seed")}
        predicted = self._predicted(g, batch.values("target"))
        rows: list[dict[str, ArrayLike]] = []
        for cell in batch.cells:
            target, network = cell["target"], networks[cell["seed"]]
            rate = paper_rate(target, g)
            state = FixedPoint(network, target)
            run = gradient_descent(state, rate, self.epochs)
            ended = self.learning_time(run, rate)
            until = 1 + int(ended / rate) if np.isfinite(ended) else 0
            change = state.change()
            shuffled = measures.shuffled(network.W0, seed=cell["seed"])
            z = network.w @ np.linalg.solve(np.eye(self.width) - shuffled - change, network.m)
            rows.append(
                {
                    **predicted[target],
                    "outcome": outcome(run, ended),
                    "learning_time": ended,
                    "change_norm": np.linalg.norm(change),
                    "gradient_norm": run.gradients[:until].mean() if until else np.nan,
                    "shuffled_loss": (target - z) ** 2 / 2 / run.losses[0],
                    "final_loss": run.losses[-1] / run.losses[0],
                }
            )
        return stacked(rows)

    def _predicted(self, g: float, targets: tuple[float, ...]) -> dict[float, dict[str, float]]:
        """The same for large N. ∫‖dW/dτ‖dτ is the arc length, so that no average need be taken."""
        curve = large_n(g, targets=targets)
        found = {}
        for target in targets:
            ended = curve.learning_time(target, self.fraction)
            last = paper_rate(target, g) * self.epochs
            values = curve.singular_values(last, target=target, count=16)
            found[target] = {
                "limit_learning_time": ended,
                "limit_change_norm": float(np.linalg.norm(values)),
                "limit_gradient_norm": float(curve.arc_length(ended, target=target)) / ended,
            }
        return found

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 4(a)–(c)")
        weakest, strongest = min(self.g), max(self.g)
        runs = runs.sortby("g")
        for name, words in QUANTITIES.items():
            scaling = FIRST_ORDER[name][0]
            first = xarray.DataArray(self.first_order(name), dims="g")
            for target in self.target:
                ratio, exact = (
                    _relative(runs[each].sel(target=target)) for each in (name, f"limit_{name}")
                )
                far = FAR.get((name, target)) if strongest >= 0.8 else None
                said = f"For ẑ = {target:g}, the {words} relative to g = {weakest:g}"
                height = f"by a tenth of the panel's height at most, at every g up to {strongest:g}"
                # Both are for large N, and no network's scatter enters.
                claim.value(
                    f"{words}, first order, ẑ = {target:g}",
                    abs(exact.max("seed") - first).max() / first.max(),
                    at_most=0.1,
                    says=f"{said} scales as {scaling}: the exact theory for large N is off that "
                    f"{height}.",
                    fails_because=LATE.format(far) if far else "",
                )
                if weakest == strongest:
                    continue
                # The theory is one for the average network: single ones scatter to both sides.
                over = (ratio / exact).isel(g=slice(1, None)).prod("g", skipna=False)
                over = over ** (1 / (len(self.g) - 1))
                here = f"{words}, the exact theory for large N, ẑ = {target:g}"
                says = (
                    f"{said} is that of the exact theory for large N: the ratio of a network of "
                    f"{self.width} units to it, in the geometric mean over the larger g up to "
                    f"{strongest:g}, has a median of"
                )
                claim.median(
                    f"{here}: not more",
                    over.fillna(np.inf),  # a run that does not reach the end of learning
                    at_most=1.1,
                    place="Figure 4(a)–(c) (ours)",
                    says=f"{says} 1.1 at most.",
                )
                claim.median(
                    f"{here}: not less",
                    over.fillna(0.0),
                    at_least=0.9,
                    place="Figure 4(a)–(c) (ours)",
                    says=f"{says} 0.9 at least.",
                )
        for target in self.target:
            claim.median(
                f"shuffling, ẑ = {target:g}",
                runs["shuffled_loss"].sel(target=target, g=strongest).fillna(np.inf),
                at_least=0.1,
                place="Figure 4(d)",
                says=f"For ẑ = {target:g} and g = {strongest:g}, shuffling W₀ brings back a tenth "
                "of the initial loss or more, in the median.",
            )
        return claim

    def first_order(self, name: str) -> np.ndarray:
        """The paper's scaling against g, relative to the smallest g."""
        scaling = (1 - np.sort(self.g) ** 2) ** FIRST_ORDER[name][1]
        return scaling / scaling[0]

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs, g = runs.sortby("g"), np.sort(self.g)
        shuffled = mean_lines(runs["shuffled_loss"], "g", by="target", label="ẑ = {target:g}")
        first = "first order: g⁴(2 − g²)²"
        shuffled.append(
            Line(g, g**4 * (2 - g**2) ** 2, label=first, colour="reference", style="dashed")
        )
        return Figure(
            "Initial connectivity speeds up learning, and more so for large targets",
            [
                *(self._ratio_panel(runs, name) for name in QUANTITIES),
                Panel("loss after shuffling W₀", Axis("g"), Axis("loss / initial loss"), shuffled),
            ],
            columns=2,
            caption=f"N = {self.width}, {self.epochs} epochs of plain gradient descent on W, "
            f"{len(self.seed)} seeds: mean and standard deviation. Dashed, grey: first order. "
            "Dotted: exact for large N.",
        )

    def _ratio_panel(self, runs: xarray.Dataset, name: str) -> Panel:
        marks: list[Mark] = []
        for colour, target in enumerate(self.target):
            ratio, exact = (
                _relative(runs[each].sel(target=target)) for each in (name, f"limit_{name}")
            )
            words = None if colour else "exact, large N"
            marks += mean_lines(ratio, "g", label=f"ẑ = {target:g}", colour=colour)
            marks += lines(exact.isel(seed=0), "g", label=words, colour=colour, style="dotted")
        g, words = np.sort(self.g), f"first order: {FIRST_ORDER[name][0]}"
        marks.append(
            Line(g, self.first_order(name), label=words, colour="reference", style="dashed")
        )
        log = name == "gradient_norm"
        return Panel(
            f"{QUANTITIES[name]}, relative to g = {g[0]:g}",
            Axis("g"),
            Axis("ratio", scale="log" if log else "linear", limits=None if log else (0, None)),
            marks,
        )


def _relative(values: xarray.DataArray) -> xarray.DataArray:
    """Relative to the smallest g, network by network."""
    return values / values.isel(g=0, drop=True)
