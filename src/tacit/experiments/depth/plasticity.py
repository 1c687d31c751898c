"""How much plasticity is lost, at which depth? (Beyond the paper, which proves it for depth two.)

The comparison: the stable rank after a warm start less that after a cold one, against depth and
against the size c of what is added. The target is the paper's example, w_ij = c^{j−i} of rank one;
first the diagonal is observed, then the upper triangle. Theorem 4.3's condition for lazy training,
loss ≤ σ_min⁶/(1152 d σ_max²), is evaluated where each warm start begins: it is proved for depth
two from α I, and drawn for the other depths as what it would be.
"""

import numpy as np
import xarray
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit.descent import DescentResult
from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Line,
    Panel,
    Points,
    Shade,
    VerticalRule,
    lines,
    median_lines,
)
from tacit.experiments import Batch, Claims, Variable, fixed, swept
from tacit.experiments.depth.completion import FlowExperiment
from tacit.experiments.depth.stages import Ends, StagedExperiment
from tacit.measures import crossing, stable_rank
from tacit.theory.depth import lazy_bound, lazy_condition

STARTS = {"gaussian": "Gaussian", "identity": "α I"}


class Plasticity(StagedExperiment, FlowExperiment):
    """Stable rank of warm less that of cold start against depth, with Theorem 4.3."""

    id, figure = "depth/plasticity", "beyond the paper, section 4.3"

    depth: tuple[int, ...] = swept((2, 3, 4, 5), "number L of factors", low=2, high=10)
    start: tuple[str, ...] = swept(tuple(STARTS), "the kind of start", choices=tuple(STARTS))
    added: tuple[float, ...] = swept(
        (1 / 36, 0.1, 0.2, 0.4, 1.0),
        "size c of what is observed later: w_ij = c^(j−i)",
        low=1e-3,
        high=10.0,
    )
    seed: tuple[int, ...] = swept(range(20), "trial: the start", low=0)
    size: int = fixed(3, "rows and columns d of the matrix", low=2, high=20)
    scale: float = fixed(1e-6, "initial scale αᴸ of the product", low=1e-40, high=1.0)
    goal: float = fixed(1e-12, "loss of a converged stage", low=0.0, high=1.0)
    tolerance: float = fixed(1e-7, "relative tolerance of the flow", low=1e-12, high=1e-2)
    attempts: int = fixed(400, "steps of the explicit solver at most", low=1)
    tail_attempts: int = fixed(1_500, "steps of the implicit solver at most", low=1)

    presets = {
        "smoke": dict(depth=(2, 3), added=(1 / 36, 0.4), seed=range(2), tail_attempts=200),
        "quick": {},
        "paper": dict(seed=range(40)),
    }
    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        """What each stage reached, and Theorem 4.3 at the beginning of the warm one."""
        wrong = "entries of the upper triangle below zero after pre-training"
        return {
            **super().variables(),
            "hidden_error": Variable(
                "relative error of the lower triangle, never observed", "stage"
            ),
            "steps_taken": Variable("steps of the last solver", "stage", dtype="int64"),
            "wrong_signs": Variable(wrong, dtype="int64"),
            "news": Variable("loss where the warm start begins"),
            "lazy_threshold": Variable("σ_min⁶/(1152 d σ_max²) there"),
            "kept": Variable("stable rank of A after the warm start, depth 2"),
            "kept_bound": Variable("bound of Theorem 4.3 on it, depth 2"),
        }

    def target(self, ratio: float) -> Float[np.ndarray, "size size"]:
        """w_ij = c^{j−i}, of rank one: ones on the diagonal (depth, section 4.3, with w* = 1)."""
        place = np.arange(self.size)
        return np.asarray(ratio, float) ** (place[None, :] - place[:, None])

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        """From α I every trial is the same: one lane stands for all."""
        depth, size = batch.one("depth"), self.size
        cells = [
            (cell["start"], cell["added"], cell["seed"] if cell["start"] == "gaussian" else 0)
            for cell in batch.cells
        ]
        lanes = list(dict.fromkeys(cells))
        factors = np.stack(
            [
                np.random.default_rng([seed, depth]).standard_normal((depth, size, size))
                if start == "gaussian"
                else np.broadcast_to(np.eye(size), (depth, size, size))
                for start, _, seed in lanes
            ],
            axis=1,
        )
        starts = self.factorisations(self.scale ** (1 / depth) * factors)
        targets = np.stack([self.target(added) for _, added, _ in lanes])
        triangle = np.triu(np.ones((size, size), bool))
        few, more = (
            self.completions(targets, mask) for mask in (np.eye(size, dtype=bool), triangle)
        )
        legs = self.legs(depth)
        ends = self.run_stages(starts, few, more, legs, goal=self.goal, label=batch.label)

        def hidden_error(end: DescentResult) -> np.ndarray:
            off = (self.products(end.model) - targets)[:, ~triangle]
            return np.linalg.norm(off, axis=1) / np.linalg.norm(targets[:, ~triangle], axis=1)

        found = {
            **self.measure(ends),
            "hidden_error": self.by_stage(ends, hidden_error),
            "steps_taken": self.by_stage(ends, lambda end: end.steps),
            "wrong_signs": np.sum(self.products(ends["pre"].model)[:, triangle] < 0, axis=1),
            **self._laziness(ends, targets, triangle),
        }
        rows = np.array([lanes.index(cell) for cell in cells])
        return {name: values[rows] for name, values in found.items()}

    def _laziness(self, ends: Ends, targets: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
        """Theorem 4.3 where the warm start begins; for other depths than two, its condition alone."""
        before = np.stack([np.asarray(f) for f in ends["pre"].model.tree.factors], axis=1)
        after = np.asarray(ends["warm"].model.tree.factors[-1])
        loss, threshold, kept, bound = np.full((4, len(before)), np.nan)
        for lane in np.flatnonzero(np.isfinite(before).all(axis=(1, 2, 3))):
            problem = (mask, targets[lane])
            loss[lane], threshold[lane] = lazy_condition(before[lane], *problem)
            if before.shape[1] == 2 and np.isfinite(after[lane]).all():
                bound[lane] = lazy_bound(before[lane, 1], before[lane, 0], *problem).stable_rank
                kept[lane] = stable_rank(after[lane])
        return {"news": loss, "lazy_threshold": threshold, "kept": kept, "kept_bound": bound}

    def gap(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Stable rank of warm less that of cold, where both and pre-training converged."""
        rank = self.counted(runs, "stable_rank")
        return rank.sel(stage="warm", drop=True) - rank.sel(stage="cold", drop=True)

    @staticmethod
    def lazy_limit(share: xarray.DataArray) -> float:
        """The size c at which the median of loss / threshold passes one; NaN if it does not."""
        middle = share.median("seed")
        options = dict(log_x=True, log_y=True, never=np.nan, at_start=np.nan)
        return float(crossing(share["added"], middle, 1.0, **options))

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Theorem 4.3 where it speaks, and what depth does to the gap where it does not."""
        claim, deepest = Claims("(ours)"), max(self.depth)
        share = runs["news"] / runs["lazy_threshold"]
        if 2 in self.depth and "identity" in self.start:
            exact, share = runs.sel(depth=2, start="identity"), share.sel(depth=2, start="identity")
            margin = (exact["kept"] - exact["kept_bound"]).where(share <= 1)
            example = 1 / (12 * self.size)
            claim.value(
                "Theorem 4.3's bound",
                margin.min(),
                says="Depth 2 from α I: where the condition holds, the stable rank of A after the "
                "warm start is at least the bound.",
                at_least=0.0,
                place="Theorem 4.3",
            )
            for added in [c for c in self.added if abs(c / example - 1) < 1e-9][:1]:
                claim.value(
                    "the paper's example is lazy",
                    share.sel(added=added).max(),
                    says=f"The example with c = 1/(12d) = {example:.4g} meets the condition: loss "
                    "over threshold is at most one.",
                    at_most=1.0,
                    place="section 4.3, example",
                )
        if "gaussian" in self.start and 2 in self.depth and deepest > 2:
            gap = self.gap(runs).sel(start="gaussian")
            less = gap.sel(depth=2) - gap.sel(depth=deepest)
            for added in sorted(self.added):
                trials = less.sel(added=added)
                claim.mean(
                    f"depth {deepest} loses less, c = {added:.3g}",
                    trials,
                    says=f"Gaussian starts, c = {added:.3g}: the gap between warm and cold start "
                    f"is smaller at depth {deepest} than at depth 2.",
                    at_least=0.0,
                    note=f"{int(trials.count())} of {trials.size} trials count, those that end "
                    "every stage at both depths: the smaller c, the fewer.",
                    place="section 4 (ours at this size)",
                )
        if "identity" in self.start:
            rank = runs["stable_rank"].sel(start="identity", stage="pre")
            claim.value(
                "from α I no depth helps",
                abs(rank / self.size - 1).max(),
                says="From α I pre-training ends at full stable rank, at every depth.",
                at_most=1e-3,
                place="Theorem 3.3, m = ∞",
            )
        claim.fraction(
            "runs that count",
            self.counts(runs),
            says=f"At least 90% of the runs reach a loss of {self.goal:g} in all three stages.",
            at_least=0.9,
            fails_because="From Gaussian starts depth three and more ends pre-training at rank one "
            "with signs of its own; what is added contradicts them, and flow stays near the saddle "
            "between one sign and the other.",
        )
        deep = [depth for depth in self.depth if depth > 2]
        sizes = [added for added in self.added if 0.2 <= added < 1]
        if deep and sizes and "gaussian" in self.start:
            part = runs.sel(start="gaussian", depth=deep, added=sizes)
            arrived = part["stage_outcome"].sel(stage="warm") == "converged"
            claim.fraction(
                "signs decide which warm starts arrive",
                arrived == (part["wrong_signs"] == 0),
                says="Gaussian starts, depth three and more, 0.2 ≤ c < 1: a warm start reaches the "
                "goal when pre-training left no sign of the upper triangle wrong, and only then, "
                "in at least 90% of the runs.",
                at_least=0.9,
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        """The gap against depth and size, what is kept, and the condition."""
        runs, first, last = runs.sortby(["depth", "added"]), self.start[0], self.start[-1]
        gap, share = self.gap(runs), runs["news"] / runs["lazy_threshold"]
        sizes = runs["added"].values
        shades = dict(zip(sizes.tolist(), Shade.family(len(sizes)), strict=True))
        colours = {depth: colour for colour, depth in enumerate(sorted(self.depth))}
        styles, stages = ("solid", "dashed"), {"warm": "solid", "cold": "dashed"}
        there = (runs["stage_outcome"] == "converged").mean("seed")
        there = there.sel(start=first, stage=list(stages))
        hidden = self.counted(runs, "hidden_error").sel(start=first, stage=list(stages))
        named = share.assign_coords(start=[STARTS[start] for start in self.start])
        kinds = dict(zip(named["start"].values.tolist(), styles, strict=False))

        def of_warm(added: float, stage: str) -> str | None:
            return f"c = {added:.3g}" if stage == "warm" else None

        size_words, depth_words = "c = {added:.3g}", "L = {depth}"
        falls = median_lines(
            gap.sel(start=first), "depth", by="added", label=size_words, colour=shades
        )
        arrivals = lines(
            there,
            "depth",
            by=("added", "stage"),
            label=of_warm,
            colour=shades,
            style=stages,
            marker="o",
        )
        rises = median_lines(gap.sel(start=last), "added", by="depth", label=depth_words)
        limit = self.lazy_limit(share.sel(start=last, depth=2)) if 2 in self.depth else np.nan
        if np.isfinite(limit):
            rises.append(VerticalRule(limit, label="lazy to the left (Thm 4.3, L = 2)"))
        conditions = median_lines(
            named,
            "added",
            by=("start", "depth"),
            label="L = {depth}, {start}",
            colour=colours,
            style=kinds,
            band=False,
        )
        errors = median_lines(
            hidden,
            "added",
            by=("depth", "stage"),
            label="L = {depth}, {stage}",
            colour=colours,
            style=stages,
            band=False,
        )
        depth, size = (
            Axis("depth L", ticks=sorted(self.depth)),
            Axis("size c of what is added", scale="log"),
        )
        y, zero = Axis("stable rank, warm − cold"), HorizontalRule(0.0)
        part = Axis("share of runs at the goal", limits=(-0.03, 1.03))
        ratio = Axis("loss / (σ_min⁶ / 1152 d σ_max²)", scale="log")
        off = Axis("relative error of the lower triangle", scale="log")
        below = HorizontalRule(1.0, label="lazy below", colour="warning")
        useless = HorizontalRule(1.0, label="as good as zero")
        name, other = f"{STARTS[first]} starts", f"{STARTS[last]} starts"
        note = "solid: warm, dashed: cold"
        panels = [
            Panel(f"{name}: the gap against depth", depth, y, [zero, *falls]),
            Panel(f"{name}: who gets there", depth, part, arrivals, note=note),
            Panel(f"{other}: the gap against what is added", size, y, [zero, *rises]),
            Panel("the condition of Theorem 4.3", size, ratio, [below, *conditions]),
            *(
                [self._kept_panel(runs, size)]
                if 2 in self.depth and "identity" in self.start
                else []
            ),
            Panel(f"{name}: entries never seen", size, off, [useless, *errors]),
        ]
        return Figure(
            "Loss of plasticity against depth",
            panels,
            columns=3,
            caption=f"{self.size} × {self.size}, w_ij = c^(j−i): the diagonal first, then the "
            "upper triangle. Gap: stable rank after a warm start less that after a cold one. "
            f"Starts of scale αᴸ = {self.scale:g}, {len(self.seed)} trials, median and middle "
            f"half; gradient flow to a loss of {self.goal:g}. Theorem 4.3 is about depth 2; its "
            "condition is drawn for other depths with the same expression. "
            f"{self.left_out(runs)} for a stage that did not end there.",
        )

    def _kept_panel(self, runs: xarray.Dataset, x: Axis) -> Panel:
        runs = runs.sel(depth=2, start="identity").isel(seed=0)
        sizes, bound = (
            runs["added"],
            runs["kept_bound"].where(runs["news"] <= runs["lazy_threshold"]),
        )
        words = "bound, where the condition holds"
        return Panel(
            "depth 2 from α I: what a warm start keeps",
            x,
            Axis("stable rank of a factor", limits=(0, None)),
            [
                Line(sizes, runs["kept"], label="stable rank of A", marker="o"),
                Line(sizes, bound, colour="reference", style="dashed"),
                Points(sizes, bound, label=words, colour="reference", filled=False),
            ],
        )
