"""depth, Figure 3: does a network that was trained on few entries make good use of more of them?

The comparison: effective rank and error of a completed 100 × 100 matrix of rank 5, after training
on 2,000 entries (pre), after going on with 1,000 more (warm), and after starting again with all
3,000 (cold), for depths 2, 3, 4. Shallow factorisations carry the rank of the first fit along.

The text gives sizes, rank, depths and numbers of entries. The authors' public script
(github.com/baekrok/MC, experiments/matrix_completion.py) gives the rest: a target N(0, 1)·N(0, 1)ᵀ,
entries of deviation α^{1/L}/√d with α = 1e-2 and 1e-4, all factors from one draw, a stop at a mean
loss of 1e-5 over all entries, twenty seeds. Flow stands for its gradient descent.
"""

import jax
import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import DescentResult, GradientFlow, Lanes, StabilisedRungeKutta
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments import Batch, Claims, Finding, UsageError, Variable, fixed, swept
from tacit.experiments.depth.completion import PROTOCOLS, share_by_seed
from tacit.experiments.depth.stages import STAGES, StagedExperiment
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern, low_rank_matrix

LITTLE, KEPT = 0.1, 0.05
"""A rank that is higher by at most a tenth is nearly as low; by less than half of that, as low."""

SMALLER = 0.01
"""A difference of ranks that is about the width of a line in the figure."""

TOTAL = 10
"""A warm start that ends so many times further from the target than a cold one has lost it."""

_SMALL = dict(size=30, rank=2, few=240, more=360)


