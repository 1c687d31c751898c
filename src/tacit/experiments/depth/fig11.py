"""depth, Figure 11: does the bias of depth survive a diagonal that is not quite constant?

The comparison: the stable rank at the end of flow against the initial scale, for a 5 × 5 diagonal
of 1 + ε_i with ε_i ~ N(0, σ²) and three σ, beside Theorem 3.3's limit for σ = 0. Starts are those
of the family (7) with m = 100.
"""

import itertools

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, Line, Mark, Panel, mean_lines
from tacit.experiments import Batch, Claims, Finding, fixed, swept
from tacit.experiments.depth.diagonal import DiagonalExperiment, equal_diagonal_rank


class Fig11(DiagonalExperiment):
    """Stable rank against scale and depth when the diagonal is noisy."""

    id, figure = "depth/fig11", "Figure 11"
    published = dict(seed=range(10))
    finding = Finding(
        "With noise on the diagonal the rank still falls with depth, at the largest noise by "
        "{three|.2f|holds} from two factors to three (median); two factors do not see the "
        "scale.{?two|holds}",
        "Noise lowers the rank, and more than in proportion: at twice the noise by "
        "{noise|.1f|holds} times as much (L = 3).",
        three="σ = 0.1: depth 3 below 2",
        two="depth 2 ignores the scale",
        noise="noise lowers the rank, σ = 0.1 over 0.05, depth 3",
    )

    noise: tuple[float, ...] = swept(
        (0.01, 0.05, 0.1), "standard deviation σ of the noise", low=0.0, high=0.3
    )
    seed: tuple[int, ...] = swept(range(10), "draw of the noise", low=0)
    size: int = fixed(5, "rows and columns of the matrix", low=2, high=20)
    target: float = fixed(1.0, "value w* of the diagonal before the noise", low=1e-3, high=1e3)
    ratio: float = fixed(100.0, "m: diagonal over off-diagonal of a start", low=1.0)

    presets = {
        "smoke": dict(depth=(2, 3), noise=(0.05, 0.1), scale=(1e-1, 1e-5), seed=range(2)),
        "quick": dict(scale=(1e-1, 1e-3, 1e-6), seed=range(16)),
        "paper": {},
    }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        """A draw of the noise is the same for all its levels, scales and depths."""
        scales, noise = batch.column("scale"), batch.column("noise")
        diagonals = self._diagonals(batch.column("seed"), noise)
        ratios = np.full(scales.shape, self.ratio)
        return {**self.complete(batch.one("depth"), scales, ratios, diagonals, batch.label)}

    def _diagonals(self, seeds: np.ndarray, noise: ArrayLike) -> np.ndarray:
        draws = [np.random.default_rng(int(seed)).standard_normal(self.size) for seed in seeds]
        return self.target + np.reshape(noise, (-1, 1)) * np.stack(draws)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, depths, levels = Claims("Figure 11"), sorted(self.depth), sorted(self.noise)
        rank = self.counted(runs, "stable_rank")
        scale, falls = self.falls(ratio=self.ratio, size=self.size, target=self.target)
        steps = list(zip(itertools.pairwise(depths), falls, strict=True))
        for noise, ((less, deeper), fall) in itertools.product(levels, steps):
            at = rank.sel(noise=noise, scale=scale)
            claim.median(
                f"σ = {noise:g}: depth {deeper} below {less}",
                at.sel(depth=less) - at.sel(depth=deeper),
                says=f"Noise {noise:g}, from αᴸ = {scale:g}: in most draws of the noise the stable "
                f"rank of depth {deeper} is below that of depth {less} by at least {{bound:.2g}}, "
                "half of what Theorem 3.3 says without noise.",
                at_least=0.5 * fall,
            )
        self.claim_about_depth_2(claim, rank.sel(noise=levels[-1]), words="In most draws ")
        if len(levels) > 1:
            means = rank.mean(("depth", "scale"), skipna=False)
            claim.median(
                "more noise, lower rank",
                means.sel(noise=levels[0]) - means.sel(noise=levels[-1]),
                says=f"In most draws noise {levels[-1]:g} leads to a lower stable rank than noise "
                f"{levels[0]:g}, averaged over depths and scales, by more than their loss leaves "
                "open, {bound:.1e}.",
                at_least=10 * float(np.sqrt(2 * self.goal)),
                place="appendix C.1",
            )
        if len(levels) > 1 and levels[0] > 0:
            self._claim_about_noise(claim, rank.sel(scale=scale), levels[-2:], scale)
        if 2 in self.depth:
            claim.median(
                "closed form, depth 2",
                self.counted(runs, "gap").sel(depth=2).max(("noise", "scale")),
                says="In most draws every run of depth 2 ends at its own closed-form limit, to "
                "{bound} in every entry.",
                at_most=1e-5,
                place="Proposition 4.1",
            )
        self.claim_that_runs_count(claim, runs, share=0.99, loss=self.goal)
        return claim

    def _claim_about_noise(
        self, claim: Claims, rank: xarray.DataArray, levels: list[float], scale: float
    ) -> None:
        """What noise adds to its mean. To first order it moves the mean, up or down, and no more.

        So each draw is held against an equal diagonal of its own mean, and the rest is of second
        order: its square's ratio is expected, and its own refuted.
        """
        lower = []
        for noise, depth in itertools.product(levels, sorted(self.depth)):
            own = self._diagonals(rank["seed"].values, noise).mean(axis=1)
            equal = equal_diagonal_rank(
                depth, np.array(scale), ratio=self.ratio, size=self.size, target=own
            )
            lower.append(xarray.DataArray(equal, {"seed": rank["seed"]})
                         - rank.sel(noise=noise, depth=depth, drop=True))  # fmt: skip
        count = len(self.depth)
        for depth, few, many in zip(sorted(self.depth), lower[:count], lower[count:], strict=True):
            claim.median(
                f"noise lowers the rank, σ = {levels[1]:g} over {levels[0]:g}, depth {depth}",
                (many / few).where(few > 0, -np.inf).where(few.notnull() & many.notnull()),
                says=f"Depth {depth}, from αᴸ = {scale:g}: in most draws the stable rank is below "
                "Theorem 3.3's for an equal diagonal of the same mean, and more than in proportion "
                f"to the noise: at {levels[1]:g} by at least {{bound}} times as much as at "
                f"{levels[0]:g}.",
                at_least=levels[1] / levels[0],
                place="(ours)",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        """A panel for each level of noise: mean and deviation, and the limit without noise."""
        scales, rank = np.array(sorted(self.scale)), self.counted(runs, "stable_rank")
        x = Axis("initial scale αᴸ", scale="log")
        y = Axis("stable rank", limits=(0.8, self.size))
        panels, m, size = [], self.ratio, self.size
        for noise in sorted(self.noise):
            marks: list[Mark] = []
            for colour, depth in enumerate(sorted(self.depth)):
                at = rank.sel(noise=noise, depth=depth)
                limit = equal_diagonal_rank(depth, scales, ratio=m, size=size, target=self.target)
                marks += mean_lines(at, "scale", label=f"L = {depth}", colour=colour)
                marks.append(Line(scales, limit, colour=colour, style="dashed"))
            panels.append(Panel(f"σ = {noise:g}", x, y, marks, legend="best"))
        return Figure(
            "Depth lowers the rank when the diagonal is noisy too",
            panels,
            columns=3,
            caption=f"{self.size} × {self.size}, diagonal {self.target:g} + σ·N(0, 1) observed, "
            f"starts (7) with m = {self.ratio:g}. Solid: mean and standard deviation over "
            f"{len(self.seed)} draws. Dashed: Theorem 3.3 without noise. {self.left_out(runs)} "
            f"for a loss above {self.goal:g}.",
        )
