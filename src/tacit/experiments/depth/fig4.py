"""depth, Figure 4: does Figure 1 hold for every pattern of a 3 × 3 matrix?

The comparison: the effective rank of the completed matrix against the initial scale, for depths 2,
3, 4, averaged over all connected patterns and over all disconnected ones. Patterns that differ by
the order of rows or columns or by transposition count once: 17 are connected, 6 are not.
"""

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, HorizontalRule, Mark, Panel, Points, mean_lines
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.depth.gaussian import GaussianExperiment
from tacit.problems import Pattern

# What `Pattern.classes(3, 3, least=2, most=8)` lists, in words; a test holds them equal.
KINDS = {
    "connected": (
        "000.000.011", "000.000.111", "000.001.011", "000.001.111", "000.011.011", "000.011.101",
        "000.011.111", "001.001.111", "001.010.111", "001.011.110", "000.111.111", "001.011.111",
        "001.110.111", "011.101.110", "001.111.111", "011.101.111", "011.111.111",
    ),
    "disconnected": (
        "000.001.010", "000.001.110", "001.010.100", "001.001.110", "001.010.101", "001.110.110",
    ),
}  # fmt: skip
PATTERNS = (*KINDS["connected"], *KINDS["disconnected"])

_SPREAD = (
    "From trial to trial the mean has a standard deviation of 0.2; over 100 trials (--set depth=2 "
    "--seeds 100) its median is 1.476, between 1.43 and 1.55."
)