class Fig3(StagedExperiment):
    """Warm against cold start on more entries of a matrix of rank 5, by depth."""

    id, figure, version = "depth/fig3", "Figure 3", 2
    published = dict(seed=range(20))  # of the public code; the paper gives no number
    finding = Finding(
        "From the smaller scale a warm start of two factors ends at an effective rank {two|.0%} "
        "above that of a cold one (median) and {price|.1f|holds} times as far from the target; "
        "with four factors the rank is {four|.2%|holds} above.",
        two="warm over cold, depth 2, αᴸ = 0.0001",
        price="the price, depth 2, αᴸ = 0.0001",
        four="warm over cold, depth 4, αᴸ = 0.0001",
    )
    unspecific = {
        "every run converges": "That all runs converge is asked of all, wherever they stand."
    }

    depth: tuple[int, ...] = swept((2, 3, 4), "number L of factors", low=1, high=8)
    scale: tuple[float, ...] = swept(
        (1e-2, 1e-4), "αᴸ of a start whose entries have deviation α/√d", low=1e-12, high=10.0
    )
    seed: tuple[int, ...] = swept(range(20), "trial: target, entries and start", low=0)
    size: int = fixed(100, "rows and columns of the matrix", low=4, high=300)
    rank: int = fixed(5, "rank of the target", low=1, high=100)
    few: int = fixed(2000, "entries of the pre-training", low=1, high=90_000)
    more: int = fixed(3000, "entries after it, the first ones among them", low=1, high=90_000)
    protocol: str = fixed(
        "code",
        "factors drawn each by itself (text) or all equal at the start (public code)",
        choices=PROTOCOLS,
    )
    goal: float = fixed(
        1e-5, "mean over all entries of (…)², zero where not observed, at which a stage ends",
        low=0.0, high=1.0,
    )  # fmt: skip
    tolerance: float = fixed(1e-3, "relative tolerance of the flow", low=1e-8, high=1e-1)
    attempts: int = fixed(5_000, "steps of the solver at most", low=1)

    presets = {
        "smoke": dict(depth=(2, 3), seed=range(2), **_SMALL),
        "quick": dict(seed=range(20), **_SMALL),
        "paper": {},
    }
    batch_by = "depth"

    def check(self) -> None:
        """Entries nest inside the matrix."""
        if not self.few <= self.more <= self.size**2:
            raise UsageError(
                f"more: received {self.more}, it must lie between few = {self.few} and "
                f"size² = {self.size**2}"
            )
        if self.rank > self.size:
            raise UsageError(f"rank: received {self.rank}, it must be at most size = {self.size}")

    def variables(self) -> dict[str, Variable]:
        return {
            **super().variables(),
            "error": Variable("‖X − W*‖ / ‖W*‖ over all entries", "stage"),
            "steps_taken": Variable("steps of the solver", "stage", dtype="int64"),
            "time": Variable("time of the flow at the end", "stage"),
        }

    def draw_trial(
        self, seed: int, scale: float, depth: int
    ) -> tuple[jax.Array, DeepFactorisation, tuple[Pattern, ...]]:
        """Target, start and both patterns; the first and the last are the same for every depth."""
        target_key, pattern_key, start_key = jax.random.split(jax.random.key(seed), 3)
        d = self.size
        target = low_rank_matrix(d, d, rank=self.rank, key=target_key)
        patterns = Pattern.nested(d, d, counts=(self.few, self.more), key=pattern_key)
        deviation = scale ** (1 / depth) / np.sqrt(d)
        start = DeepFactorisation.random([d] * (depth + 1), scale=deviation, key=start_key)
        if self.protocol == "code":
            start = DeepFactorisation(start.factors[:1] * depth)
        return target, start, patterns

    @property
    def loss_goal(self) -> float:
        """The goal as a loss ½ Σ (…)²."""
        return 0.5 * self.goal * self.size**2

    @property
    def method(self) -> GradientFlow:
        """Flow with many stages a step: the tail of deeper ones is long, and stiff."""
        solver = StabilisedRungeKutta(most=250)
        return GradientFlow(solver, rtol=self.tolerance, atol=1e-3 * self.tolerance)

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth = batch.one("depth")
        with jax.enable_x64(True):
            trials = [
                self.draw_trial(int(seed), float(scale), depth)
                for seed, scale in zip(batch.column("seed"), batch.column("scale"), strict=True)
            ]
            few, more = (
                Lanes.stack([MatrixCompletion(target, p[stage]) for target, _, p in trials])
                for stage in (0, 1)
            )
        starts = Lanes.stack([start for _, start, _ in trials])
        legs = [(self.method, self.attempts)]
        ends = self.run_stages(starts, few, more, legs, goal=self.loss_goal, label=batch.label)
        wanted = np.stack([np.asarray(target) for target, _, _ in trials])

        def error(end: DescentResult) -> np.ndarray:
            off = np.linalg.norm(self.products(end.model) - wanted, axis=(1, 2))
            return off / np.linalg.norm(wanted, axis=(1, 2))

        return {
            **self.measure(ends),
            "error": self.by_stage(ends, error),
            "steps_taken": self.by_stage(ends, lambda end: end.steps),
            "time": self.by_stage(ends, lambda end: end.report["time"]),
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Who keeps which rank, from every scale."""
        claim = Claims("Figure 3, top row")
        for scale in self.scale:
            self._claim_about(claim, runs.sel(scale=scale), scale)
        claim.median(
            "every run converges",
            share_by_seed(self.counts(runs)),
            says=f"In most trials every run reaches a mean loss of {self.goal:g} in all stages.",
            at_least=1.0,
            place="(ours)",
        )
        return claim

    def _claim_about(self, claim: Claims, runs: xarray.Dataset, scale: float) -> None:
        depths, whence = sorted(self.depth), f"αᴸ = {scale:g}"
        rank, error = self.counted(runs, "effective_rank"), self.counted(runs, "error")
        gap = self.gap(rank)
        for depth in depths:
            shallow = depth == 2
            claim.median(
                f"warm over cold, depth {depth}, {whence}",
                (gap / rank.sel(stage="cold")).sel(depth=depth),
                says=f"Depth {depth}, {whence}: in most trials a warm start ends at an effective "
                f"rank above that of a cold start, by at {'least' if shallow else 'most'} "
                "{bound:.0%}.",
                at_least=KEPT if shallow else None,
                at_most=None if shallow else LITTLE,
            )
        if 2 in depths:
            errors = error.sel(depth=2)
            claim.median(
                f"the price, depth 2, {whence}",
                errors.sel(stage="warm") / errors.sel(stage="cold"),
                says=f"Depth 2, {whence}: in most trials the error after a warm start is at least "
                "{bound} times that after a cold one.",
                at_least=1.1,
                place="Figure 3, bottom row",
            )
        for deeper in depths[1:] if 2 in depths else ():
            claim.median(
                f"the gap falls from depth 2 to {deeper}, {whence}",
                gap.sel(depth=2) - gap.sel(depth=deeper),
                says=f"{whence}: depth {deeper} loses less plasticity than depth 2; in most "
                "trials the gap in effective rank between warm and cold start is smaller by at "
                "least {bound}.",
                at_least=SMALLER,
                place="section 4",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        """Both rows of the paper's figure for each scale: a line a depth, a point a trial."""
        rule = HorizontalRule(self.rank, label="rank of the target")
        ticks = dict(zip((0.0, 1.0, 2.0), STAGES, strict=True))
        x = Axis("stage", ticks=ticks, limits=(-0.4, len(STAGES) - 0.6))
        y, log = Axis("effective rank"), Axis("relative error", scale="log")
        ranks, errors = self.counted(runs, "effective_rank"), self.counted(runs, "error")
        panels = []
        for scale in self.scale:
            rank, error = (self._marks(values.sel(scale=scale)) for values in (ranks, errors))
            title = f"αᴸ = {scale:g}: "
            panels.append(Panel(f"{title}effective rank", x, y, [rule, *rank], legend="best"))
            note = self._lost(errors.sel(scale=scale))
            panels.append(Panel(f"{title}relative error", x, log, error, legend="best", note=note))
        tied = "one draw for all factors" if self.protocol == "code" else "a draw for each factor"
        return Figure(
            "Depth keeps the rank of a warm start low",
            panels,
            columns=2,
            caption=f"{self.size} × {self.size} targets of rank {self.rank}, N(0, 1)·N(0, 1)ᵀ; "
            f"{self.few:,} entries, then {self.more:,} ({'; '.join(STAGES.values())}). Gaussian "
            f"starts of standard deviation α/√d, {tied}, gradient flow to a mean loss of "
            f"{self.goal:g}. Lines: median of {len(self.seed)} trials; points: trials. "
            f"{self.left_out(runs)} for a stage that did not end there.",
        )

    def _lost(self, errors: xarray.DataArray) -> str:
        """In how many trials a warm start ends far from where a cold one does, by depth."""
        lost = (errors.sel(stage="warm") > TOTAL * errors.sel(stage="cold")).sum("seed")
        counts = ", ".join(f"L = {L}: {int(lost.sel(depth=L))}" for L in sorted(self.depth))
        return f"warm more than {TOTAL} × cold, of {len(self.seed)} trials: {counts}"

    def _marks(self, values: xarray.DataArray) -> list[Mark]:
        marks: list[Mark] = []
        for colour, depth in enumerate(sorted(self.depth)):
            at = values.sel(depth=depth).transpose("stage", "seed")
            x = np.arange(len(STAGES)) + 0.05 * (colour - (len(self.depth) - 1) / 2)
            places = np.repeat(x, at.sizes["seed"])
            middle = at.median("seed")
            marks += [
                Line(x, middle, label=f"L = {depth}", colour=colour, width=1.2),
                Points(places, at.values.ravel(), colour=colour, size=3.5, opacity=0.7),
            ]
        return marks
