"""How much plasticity is lost, at which depth? (Beyond the paper, which proves it for depth two.)

The comparison: the stable rank after a warm start less that after a cold one, against depth and
against the size c of what is added. The target is the paper's example, w_ij = c^{j−i} of rank one;
first the diagonal is observed, then the upper triangle. Theorem 4.3's condition for lazy training
is evaluated where each warm start begins: proved for depth two, drawn for others as it would be.
"""

from typing import Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import DescentResult
from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Panel,
    Points,
    Shade,
    VerticalRule,
    lines,
    median_lines,
)
from tacit.experiments import Batch, Claims, Variable, at, fixed, swept
from tacit.experiments.depth.completion import FlowExperiment, share_by_seed
from tacit.experiments.depth.stages import StagedExperiment
from tacit.measures import crossing, singular_values_or_nan, stable_ranks
from tacit.theory.depth import lazy_condition

STARTS = {"gaussian": "Gaussian", "identity": "α I"}
ADDED = (1 / 36, 0.1, 0.2, 0.4, 1.0)
_IDLE = (
    "With so little to learn depth 2 loses nothing from Gaussian starts: a cold start ends at a "
    "higher stable rank than a warm one. Deep trials end at rank one both ways."
)


class Plasticity(StagedExperiment, FlowExperiment):
    """Stable rank of warm less that of cold start against depth, with Theorem 4.3."""

    id, figure = "depth/plasticity", "beyond the paper, section 4.3"

    depth: tuple[int, ...] = swept((2, 3, 4, 5), "number L of factors", low=2, high=10)
    start: tuple[str, ...] = swept(tuple(STARTS), "the kind of start", choices=tuple(STARTS))
    added: tuple[float, ...] = swept(
        ADDED, "size c of what is observed later: w_ij = c^(j−i)", low=1e-3, high=10.0
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
        "quick": dict(seed=range(30)),
        "paper": dict(seed=range(40)),
    }
    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        hidden = "relative error of the lower triangle, never observed"
        wrong = "entries of the upper triangle below zero after pre-training"
        return {
            **super().variables(),
            "hidden_error": Variable(hidden, "stage"),
            "steps_taken": Variable("steps of the last solver", "stage", dtype="int64"),
            "wrong_signs": Variable(wrong, dtype="int64"),
            "news": Variable("loss where the warm start begins"),
            "lazy_threshold": Variable("σ_min⁶/(1152 d σ_max²) there"),
            "kept": Variable("stable rank of A after the warm start, depth 2"),
            "kept_bound": Variable("bound of Theorem 4.3 on it, depth 2"),
        }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, size = batch.one("depth"), self.size
        cells = [  # from α I every trial is the same: one lane stands for all
            (cell["start"], cell["added"], cell["seed"] if cell["start"] == "gaussian" else 0)
            for cell in batch.cells
        ]
        lanes = list(dict.fromkeys(cells))
        rngs = [np.random.default_rng([seed, depth]) for _, _, seed in lanes]
        draws = np.stack([rng.standard_normal((depth, size, size)) for rng in rngs], axis=1)
        identity = np.array([start == "identity" for start, _, _ in lanes])[:, None, None]
        factors = self.scale ** (1 / depth) * np.where(identity, np.eye(size), draws)
        powers = np.arange(size)[None, :] - np.arange(size)[:, None]
        targets = np.stack([np.asarray(added, float) ** powers for _, added, _ in lanes])
        diagonal, triangle = np.eye(size, dtype=bool), np.triu(np.ones((size, size), bool))
        few, more = (self.completions(targets, mask) for mask in (diagonal, triangle))
        starts, legs = self.factorisations(factors), self.legs(depth)
        ends = self.run_stages(starts, few, more, legs, goal=self.goal, label=batch.label)

        def hidden_error(end: DescentResult) -> np.ndarray:
            off = (self.products(end.model) - targets)[:, ~triangle]
            return np.linalg.norm(off, axis=1) / np.linalg.norm(targets[:, ~triangle], axis=1)

        conditions = np.full((len(lanes), 3), np.nan)
        before = np.stack([np.asarray(f) for f in ends["pre"].model.tree.factors], axis=1)
        for lane in np.flatnonzero(np.isfinite(before).all(axis=(1, 2, 3))):
            conditions[lane] = lazy_condition(before[lane], triangle, targets[lane])
        last = singular_values_or_nan(ends["warm"].model.tree.factors[-1])
        found = {
            **self.measure(ends),
            "hidden_error": self.by_stage(ends, hidden_error),
            "steps_taken": self.by_stage(ends, lambda end: end.steps),
            "wrong_signs": np.sum(self.products(ends["pre"].model)[:, triangle] < 0, axis=1),
            "news": conditions[:, 0],
            "lazy_threshold": conditions[:, 1],
            "kept": stable_ranks(last) if depth == 2 else np.full(len(lanes), np.nan),
            "kept_bound": conditions[:, 2],
        }
        rows = np.array([lanes.index(cell) for cell in cells])
        return {name: values[rows] for name, values in found.items()}

    def _falls(self, runs: xarray.Dataset) -> dict[float, xarray.DataArray]:
        """For each c, trial by trial: the gap of depth 2 less that of the deepest."""
        deepest, gap = max(self.depth), self.gap(self.counted(runs, "stable_rank"))
        if deepest == 2:
            return {}
        trials = at(gap, start="gaussian", depth=2) - at(gap, start="gaussian", depth=deepest)
        return {added: at(trials, added=added) for added in sorted(self.added)}

    @staticmethod
    def _enough(trials: xarray.DataArray) -> bool:
        """Whether at least half of the trials count: with fewer, those that do are a selection."""
        return 2 * int(trials.count()) >= trials.size

    def _not_claimed(self, runs: xarray.Dataset) -> str:
        """The sizes c about which nothing is claimed, for a caption."""
        few = [f"{c:.3g}" for c, trials in self._falls(runs).items() if not self._enough(trials)]
        if not few:
            return ""
        return (
            f"Of c = {', '.join(few)} nothing is claimed: fewer than half of the Gaussian trials "
            f"end every stage at depths 2 and {max(self.depth)}. "
        )

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, deepest, example = Claims("(ours)"), max(self.depth), 1 / (12 * self.size)
        two = dict(depth=2, start="identity")
        share = at(runs["news"] / runs["lazy_threshold"], **two)
        claim.value(
            "Theorem 4.3's bound",
            at(runs["kept"] - runs["kept_bound"], **two).where(share <= 1).min(),
            says="Depth 2 from α I: where the condition holds, the stable rank of A after the "
            "warm start is at least the bound.",
            at_least=0.0,
            place="Theorem 4.3",
        )
        claim.value(
            "the paper's example is lazy",
            at(share, added=example).max(),
            says=f"The example with c = 1/(12d) = {example:.4g} meets the condition: loss over "
            "threshold is at most one.",
            at_most=1.0,
            place="section 4.3, example",
        )
        for added, trials in self._falls(runs).items():
            if not self._enough(trials):
                continue
            claim.median(
                f"depth {deepest} loses less, c = {added:.3g}",
                trials,
                says=f"Gaussian starts, c = {added:.3g}: in most of the trials that end every "
                "stage at both depths, the gap between warm and cold start is smaller at depth "
                f"{deepest} than at depth 2.",
                at_least=0.0,
                fails_because=_IDLE if added <= example else "",
                note=f"{int(trials.count())} of {trials.size} trials count, those that end every "
                "stage at both depths. Where fewer than half do, nothing is claimed: at c below "
                "one flow stays near a saddle in most, and those that leave it are not typical.",
                place="section 4 (ours at this size)",
            )
        rank = at(runs["stable_rank"], start="identity", stage="pre")
        claim.value(
            "from α I no depth helps",
            abs(rank / self.size - 1).max(),
            says="From α I pre-training ends at full stable rank, at every depth.",
            at_most=1e-3,
            place="Theorem 3.3, m = ∞",
        )
        claim.median(
            "runs that count",
            share_by_seed(self.counts(runs)),
            says=f"In most seeds at least 90% of the seed's runs reach a loss of {self.goal:g} in "
            "all three stages.",
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
            claim.median(
                "signs decide which warm starts arrive",
                share_by_seed(arrived == (part["wrong_signs"] == 0)),
                says="Gaussian starts, depth three and more, 0.2 ≤ c < 1: a warm start reaches the "
                "goal when pre-training left no sign of the upper triangle wrong, and only then, "
                "in at least 90% of the seed's runs in most seeds.",
                at_least=0.9,
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs, first, last = runs.sortby(["depth", "added"]), self.start[0], self.start[-1]
        gap = self.gap(self.counted(runs, "stable_rank"))
        share, sizes = runs["news"] / runs["lazy_threshold"], runs["added"].values.tolist()
        middle = np.log(at(share, start=last, depth=2).median("seed"))
        limit = np.exp(crossing(np.log(sizes), middle, 0.0, never=np.nan, at_start=np.nan))
        words = "lazy to the left (Thm 4.3, L = 2)"
        lazy = [VerticalRule(limit, label=words)] if np.isfinite(limit) else []
        stages = {"warm": "solid", "cold": "dashed"}
        arrived = (runs["stage_outcome"] == "converged").mean("seed")
        arrived = arrived.sel(start=first, stage=list(stages))
        hidden = self.counted(runs, "hidden_error").sel(start=first, stage=list(stages))
        share = share.assign_coords(start=[STARTS[start] for start in self.start])
        kinds = dict(zip(share["start"].values.tolist(), stages.values(), strict=False))
        colours = {depth: colour for colour, depth in enumerate(sorted(self.depth))}
        plain: dict[str, Any] = dict(colour=colours, band=False)
        label, shades = "c = {added:.3g}", Shade.by_value(sizes)

        def of_warm(added: float, stage: str) -> str | None:
            return f"c = {added:.3g}" if stage == "warm" else None

        falls = median_lines(gap.sel(start=first), "depth", by="added", label=label, colour=shades)
        look: dict[str, Any] = dict(colour=shades, style=stages, marker="o")
        arrivals = lines(arrived, "depth", by=("added", "stage"), label=of_warm, **look)
        rises = median_lines(gap.sel(start=last), "added", by="depth", label="L = {depth}")
        by, label = ("start", "depth"), "L = {depth}, {start}"
        conditions = median_lines(share, "added", by=by, label=label, style=kinds, **plain)
        by, label = ("depth", "stage"), "L = {depth}, {stage}"
        errors = median_lines(hidden, "added", by=by, label=label, style=stages, **plain)
        x, y = Axis("depth L", ticks=sorted(self.depth)), Axis("stable rank, warm − cold")
        size = Axis("size c of what is added", scale="log")
        part = Axis("share of runs at the goal", limits=(-0.03, 1.03))
        ratio = Axis("loss / (σ_min⁶ / 1152 d σ_max²)", scale="log")
        off = Axis("relative error of the lower triangle", scale="log")
        zero, useless = HorizontalRule(0.0), HorizontalRule(1.0, label="as good as zero")
        below = HorizontalRule(1.0, label="lazy below", colour="warning")
        name, note = f"{STARTS[first]} starts", "solid: warm, dashed: cold"
        added = f"{STARTS[last]} starts: the gap against what is added"
        return Figure(
            "Loss of plasticity against depth",
            [
                Panel(f"{name}: the gap against depth", x, y, [zero, *falls]),
                Panel(f"{name}: who gets there", x, part, arrivals, note=note),
                Panel(added, size, y, [zero, *rises, *lazy]),
                Panel("the condition of Theorem 4.3", size, ratio, [below, *conditions]),
                self._kept_panel(runs, size),
                Panel(f"{name}: entries never seen", size, off, [useless, *errors]),
            ],
            columns=3,
            caption=f"{self.size} × {self.size}, w_ij = c^(j−i): the diagonal first, then the "
            "upper triangle. Gap: stable rank after a warm start less that after a cold one. "
            f"Starts of scale αᴸ = {self.scale:g}, {len(self.seed)} trials, median and middle "
            f"half; gradient flow to a loss of {self.goal:g}. Theorem 4.3 is about depth 2; its "
            "condition is drawn for other depths with the same expression. "
            f"{self._not_claimed(runs)}{self.left_out(runs)} for a stage that did not end there.",
        )

    def _kept_panel(self, runs: xarray.Dataset, x: Axis) -> Panel:
        runs, two = runs.isel(seed=0), dict(depth=2, start="identity")
        lazy = runs["news"] <= runs["lazy_threshold"]
        kept, bound = at(runs["kept"], **two), at(runs["kept_bound"].where(lazy), **two)
        words = "bound, where the condition holds"
        y = Axis("stable rank of a factor", limits=(0, None))
        marks = [
            *lines(kept, "added", label="stable rank of A", colour=0, marker="o"),
            *lines(bound, "added", colour="reference", style="dashed"),
            Points(bound["added"], bound, label=words, colour="reference", filled=False),
        ]
        return Panel("depth 2 from α I: what a warm start keeps", x, y, marks)
