"""How much plasticity is lost, at which depth? (Beyond the paper, which proves it for depth two.)

The comparison: the stable rank after a warm start less that after a cold one, against depth and
against the size c of what is added. The target is the paper's example, w_ij = c^{j−i} of rank one;
first the diagonal is observed, then the upper triangle. Theorem 4.3's condition for lazy training
is evaluated where each warm start begins; it is proved for depth two, and held against that alone.
Its example is trained at the paper's sizes too, from where pre-training from α I ends.
"""

from typing import Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import DescentResult, Stop, descend
from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Panel,
    Points,
    Shade,
    lines,
    median_lines,
)
from tacit.experiments import Batch, Claims, Finding, Variable, at, fixed, swept
from tacit.experiments.depth.completion import LEFT_OUT, FlowExperiment
from tacit.experiments.depth.stages import StagedExperiment
from tacit.measures import singular_values_or_nan, stable_ranks
from tacit.theory.depth import lazy_condition

STARTS = {"gaussian": "Gaussian", "identity": "α I"}
ADDED = (1 / 36, 0.1, 0.2, 0.4, 1.0)
RESOLVED = 1e-5
"""A loss of 1e-12, at which a stage has converged, moves a rank by about a tenth of it."""

_IDLE = (
    "With so little to learn depth 2 loses nothing from Gaussian starts: a cold start ends at a "
    "higher stable rank than a warm one. Deep trials end at rank one both ways."
)


