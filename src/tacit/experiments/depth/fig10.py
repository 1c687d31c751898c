"""depth, Figure 10: is the family (7) a fair stand-in for Gaussian starts?

The comparison: the effective rank of the limit, for a 3 × 3 diagonal of ones and several depths,
(a) over the ratio m of the family and (b) over 1,000 Gaussian starts sorted by rank. The family's
curve is Theorem 3.3's, with gradient flow at some m. The paper does not give its scale.
"""

import itertools

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.depth.gaussian import GaussianExperiment
from tacit.measures import effective_ranks, singular_values_or_nan
from tacit.problems import Pattern
from tacit.theory.depth import disconnected_limit, limit_effective_rank

RESOLVED = 1e-4
"""A loss of 1e-10, the largest that counts, moves a rank by about a tenth of it."""

RATIOS = (1.1, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e5, 1e6)


class Fig10(GaussianExperiment):
    """The family of starts over m against 1,000 Gaussian starts sorted by rank."""

    id, figure = "depth/fig10", "Figure 10"
    published = dict(seed=range(1000))
    finding = Finding(
        "From the family of starts and from Gaussian ones the rank falls with depth: by "
        "{family|.2f|holds} or more at each step on average over m, and from two to three factors "
        "in {three|satisfied|holds} of {three|samples} Gaussian starts.",
        "From there on the steps are small: from four to five factors it falls in "
        "{five|satisfied|holds} of them, by {five|.3f} (median).",
        family="flow from the family falls with depth",
        three="Gaussian, depth 2 to 3",
        five="Gaussian, depth 4 to 5",
    )
    from_theory = ("closed_form_rank",)

    depth: tuple[int, ...] = swept((2, 3, 4, 5), "number L of factors", low=2, high=12)
    scale: tuple[float, ...] = swept((1e-3,), "initial scale αᴸ of the product", low=1e-40)
    seed: tuple[int, ...] = swept(range(1000), "a Gaussian start", low=0, high=10_000_000)
    flow_ratio: tuple[float, ...] = fixed(RATIOS, "ratios m at which flow is run too", low=1.0)
    size: int = fixed(3, "rows and columns, the diagonal observed", low=2, high=20)

    presets = {
        "smoke": dict(depth=(2, 3), seed=range(30), flow_ratio=(2.0, 100.0)),
        "quick": {},
        "paper": {},
    }
    batch_by = ("depth", "scale")

    def variables(self) -> dict[str, Variable]:
        return {
            **super().variables(),
            "closed_form_rank": Variable("effective rank of the limit in closed form"),
            "family_rank": Variable("effective rank from the family's start", "ratio"),
            "family_loss": Variable("loss from the family's start", "ratio"),
        }

    def coordinates(self) -> dict[str, tuple[float, ...]]:
        return {"ratio": self.flow_ratio}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, scale, count = batch.one("depth"), batch.one("scale"), len(batch)
        diagonal, target = Pattern.diagonal(self.size).mask, np.eye(self.size)
        _, gaussian = self.draw_trials(depth, batch.column("seed"), batch.column("scale"))
        alpha, ratios = scale ** (1 / depth), np.array(self.flow_ratio)
        family = np.where(diagonal, alpha, alpha / ratios[:, None, None])
        factors = np.concatenate([gaussian, np.stack([family] * depth, axis=1)])
        targets = np.broadcast_to(target, (len(factors), self.size, self.size))
        everything = self.measure(self.run_flow(factors, targets, diagonal, batch.label))
        closed = np.full(count, np.nan)
        if depth == 2:
            limit = disconnected_limit(gaussian[:, 1], gaussian[:, 0], diagonal, target).product
            closed = effective_ranks(singular_values_or_nan(limit))
        return {
            **{name: values[:count] for name, values in everything.items()},
            "closed_form_rank": closed,
            # The same for every start of the batch: they are few, and stored beside each.
            "family_rank": np.tile(everything["effective_rank"][count:], (count, 1)),
            "family_loss": np.tile(everything["loss"][count:], (count, 1)),
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 10(b)")
        for scale in self.scale:
            self._claim_about(claim, runs.sel(scale=scale), scale)
        self.claim_that_runs_count(claim, runs, share=0.99, loss=self.gate)
        return claim

    def _claim_about(self, claim: Claims, runs: xarray.Dataset, scale: float) -> None:
        depths, rank = sorted(self.depth), self.counted(runs, "effective_rank")
        also = f", αᴸ = {scale:g}" if len(self.scale) > 1 else ""
        for less, more in itertools.pairwise(depths):
            claim.median(
                f"Gaussian, depth {less} to {more}{also}",
                rank.sel(depth=less) - rank.sel(depth=more),
                says=f"Gaussian starts, αᴸ = {scale:g}: in most of them the effective rank falls "
                f"from L = {less} to L = {more}, by more than their loss leaves open, {{bound}}.",
                at_least=RESOLVED,
            )
        if 2 in depths:
            claim.median(
                f"Gaussian, depth 2 stays high{also}",
                rank.sel(depth=2),
                says="Gaussian starts, L = 2: the median effective rank is at least {bound}.",
                at_least=1.5,
            )
            claim.median(
                f"closed form, depth 2{also}",
                abs(rank - runs["closed_form_rank"]).sel(depth=2),
                says="Most Gaussian runs of depth 2 end at the rank of their own closed-form "
                "limit, to {bound}.",
                at_most=1e-5,
                place="Proposition 4.1",
            )
        predicted = self._family_curves(np.array(self.flow_ratio), scale)
        family = runs["family_rank"].isel(seed=0).transpose("depth", "ratio").sel(depth=depths)
        claim.value(
            f"the family ends at Theorem 3.3{also}",
            abs(family - predicted).max(),
            says="From the family's starts, effective ranks of flow and theorem differ by at most "
            "{bound}.",
            at_most=1e-4,
            place="Figure 10(a), Theorem 3.3",
        )
        claim.value(
            f"flow from the family falls with depth{also}",
            -np.diff(family.mean("ratio")).max(initial=-np.inf),
            says="Averaged over the ratios the effective rank at the end of flow from the family's "
            "starts falls from each depth to the next by at least {bound}.",
            at_least=0.05,
            place="Figure 10(a)",
        )

    def draw(self, runs: xarray.Dataset) -> Figure:
        depths, ratios = sorted(self.depth), np.array(sorted(self.flow_ratio))
        fine = np.logspace(np.log10(ratios[0]), np.log10(ratios[-1]), 121)
        panels, y = [], Axis("effective rank", limits=(0.95, self.size + 0.05))
        m, x = Axis("ratio m", scale="log"), Axis("starts in order of the rank reached")
        rule: Mark = HorizontalRule(1.0, label="rank one")
        for scale in self.scale:
            family, gaussian = [rule], [rule]
            at, curves = runs.sel(scale=scale), self._family_curves(fine, scale)
            rank = self.counted(at, "effective_rank")
            for colour, depth in enumerate(depths):
                points = at["family_rank"].isel(seed=0).sel(depth=depth, ratio=ratios)
                family.append(Line(fine, curves[colour], colour=colour, label=f"L = {depth}"))
                family.append(Points(ratios, points, colour=colour, size=4.0))
                ends = np.sort(rank.sel(depth=depth).dropna("seed"))
                order = np.arange(1, ends.size + 1)
                gaussian.append(Line(order, ends, colour=colour, label=f"L = {depth}"))
            starts = f"{len(self.seed):,} Gaussian starts, αᴸ = {scale:g}"
            panels.append(Panel(f"family (7), αᴸ = {scale:g}", m, y, family, legend="best"))
            panels.append(Panel(starts, x, y, gaussian, legend="best"))
        return Figure(
            "The family of starts and Gaussian starts show the same trend",
            panels,
            columns=2,
            caption=f"{self.size} × {self.size} matrices with a diagonal of ones observed. Left: "
            "lines are Theorem 3.3, points gradient flow. Right: gradient flow to a loss of "
            f"{self.goal:g}; {self.left_out(runs)} for a loss above {self.gate:g}.",
        )

    def _family_curves(self, ratios: np.ndarray, scale: float) -> np.ndarray:
        """The effective rank of Theorem 3.3's limit, (depth, ratio)."""
        n, starts = self.size, [(depth, scale ** (1 / depth)) for depth in sorted(self.depth)]
        curves = (limit_effective_rank(depth=L, scale=a, ratio=ratios, blocks=n) for L, a in starts)
        return np.array([*curves])
