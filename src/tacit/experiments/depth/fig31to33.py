"""depth, Figures 31 to 33: warm against cold start on one entry more of a 2 × 2 matrix.

The comparison: rank and the entry w₂₁ that is never observed, after pre-training on the diagonal,
after going on with w₁₂ (warm) and after starting again with it (cold), against the ratio m of the
start (7). At m = ∞ and equal diagonal entries Theorem 4.2 bounds the stable rank from below.
Figure 31's caption says w₁₂ = 0.5, the text about it w₁₂ = 0.1: both are shown. The text's numbers
(a bound of 1.45 on the stable rank, 1.8 observed) belong to one of them.
"""

from typing import ClassVar

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Lanes
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.depth.completion import FlowExperiment
from tacit.experiments.depth.stages import STAGES, StagedExperiment
from tacit.models import DeepFactorisation
from tacit.theory.depth import disconnected_limit, plasticity_bound

INFINITE = float("inf")
TEXT, CAPTION = 0.1, 0.5

NAMES = {"effective rank": "effective_rank", "stable rank": "stable_rank", "w₂₁": "hidden_entry"}


class TwoByTwo(StagedExperiment, FlowExperiment):
    """Rank and the hidden entry after warm and cold starts, against m."""

    ratio: tuple[float, ...] = swept(
        (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6, INFINITE),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
    )
    added: tuple[float, ...] = swept(
        (CAPTION, TEXT), "w₁₂, observed after pre-training", low=1e-3, high=1e3
    )
    first: float = fixed(1.0, "w₁₁", low=1e-3, high=1e3)
    second: float = fixed(1.0, "w₂₂", low=1e-3, high=1e3)
    depth: int = fixed(2, "number L of factors", low=2, high=10)
    scale: float = fixed(1e-3, "α: diagonal entries of every factor", low=1e-20, high=1.0)
    goal: float = fixed(1e-16, "loss of a converged stage", low=0.0, high=1.0)
    tolerance: float = fixed(1e-10, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = fixed(3_000, "steps of the explicit solver at most", low=1)
    tail_attempts: int = fixed(2_000, "steps of the implicit solver at most", low=1)

    presets = {"smoke": dict(ratio=(2.0, 100.0, INFINITE)), "quick": {}, "paper": {}}
    unspecific = {
        "every run converges": "That all stages converge is asked of all, wherever they stand.",
        "pre-training's closed form": "Each run is held against its own limit where it is "
        "computed, and the largest difference of all is asked for.",
    }
    title: ClassVar[str] = "A warm start keeps the rank of the first fit"
    remark: ClassVar[str] = ""

    def variables(self) -> dict[str, Variable]:
        return {
            **super().variables(),
            "hidden_entry": Variable("w₂₁, never observed", "stage"),
            "gap": Variable("pre-training: largest entry of |product − closed form|"),
        }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        targets = np.empty((len(batch), 2, 2))
        targets[:, 0, 0], targets[:, 1, 1] = self.first, self.second
        targets[:, 0, 1] = batch.column("added")
        targets[:, 1, 0] = self.first * self.second / targets[:, 0, 1]  # rank one
        diagonal = np.eye(2, dtype=bool)
        few, more = (
            self.completions(targets, m) for m in (diagonal, np.triu(np.ones_like(diagonal)))
        )
        starts = Lanes.stack(
            [
                DeepFactorisation.coupled(2, self.depth, scale=self.scale, ratio=ratio)
                for ratio in batch.column("ratio")
            ]
        )
        legs = self.legs(self.depth)
        ends = self.run_stages(starts, few, more, legs, goal=self.goal, label=batch.label)
        gap = np.full(len(batch), np.nan)
        if self.depth == 2:
            first, second = (np.asarray(factor) for factor in starts.tree.factors)
            limit = disconnected_limit(second, first, diagonal, targets).product
            gap = np.abs(self.products(ends["pre"].model) - limit).max(axis=(1, 2))
        return {
            **self.measure(ends),
            "hidden_entry": self.by_stage(ends, lambda end: self.products(end.model)[:, 1, 0]),
            "gap": gap,
        }

    def _bound(self, added: float) -> float | None:
        """Theorem 4.2's bound on the stable rank at m = ∞, where there is one."""
        if self.depth != 2 or self.first != self.second:
            return None
        bound = float(plasticity_bound(self.first, added).stable_rank)
        return bound if bound > 1 + 1e-6 else None  # no stable rank is below one

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("(ours)")
        claim.value(
            "every run converges",
            self.counts(runs).mean(),
            says=f"Every stage of every run reaches a loss of {self.goal:g}.",
            at_least=1.0,
        )
        if self.depth == 2:
            claim.value(
                "pre-training's closed form",
                runs["gap"].max(skipna=False),
                says="Pre-training ends at its closed-form limit, to {bound} in every entry.",
                at_most=1e-6,
                place="Proposition 4.1",
            )
        for added in self.added:
            self._claim_about(claim, runs.sel(added=added), added)
        return claim

    def _claim_about(self, claim: Claims, runs: xarray.Dataset, added: float) -> None:
        words, finite = f"w₁₂ = {added:g}", [m for m in self.ratio if 10 <= m < INFINITE]
        if finite:
            rank = runs["effective_rank"].sel(ratio=finite)
            gap, than = self.gap(rank), "that after a cold one by at least {bound}"
            if 1.0 in self.ratio:  # a start of rank one, which has nothing to keep
                gap = gap - self.gap(runs["effective_rank"].sel(ratio=1.0))
                than += " more than from m = 1"
            claim.value(
                f"a warm start keeps the rank of large m, {words}",
                gap.min(skipna=False),
                says=f"{words}: from every finite m ≥ 10 the effective rank after a warm start "
                f"exceeds {than}.",
                at_least=0.01,
                place=f"{self.figure}, left and middle",
            )
        if INFINITE not in self.ratio:
            return
        warm = runs["effective_rank"].sel(stage="warm")
        few = [m for m in self.ratio if m <= 100]  # beyond it the difference is lost in rounding
        if few:
            claim.value(
                f"m = ∞ keeps most, {words}",
                warm.sel(ratio=INFINITE) - warm.sel(ratio=few).max(),
                says=f"{words}: the effective rank after a warm start is higher from m = ∞ than "
                "from any m up to 100, by more than its closed form leaves open, {bound}.",
                at_least=1e-6,
                place="Figure 31, caption",
            )
        end, bound = runs.sel(ratio=INFINITE, stage="warm"), self._bound(added)
        claim.value(
            f"w₂₁ < 0 at m = ∞, {words}",
            end["hidden_entry"],
            says=f"{words}: from α I a warm start ends at w₂₁ < 0, where the rank-one matrix has "
            f"{self.first * self.second / added:g}.",
            at_most=0.0,
            place=f"{self.figure}, right; Theorem 4.2",
        )
        if bound is not None:
            claim.value(
                f"Theorem 4.2's bound, {words}",
                end["stable_rank"],
                says=f"{words}: from α I the stable rank after a warm start is at least "
                "{bound:.4f}.",
                at_least=bound,
                place="Theorem 4.2",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        """A row of three panels for each value that is added."""
        return Figure(
            self.title,
            [self._panel(kind, runs, added) for added in self.added for kind in NAMES],
            columns=3,
            caption=f"2 × 2, w₁₁ = {self.first:g}, w₂₂ = {self.second:g}; {self.depth} factors "
            f"with α = {self.scale:g} on the diagonal and α/m elsewhere; gradient flow to a loss "
            f"of {self.goal:g}. {self.remark}",
        )

    def _panel(self, kind: str, runs: xarray.Dataset, added: float) -> Panel:
        values, bound = runs[NAMES[kind]].sel(added=added), self._bound(added)
        finite = np.array(sorted(m for m in self.ratio if m < INFINITE))
        far = finite[-1] * 30 if finite.size else 1.0
        marks, ours = list[Mark](), list[Mark]()
        if kind == "w₂₁":
            wanted = self.first * self.second / added
            ours += [HorizontalRule(wanted, label="rank-one completion"), HorizontalRule(0.0)]
        for colour, (stage, words) in enumerate(STAGES.items()):
            at = values.sel(stage=stage)
            if finite.size:
                line = at.sel(ratio=finite)
                marks.append(Line(finite, line, label=words, colour=colour, marker="o"))
            if INFINITE in self.ratio:
                end = at.sel(ratio=[INFINITE])
                marks.append(Points([far], end, colour=colour, marker="D", size=6))
        if kind == "stable rank" and bound is not None:
            label = "Theorem 4.2: warm, m = ∞, is above"
            ours.append(HorizontalRule(bound, label=label, colour="warning"))
        ticks = {1.0: "10⁰", 1e2: "10²", 1e4: "10⁴", 1e6: "10⁶"}
        ticks = {place: tick for place, tick in ticks.items() if place <= finite.max(initial=1.0)}
        if INFINITE in self.ratio:
            ticks[float(far)] = "∞"
        title = "the entry never seen" if kind == "w₂₁" else kind
        x = Axis("m, diagonal over off-diagonal", scale="log", ticks=ticks)
        return Panel(f"w₁₂ = {added:g}: {title}", x, Axis(kind), marks, ours=ours)


class Fig31(TwoByTwo):
    """Warm against cold start, 2 × 2: the caption's w₁₂ = 0.5 and the text's 0.1."""

    id, figure = "depth/fig31", "Figure 31"
    finding = Finding(
        "A warm start ends at a higher effective rank than a cold one, and m = ∞ keeps "
        "most.{?wide|holds}{?most|holds}",
        "There the theorem's bound holds: a stable rank of {text|.2f|holds}, at least "
        "{text|bound|.2f}, with the text's w₁₂, and of {caption|.2f|holds}, at least "
        "{caption|bound|.2f}, with the caption's; the text's numbers belong to its "
        "own.{?right|holds}{?wrong|fails}",
        wide="a warm start keeps the rank of large m, w₁₂ = 0.5",
        most="m = ∞ keeps most, w₁₂ = 0.5",
        text="Theorem 4.2's bound, w₁₂ = 0.1",
        caption="Theorem 4.2's bound, w₁₂ = 0.5",
        right="the text's 1.8 with the text's w₁₂",
        wrong="the text's 1.8 with the caption's w₁₂",
    )
    unspecific = {
        **TwoByTwo.unspecific,
        "Theorem 4.2's bound, w₁₂ = 0.5": "The theorem's bound is loose at this w₁₂: a warm start "
        "from a finite m of two or more clears it too.",
    }
    published = dict(added=CAPTION)
    remark = (
        f"The paper's caption says w₁₂ = {CAPTION:g}, its text w₁₂ = {TEXT:g} with a stable rank "
        "of about 1.8 at m = ∞ and a bound of 1.45: those numbers belong to the latter."
    )

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Those of all three figures, and which w₁₂ the text's numbers belong to."""
        claim = super().claims(runs)
        setting = (self.first, self.second, self.depth, self.scale)
        if setting != (1.0, 1.0, 2, 1e-3) or INFINITE not in self.ratio:
            return claim
        ends = runs["stable_rank"].sel(ratio=INFINITE, stage="warm")
        wrong = "The caption of Figure 31 says w₁₂ = 0.5 and the text 0.1; the text's numbers are "
        for name, added in (("text", TEXT), ("caption", CAPTION)):
            if added in self.added:
                claim.value(
                    f"the text's 1.8 with the {name}'s w₁₂",
                    abs(ends.sel(added=added) - 1.8),
                    says=f"With w₁₂ = {added:g} the stable rank is about 1.8: within {{bound}}.",
                    at_most=0.05,
                    fails_because=wrong + "those of 0.1." if name == "caption" else "",
                    place="appendix C.2 and Figure 31's caption",
                )
        return claim


class Fig32(TwoByTwo):
    """Warm against cold start, 2 × 2: w₁₂ = 10, so that w₂₁ should be 0.1."""

    id, figure = "depth/fig32", "Figure 32"
    title = "With much to learn the rank falls, and the hidden entry is wrong all the same"

    finding = Finding(
        "With much to learn a warm start leaves {rank|.1%|holds} at most of what the stable rank "
        "was above one after pre-training, and its error is large all the same: from every large m "
        "the entry never seen ends at least {off|.1f|holds} times as far from its value as zero "
        "is.",
        rank="the rank falls, w₁₂ = 10",
        off="the hidden entry is wrong, w₁₂ = 10",
    )
    unspecific = {
        **TwoByTwo.unspecific,
        "the rank falls, w₁₂ = 10": "It falls to one from every m alike: that it does not depend "
        "on m is the claim.",
    }

    added: tuple[float, ...] = (10.0,)

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Those of all three figures, and what this one shows: a low rank and a large error."""
        claim, large = super().claims(runs), [m for m in self.ratio if m >= 10]
        for added in self.added if large else ():
            at, wanted = runs.sel(added=added, ratio=large), self.first * self.second / added
            above = at["stable_rank"] - 1
            claim.value(
                f"the rank falls, w₁₂ = {added:g}",
                (above.sel(stage="warm") / above.sel(stage="pre")).max(skipna=False),
                says=f"w₁₂ = {added:g}: from every m ≥ 10 a warm start leaves at most "
                "{bound:.0%} of what the stable rank was above one after pre-training.",
                at_most=0.01,
                place="Figure 32, appendix C.2",
            )
            off = abs(at["hidden_entry"] - wanted) / wanted
            claim.value(
                f"the hidden entry is wrong, w₁₂ = {added:g}",
                off.sel(stage="warm").min(skipna=False),
                says=f"w₁₂ = {added:g}: from every m ≥ 10 a warm start ends further from the "
                "target's w₂₁ than zero is: by more than its size.",
                at_least=1.0,
                place="Figure 32, appendix C.2",
            )
        return claim


class Fig33(TwoByTwo):
    """Warm against cold start, 2 × 2: diagonal 1 and 2, w₁₂ = 0.5."""

    id, figure = "depth/fig33", "Figure 33"
    title = "A warm start keeps the rank of the first fit, also from an unequal diagonal"

    finding = Finding(
        "From an unequal diagonal a warm start keeps rank too: from every large m it ends at an "
        "effective rank of {effective|holds} and a stable rank of {stable|holds} at least.",
        effective="effective rank well above one",
        stable="stable rank well above one",
    )

    added: tuple[float, ...] = (0.5,)
    second: float = 2.0

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Those of all three figures, and how far the ranks are above one."""
        claim, large = super().claims(runs), [m for m in self.ratio if m >= 10]
        for name in ("effective rank", "stable rank") if large else ():
            warm = runs[NAMES[name]].sel(stage="warm", ratio=large)
            claim.value(
                f"{name} well above one",
                warm.min(skipna=False),
                says=f"From every m ≥ 10 the {name} after a warm start substantially exceeds one: "
                "it is at least {bound}.",
                at_least=1.1,
                place="appendix C.2",
            )
        return claim