class Fig4(GaussianExperiment):
    """Effective rank of completed 3 × 3 matrices over all 23 patterns of observation."""

    id, figure = "depth/fig4", "Figure 4"
    published = dict(seed=range(10))
    finding = Finding(
        "Averaged over the patterns, three factors end at rank one from the smallest scale, "
        "connected or not.{?joined|holds}{?apart|holds}",
        "Over disconnected patterns two factors stay above it, at {two|.2f|holds}; over connected "
        "ones their rank falls towards it with the scale.{?falls|holds}",
        joined="connected, depth 3",
        apart="disconnected, depth 3",
        two="disconnected, depth 2",
        falls="connected, depth 2: falls to one",
    )
    from_theory = ("target_norm",)

    depth: tuple[int, ...] = swept((2, 3, 4), "number L of factors", low=2, high=12)
    pattern: tuple[str, ...] = swept(
        PATTERNS, "rows of the mask of observed entries", choices=PATTERNS
    )
    scale: tuple[float, ...] = swept(
        (1e-1, 1e-3, 1e-5, 1e-7), "initial scale αᴸ of the product", low=1e-40, high=10.0
    )
    seed: tuple[int, ...] = swept(range(10), "trial: target and start", low=0)
    size: int = fixed(3, "rows and columns of the matrix", low=3, high=3)

    presets = {
        "smoke": dict(depth=(2, 3), pattern=(*KINDS["connected"][::4], *KINDS["disconnected"][::2]),
                      scale=(1e-1, 1e-5), seed=range(2)),
        "quick": dict(scale=(1e-1, 1e-7), seed=range(12)),
        "paper": {},
    }  # fmt: skip
    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        return {**super().variables(), "target_norm": Variable("Frobenius norm of the target")}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth = batch.one("depth")
        masks = np.stack([Pattern.named(name).mask for name in batch.column("pattern")])
        targets, factors = self.draw_trials(depth, batch.column("seed"), batch.column("scale"))
        factors = self.skip_linear_phase(factors, targets, masks)
        result = self.run_flow(factors, targets, masks, batch.label)
        return {**self.measure(result), "target_norm": np.linalg.norm(targets, axis=(1, 2))}

    def _kinds(self) -> dict[str, list[str]]:
        """The patterns of this grid, connected and disconnected ones."""
        return {kind: [n for n in self.pattern if n in names] for kind, names in KINDS.items()}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, smallest = Claims("Figure 4"), min(self.scale)
        rank, kinds = self.counted(runs, "effective_rank"), self._kinds()
        means = {kind: rank.sel(pattern=names).mean("pattern") for kind, names in kinds.items()}
        for kind, names in kinds.items():
            for depth in self.depth if names else ():
                low = depth >= 3
                if kind == "connected" and not low:
                    continue  # rank one in the limit, and slow to get there: see below
                claim.median(
                    f"{kind}, depth {depth}",
                    means[kind].sel(depth=depth, scale=smallest),
                    says=f"{kind.capitalize()}, depth {depth}, from αᴸ = {smallest:g}: in most "
                    "seeds the mean effective rank of the patterns "
                    f"is {'one, at most' if low else 'above one, at least'} {{bound}}.",
                    at_most=1.05 if low else None,
                    at_least=None if low else 1.2,
                    note="" if low or smallest != 1e-7 else _SPREAD,
                )
        if 2 in self.depth and kinds["connected"]:
            self._claim_about_depth_2(claim, means["connected"], means["disconnected"])
        self.claim_that_runs_count(claim, runs, share=0.99, loss=self.gate)
        return claim

    def _claim_about_depth_2(
        self, claim: Claims, connected: xarray.DataArray, disconnected: xarray.DataArray
    ) -> None:
        """The mean ranks of both kinds, depth 2 beside the deepest and beside rank one."""
        deepest, smallest, largest = max(self.depth), min(self.scale), max(self.scale)
        if smallest < largest:
            above = connected.sel(depth=2) - 1
            claim.median(
                "connected, depth 2: falls to one",
                above.sel(scale=largest) / 2 - above.sel(scale=smallest),
                says="Connected, depth 2: in most seeds the mean effective rank of the patterns "
                f"lies at most half as far above one from αᴸ = {smallest:g} as from {largest:g}.",
                at_least=0.0,
                note="Rank one is the limit of vanishing starts. Targets with small values get "
                "there slowly: depth/any-pattern shows it.",
            )
        if deepest > 2 and self._kinds()["disconnected"]:
            more, less = (
                (mean.sel(depth=2) - mean.sel(depth=deepest)).sel(scale=smallest)
                for mean in (disconnected, connected)
            )
            claim.median(
                "depth matters more where disconnected",
                more - 2 * less,
                says=f"From αᴸ = {smallest:g}: in most seeds the mean effective rank falls from "
                f"depth 2 to depth {deepest} at least twice as far over disconnected patterns as "
                "over connected ones, and by {bound} more.",
                at_least=0.01,
                place="Figure 4, appendix C.1",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        """Means over each kind of pattern, and every pattern by itself at the smallest scale."""
        x, y = Axis("initial scale αᴸ", scale="log"), Axis("mean effective rank")
        rank, rule = self.counted(runs, "effective_rank"), HorizontalRule(1.0, label="rank one")
        smallest, kinds, panels = min(self.scale), self._kinds(), []
        for kind, names in kinds.items():
            marks: list[Mark] = [rule]
            if names:  # patterns of a trial share its target: one mean a trial
                means = rank.sel(pattern=names).mean("pattern")
                marks += mean_lines(means, "scale", by="depth", label="L = {depth}", errors=3)
            panels.append(Panel(f"{len(names)} {kind} patterns", x, y, marks, legend="best"))
        order = [*kinds["connected"], *kinds["disconnected"]]
        places = np.arange(len(order), dtype=float)
        points = []
        for colour, depth in enumerate(self.depth):
            means = rank.sel(pattern=order, depth=depth, scale=smallest).mean("seed")
            shift = 0.25 * (colour - (len(self.depth) - 1) / 2)
            points.append(Points(places + shift, means, label=f"L = {depth}", colour=colour))
        first = {"connected": 0.0, "disconnected": float(len(kinds["connected"]))}
        ticks = {first[kind]: kind for kind, names in kinds.items() if names}
        names_axis = Axis("pattern: connected, then disconnected", ticks=ticks)
        each = Panel(f"each pattern, αᴸ = {smallest:g}", names_axis, y, [rule, *points])
        return Figure(
            "Every pattern of a 3 × 3 matrix: depth does what connection does",
            panels,
            ours=[each],
            columns=3,
            caption=f"Targets of rank one, Gaussian factors, {len(self.seed)} trials for each "
            f"pattern and point, gradient flow to a loss of {self.goal:g}. Bands: three standard "
            f"errors over the trials. {self.left_out(runs)} for a loss above {self.gate:g}.",
        )