class Plasticity(StagedExperiment, FlowExperiment):
    """Stable rank of warm less that of cold start against depth, with Theorem 4.3."""

    id, figure, version = "depth/plasticity", "beyond the paper, section 4.3", 2

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
    # Long plateaus: at 1e-5 the implicit solver takes a hundred times as many steps to cross them.
    tail_tolerance: float = fixed(1e-3, "relative tolerance of the implicit solver", low=1e-8)
    tail_attempts: int = fixed(6_000, "steps of the implicit solver at most", low=1)
    example_size: tuple[int, ...] = fixed((10, 20), "d of the paper's example, L = 2", low=2)

    finding = Finding(
        "From Gaussian starts five factors lose less rank by a warm start than two, at c = "
        "1 by {less|.2f|holds} (median): they end near rank one both ways.",
        "Rank one is not enough: with less to learn a warm start of five factors ends further from "
        "the entries never seen than a cold one in {off|satisfied|holds} of {off|samples} trials, "
        "one of two in {two|satisfied|holds}.",
        "From α I the loss grows with depth at every step, whether little is added or "
        "much.{?little|holds}{?much|holds}",
        less="depth 5 loses less, c = 1",
        off="a warm start is further off, depth 5, c = 0.4",
        two="a warm start is further off, depth 2, c = 0.4",
        little="from α I the gap grows with depth, c = 0.0278",
        much="from α I the gap grows with depth, c = 1",
    )

    unspecific = {
        **LEFT_OUT,
        "a warm start is further off, depth 2, *": "So it is at most depths and sizes and from α "
        "I; its opposite is another order of the stages, which are not a swept axis.",
    }

    presets = {
        "smoke": dict(depth=(2, 3), added=(1 / 36, 0.4), seed=range(2),
                      tail_attempts=1_500, example_size=(10,)),
        "quick": dict(depth=(2, 3, 5), added=(1 / 36, 0.2, 0.4, 1.0), seed=range(48)),
        "paper": dict(seed=range(48)),
    }  # fmt: skip
    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        hidden = "relative error of the lower triangle, never observed"
        return {
            **super().variables(),
            "hidden_error": Variable(hidden, "stage"),
            "steps_taken": Variable("steps of the last solver", "stage", dtype="int64"),
            "news": Variable("loss where the warm start begins"),
            "lazy_threshold": Variable("σ_min⁶/(1152 d σ_max²) there"),
            "kept": Variable("stable rank of A after the warm start, depth 2"),
            "kept_bound": Variable("bound of Theorem 4.3 on it, depth 2"),
            "example_share": Variable("news over lazy_threshold of the example", "example"),
            "example_kept": Variable("stable rank of the example's A", "example"),
            "example_bound": Variable("bound of Theorem 4.3 on it", "example"),
        }

    def coordinates(self) -> dict[str, tuple[Any, ...]]:
        return {**super().coordinates(), "example": self.example_size}

    @staticmethod
    def targets(size: int, added: list[float]) -> np.ndarray:
        """w_ij = c^{j−i} for every c."""
        powers = np.arange(size)[None, :] - np.arange(size)[:, None]
        return np.asarray(added, float)[:, None, None] ** powers

    def run_example(self, size: int, label: str) -> tuple[float, float, float]:
        """The paper's example at this d: loss over threshold, stable rank of A and its bound.

        From α I pre-training ends at A = B = I exactly (Proposition 4.1), where this begins.
        """
        target, mask = self.targets(size, [1 / (12 * size)]), np.triu(np.ones((size,) * 2)) > 0
        begin, more = np.eye(size)[None], self.completions(target, mask)
        lazy = lazy_condition([begin[0]] * 2, mask, target[0])
        stop, ((method, _), _) = Stop(self.tail_attempts, loss=self.goal), self.legs(2)
        end = descend(self.factorisations([begin] * 2), more, method, stop=stop, title=label)
        ranks = stable_ranks(singular_values_or_nan(end.model.tree.factors[-1]))
        kept = np.where(end.outcome == "converged", ranks, np.nan).item()
        return lazy.loss / lazy.threshold, kept, lazy.stable_rank

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
        targets = self.targets(size, [added for _, added, _ in lanes])
        diagonal, triangle = np.eye(size, dtype=bool), np.triu(np.ones((size, size), bool))
        few, more = (self.completions(targets, mask) for mask in (diagonal, triangle))
        starts, legs = self.factorisations(factors), self.legs(depth, self.tail_tolerance)
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
            "news": conditions[:, 0],
            "lazy_threshold": conditions[:, 1],
            "kept": stable_ranks(last) if depth == 2 else np.full(len(lanes), np.nan),
            "kept_bound": conditions[:, 2],
        }
        example = np.full((3, len(self.example_size)), np.nan)
        if depth == 2 and self.example_size:
            example = np.array([self.run_example(d, batch.label) for d in self.example_size]).T
        rows = np.array([lanes.index(cell) for cell in cells])
        for name, values in zip(("share", "kept", "bound"), example, strict=True):
            found[f"example_{name}"] = np.tile(values, (len(lanes), 1))
        return {name: values[rows] for name, values in found.items()}

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
        for d in self.example_size if 2 in self.depth else ():
            run = runs.sel(example=d, depth=2).isel(seed=0, start=0, added=0)
            claim.value(
                f"Theorem 4.3's bound, d = {d}",
                (run["example_kept"] - run["example_bound"]).where(run["example_share"] <= 1),
                says=f"The example at d = {d} is lazy, and after the warm start the stable rank of "
                f"A is at least the bound, {float(run['example_bound']):.4g}.",
                at_least=0.0,
                place="section 4.3, example",
            )
        gap = self.gap(self.counted(runs, "stable_rank"))
        hidden = self.counted(runs, "hidden_error")
        # Between 1/(12d) and 0.2 the gap of depth 2 changes its sign: nothing is claimed there.
        sizes = [c for c in sorted(self.added) if not example < c < 0.2]
        for added in sizes if deepest > 2 and "gaussian" in self.start else ():
            trials = at(gap, start="gaussian", added=added)
            claim.median(
                f"depth {deepest} loses less, c = {added:.3g}",
                at(trials, depth=2) - at(trials, depth=deepest),
                says=f"Gaussian starts, c = {added:.3g}: in most trials the gap between warm and "
                f"cold start is smaller at depth {deepest} than at depth 2, by more than "
                "{bound}.",
                at_least=RESOLVED,
                fails_because=_IDLE if added <= example else "",
                place="section 4 (ours at this size)",
            )
            # With less to learn a cold start ends with signs of its own too, in many deep trials.
            for depth in (2, deepest) if 0.3 <= added < 1 else ():
                off = at(hidden, start="gaussian", depth=depth, added=added)
                claim.median(
                    f"a warm start is further off, depth {depth}, c = {added:.3g}",
                    off.sel(stage="warm") / off.sel(stage="cold"),
                    says=f"Gaussian starts, depth {depth}, c = {added:.3g}: in most trials a warm "
                    "start is further from the entries never seen than a cold one. Pre-training "
                    "leaves signs of its own, right or wrong.",
                    at_least=1.0,
                )
        for added in sizes if deepest > 2 and "identity" in self.start else ():
            one = at(gap, start="identity", added=added).isel(seed=0)  # all seeds are alike
            claim.value(
                f"from α I the gap grows with depth, c = {added:.3g}",
                one.sortby("depth").diff("depth").min(skipna=False),
                says=f"From α I, c = {added:.3g}: the gap between warm and cold start is larger at "
                "each depth than at the one before, by more than {bound}.",
                at_least=RESOLVED,
            )
        self.claim_that_runs_count(claim, runs, share=0.95, loss=self.goal)
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs, first, last = runs.sortby(["depth", "added"]), self.start[0], self.start[-1]
        gap = self.gap(self.counted(runs, "stable_rank"))
        sizes = runs["added"].values.tolist()
        stages = {"warm": "solid", "cold": "dashed"}
        hidden = self.counted(runs, "hidden_error").sel(start=first, stage=list(stages))
        colours = {depth: colour for colour, depth in enumerate(sorted(self.depth))}
        label, shades = "c = {added:.3g}", Shade.by_value(sizes)
        falls = median_lines(gap.sel(start=first), "depth", by="added", label=label, colour=shades)
        rises = median_lines(gap.sel(start=last), "added", by="depth", label="L = {depth}")
        by, label = ("depth", "stage"), "L = {depth}, {stage}"
        errors = median_lines(
            hidden, "added", by=by, label=label, style=stages, colour=colours, band=False
        )
        x, y = Axis("depth L", ticks=sorted(self.depth)), Axis("stable rank, warm − cold")
        size = Axis("size c of what is added", scale="log")
        off = Axis("relative error of the lower triangle", scale="log")
        zero, useless = HorizontalRule(0.0), HorizontalRule(1.0, label="as good as zero")
        name, note = f"{STARTS[first]} starts", "solid: warm, dashed: cold"
        return Figure(
            "Loss of plasticity against depth",
            [
                Panel(f"{name}: the gap against depth", x, y, [zero, *falls]),
                Panel(f"{STARTS[last]} starts: the gap against c", size, y, [zero, *rises]),
                self._kept_panel(runs, size),
                Panel(f"{name}: entries never seen", size, off, [useless, *errors], note=note),
            ],
            columns=2,
            caption=f"{self.size} × {self.size}, w_ij = c^(j−i): the diagonal first, then the "
            "upper triangle. Gap: stable rank after a warm start less that after a cold one. "
            f"Starts of scale αᴸ = {self.scale:g}, {len(self.seed)} trials, median and middle "
            f"half; gradient flow to a loss of {self.goal:g}. Theorem 4.3 is about depth 2. "
            f"{self.left_out(runs)} for a stage that did not end there.",
        )

    def _kept_panel(self, runs: xarray.Dataset, x: Axis) -> Panel:
        runs, two = runs.isel(seed=0), dict(depth=2, start="identity")
        lazy = runs["news"] <= runs["lazy_threshold"]
        kept, bound = at(runs["kept"], **two), at(runs["kept_bound"].where(lazy), **two)
        words = "bound, where the condition holds"
        y = Axis("stable rank of a factor", scale="log")
        marks = [
            *lines(kept, "added", label="stable rank of A", colour=0, marker="o"),
            *lines(bound, "added", colour="reference", style="dashed"),
            Points(bound["added"], bound, label=words, colour="reference", filled=False),
        ]
        for colour, d in enumerate(self.example_size, start=1):
            run, place = runs.isel(added=0).sel({**two, "example": d}), [1 / (12 * d)]
            marks.append(Points(place, [run["example_kept"]], label=f"d = {d}", colour=colour))
            marks.append(Points(place, [run["example_bound"]], colour=colour, filled=False))
        return Panel("depth 2 from α I: what a warm start keeps", x, y, marks)
