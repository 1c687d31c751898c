"""depth, Figure 12: does the bias of depth need equal entries on the diagonal?

The comparison: the stable rank at the end of flow against the initial scale, for the diagonal
0, 0.5, 1, 1.5, 2 and several ratios m of the start (7), up to m = ∞, which decouples the entries at
every depth: there the limit is the diagonal matrix itself.
"""

import itertools

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, HorizontalRule, Panel, lines
from tacit.experiments import Batch, Claims, Finding, fixed, swept
from tacit.experiments.depth.diagonal import DiagonalExperiment

VISIBLE = 0.01
"""A difference of stable ranks that is about the width of a line in the figure."""


class Fig12(DiagonalExperiment):
    """Stable rank against scale and depth for the diagonal 0, 0.5, 1, 1.5, 2."""

    id, figure = "depth/fig12", "Figure 12"

    ratio: tuple[float, ...] = swept(
        (2.0, 10.0, 100.0, float("inf")),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
    )
    finding = Finding(
        "With unequal entries too the rank falls with depth for finite m, at the largest by "
        "{three|.2f|holds}, {four|.2f|holds} and {five|.2f|holds} at the three steps from two "
        "factors to five; two do not see the scale.{?two|holds}",
        "From α I every depth keeps the rank of the diagonal matrix.{?far|holds}",
        three="depth 3 below 2, m = 100",
        four="depth 4 below 3, m = 100",
        five="depth 5 below 4, m = 100",
        two="depth 2 ignores the scale, m = 100",
        far="m = ∞ keeps the diagonal's rank",
    )
    unspecific = {"runs that count": "Runs that fit are counted over all, wherever they stand."}

    diagonal: tuple[float, ...] = fixed(
        (0.0, 0.5, 1.0, 1.5, 2.0), "the diagonal that is observed", low=0.0, high=100.0
    )
    goal: float = 1e-8
    tail_attempts: int = 2_000

    presets = {
        "smoke": dict(
            depth=(2, 3), ratio=(10.0, float("inf")), scale=(1e-1, 1e-5), diagonal=(0.0, 1.0, 2.0)
        ),
        "quick": dict(ratio=(10.0, 100.0, float("inf")), scale=(1e-1, 1e-6)),
        "paper": {},
    }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        scales, ratios = batch.column("scale"), batch.column("ratio")
        diagonals = np.tile(self.diagonal, (len(batch), 1))
        return {**self.complete(batch.one("depth"), scales, ratios, diagonals, batch.label)}

    @property
    def plain_rank(self) -> float:
        """The stable rank of the diagonal matrix."""
        squares = np.square(self.diagonal)
        return float(squares.sum() / squares.max())

    def claims(self, runs: xarray.Dataset) -> Claims:
        """Depth two stays, depth lowers the rank for finite m, m = ∞ keeps the diagonal's."""
        claim, smallest, depths = Claims("Figure 12"), min(self.scale), sorted(self.depth)
        rank = self.counted(runs, "stable_rank")
        size, mean = len(self.diagonal), float(np.mean(self.diagonal))
        for m in sorted(m for m in self.ratio if np.isfinite(m)):
            at, words = rank.sel(ratio=m), f"m = {m:g}: "
            self.claim_about_depth_2(claim, at, f", m = {m:g}", words)
            scale, falls = self.falls(ratio=m, size=size, target=mean)
            for (less, deeper), fall in zip(itertools.pairwise(depths), falls, strict=True):
                if fall < VISIBLE:  # rank one at both depths
                    continue
                claim.value(
                    f"depth {deeper} below {less}, m = {m:g}",
                    at.sel(scale=scale, depth=less) - at.sel(scale=scale, depth=deeper),
                    says=f"{words}from αᴸ = {scale:g} the stable rank falls visibly from depth "
                    f"{less} to {deeper}, by at least {{bound}} (for an equal diagonal Theorem "
                    f"3.3 has a fall of {fall:.2g}).",
                    at_least=VISIBLE,
                )
        if np.inf in self.ratio:
            away = abs(rank.sel(ratio=np.inf, scale=smallest) - self.plain_rank)
            claim.value(
                "m = ∞ keeps the diagonal's rank",
                away.max(skipna=False),
                says=f"m = ∞, from αᴸ = {smallest:g}: at every depth the stable rank is that of "
                f"the diagonal matrix, {self.plain_rank:.4g}, to {{bound}}.",
                at_most=1e-3,
                place="Figure 12, right",
            )
        if 2 in depths:
            # w₀₀ = |a₀|² gets to a target of zero like 1/t; entries beside it, a₀ · a_j, like its
            # root: at the goal they are at most |a₀| |a_j| away.
            slow = (2 * self.goal) ** 0.25 * max(self.diagonal) ** 0.5
            claim.value(
                "closed form, depth 2",
                self.counted(runs, "gap").sel(depth=2).max(),
                says="Every run of depth 2 ends at its own closed-form limit, to {bound:.2g} in "
                f"every entry, what a loss of {self.goal:g} leaves open.",
                at_most=max(1e-3, slow) if 0.0 in self.diagonal else 1e-3,
                place="Proposition 4.1",
            )
        claim.value(
            "runs that count",
            self.counts(runs).mean(),
            says=f"At least {{bound:.0%}} of the runs reach a loss of {self.goal:g}.",
            at_least=0.95,
            place="(ours)",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        """A panel for each m."""
        rank = self.counted(runs, "stable_rank").sortby("depth")
        x, y = Axis("initial scale αᴸ", scale="log"), Axis("stable rank", limits=(0.9, 2.1))
        rules = [
            HorizontalRule(self.plain_rank, label="the diagonal matrix"),
            HorizontalRule(1.0, label="rank one", style="dotted"),
        ]
        panels = []
        for m in sorted(self.ratio):
            at = rank.sel(ratio=m)
            marks = lines(at, "scale", by="depth", label="L = {depth}", marker="o")
            title = f"m = {'∞' if np.isinf(m) else f'{m:g}'}"
            panels.append(Panel(title, x, y, marks, ours=rules))
        return Figure(
            "Depth lowers the rank when the diagonal is unequal too, but not from α I",
            panels,
            main=len(panels) // 2,
            caption=f"Diagonal {', '.join(f'{w:g}' for w in self.diagonal)} observed, starts (7), "
            f"gradient flow to a loss of {self.goal:g}. {self.left_out(runs)} for a larger one.",
        )
