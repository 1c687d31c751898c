"""depth, beyond the paper: for which scales and ratios does a depth end at rank one?

The comparison: the stable rank of the limit over the whole plane of initial scale αᴸ and ratio m,
by Theorem 3.3, against gradient flow on the full matrices at sample points, down to αᴸ = 1e-30, and
against a boundary m* in closed form (`tacit.theory.depth.halfway_ratio`), at which the stable rank
passes halfway from one to n.
"""

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, Heatmap, Line, Mark, Panel, Points
from tacit.experiments import Batch, Claims, Finding, Variable, fixed
from tacit.experiments.depth.family import FamilyExperiment
from tacit.measures import crossing
from tacit.theory.depth import halfway_ratio


class Phase(FamilyExperiment):
    """Stable rank of the limit over initial scale, ratio and depth, with flow on top."""

    id, figure = "depth/phase", "beyond the paper"

    depth: tuple[int, ...] = (2, 3, 4, 10)
    ratio: tuple[float, ...] = tuple(10.0**k for k in range(1, 25))
    scale: tuple[float, ...] = tuple(10.0**-k for k in range(31))
    # Where flow is run, as far as the grid has it.
    flow_ratio: tuple[float, ...] = fixed((10.0, 1e4, 1e10, 1e16), "ratios of the flows", low=1.0)
    flow_scale: tuple[float, ...] = fixed((1e-1, 1e-10, 1e-20, 1e-30), "scales of the flows")
    blocks: int = 5

    finding = Finding(
        "A depth of three or more ends at rank one below a ratio m* and at rank n above it; the "
        "boundary in closed form is the theorem's to a factor of {edge|.2f|holds}.",
        "Flow on the full matrices ends at the theorem's rank, to {flow|holds}, and on the right "
        "side of m* each time.{?side|holds} Two factors have no such boundary.{?two|holds}",
        edge="the boundary in closed form, as a factor",
        flow="flow ends at the theorem's rank",
        side="flows end on their side of it",
        two="flows of depth 2 see no scale",
    )
    from_theory = ("stable_rank",)
    unspecific = {
        "every flow converges": "That all flows converge is asked of all, wherever they stand.",
        "the boundary in closed form, as a factor": "Both sides are theory, a formula and the root "
        "of an equation; the claim on flows is the one about runs.",
    }

    presets = {
        "smoke": dict(depth=(2, 3), ratio=(10.0, 1e4, 1e8, 1e12, 1e16),
                      scale=(1.0, 1e-10, 1e-20, 1e-30), flow_ratio=(10.0, 1e16),
                      flow_scale=(1e-10, 1e-30), blocks=3),
        "quick": dict(depth=(2, 3, 4)),
        "paper": dict(depth=(2, 3, 4, 5, 6, 10),
                      ratio=tuple(10.0 ** (k / 4) for k in range(1, 97)),
                      scale=tuple(10.0 ** -(k / 4) for k in range(121)),
                      flow_ratio=(10.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16),
                      flow_scale=(1e-1, 1e-5, 1e-10, 1e-15, 1e-20, 1e-25, 1e-30)),
    }  # fmt: skip

    def variables(self) -> dict[str, Variable]:
        return {
            "stable_rank": Variable("stable rank of the limit by Theorem 3.3"),
            "flow_rank": Variable("stable rank at the end of the flow"),
            "flow_loss": Variable("loss at the end of the flow"),
            "flow_steps": Variable("steps of the solver"),
        }

    def ran(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Flow is run at a few places of the plane; the rest of it is the theorem's."""
        return runs["flow_steps"].notnull()

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, scales, ratios = batch.one("depth"), batch.column("scale"), batch.column("ratio")
        limit = self.limit(depth, scales, ratios, log=True)
        rank, loss, steps = np.full((3, len(batch)), np.nan)
        outcome = np.full(len(batch), "converged", dtype="<U9")
        chosen = ((ratios, self.flow_ratio), (scales, self.flow_scale))
        near = [np.isclose(v[:, None], some, rtol=1e-9, atol=0).any(axis=1) for v, some in chosen]
        rows = np.flatnonzero(near[0] & near[1])
        if rows.size:
            result, logs = self.run_flow(depth, scales[rows], ratios[rows], batch.label)
            rank[rows] = 1 + np.exp(2 * (logs[:, 1:] - logs[:, :1])).sum(axis=1)
            loss[rows], steps[rows], outcome[rows] = result.loss, result.steps, result.outcome
        return {
            "outcome": outcome,
            "stable_rank": 1 + (self.blocks - 1) * np.exp(2 * (limit.others - limit.first)),
            "flow_rank": rank,
            "flow_loss": loss,
            "flow_steps": steps,
        }

    def _boundary(self, depth: int, scales: np.ndarray) -> np.ndarray:
        n, target = self.blocks, self.target
        return np.asarray(halfway_ratio(depth=depth, product_scale=scales, blocks=n, target=target))

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, rank, flow = Claims("Theorem 3.3"), runs["stable_rank"], runs["flow_rank"]
        ran = flow.notnull()
        smallest = float(runs["scale"].where(ran.any(("depth", "ratio"))).min())
        claim.value(
            "every flow converges",
            (self.counts(runs) & ran).sum() / ran.sum() if ran.any() else np.nan,
            says=f"Every flow reaches a loss of {self.goal:g}.",
            at_least=1.0,
            place="(ours)",
        )
        claim.value(
            "flow ends at the theorem's rank",
            abs(flow - rank).where(ran).max(),
            says="Stable ranks of flow and theorem differ by at most {bound}, from scales down to "
            f"{smallest:g}.",
            at_most=1e-6,
        )
        if 2 in self.depth:
            two = flow.sel(depth=2)
            claim.value(
                "flows of depth 2 see no scale",
                (two.max("scale") - two.min("scale")).max(),
                says="For L = 2 flows from all scales end at one stable rank for each m, to "
                "{bound}.",
                at_most=1e-6,
            )
        claim.value(
            "the boundary in closed form, as a factor",
            10 ** self._boundary_error(rank.sortby("ratio")),
            says="For L ≥ 3 the theorem's stable rank passes halfway from 1 to n within a factor "
            "of {bound} (what a grid of decades can tell) of m*, wherever m* ≥ 100 d is on the "
            "grid.",
            at_most=2.0,
            place="(ours)",
        )
        claim.value(
            "flows end on their side of it",
            self._on_the_wrong_side(flow),
            says="For L ≥ 3 flows from a ratio at least twice m* end above a stable rank halfway "
            "from 1 to n, and from at most half of it below: flows that do not.",
            at_most=0,
            place="(ours)",
        )
        return claim

    def _on_the_wrong_side(self, flow: xarray.DataArray) -> float:
        """How many flows at some distance from m* end on its other side; NaN if there are none."""
        wrong, seen, ratios = 0, 0, flow["ratio"].values
        for depth in (depth for depth in self.depth if depth > 2):
            for scale in self.scale:
                away = ratios / self._boundary(depth, np.array(scale))
                ranks = flow.sel(depth=depth, scale=scale).transpose("ratio").values
                told = np.isfinite(ranks) & ((away >= 2) | (away <= 1 / 2))
                above = ranks > (1 + self.blocks) / 2
                wrong += int((told & (above != (away > 1))).sum())
                seen += int(told.sum())
        return float(wrong) if seen else np.nan

    def _boundary_error(self, rank: xarray.DataArray) -> float:
        """The largest |log10| of (where the rank passes halfway) over m*.

        NaN if it never does, or if the grid is coarser than decades and cannot tell where.
        """
        logs = np.log10(rank["ratio"].values)
        if np.diff(logs).max(initial=0.0) > 1 + 1e-9:
            return np.nan
        errors = []
        for depth in (depth for depth in self.depth if depth > 2):
            for scale in self.scale:
                edge = np.log10(self._boundary(depth, np.array(scale)))
                if max(np.log10(100 * self.blocks), logs[0]) <= edge <= logs[-1]:
                    values = rank.sel(depth=depth, scale=scale)
                    halfway = crossing(logs, values, (1 + self.blocks) / 2, never=np.nan)
                    errors.append(abs(halfway - edge))
        return float(np.nanmax(errors)) if np.isfinite(errors).any() else np.nan

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.sortby(["scale", "ratio"])
        scales, ratios, panels = runs["scale"].values, runs["ratio"].values, []
        x = Axis("initial scale αᴸ", scale="log")
        y = Axis("ratio m", scale="log", limits=(ratios[0] / 2, 2 * ratios[-1]))
        for depth in sorted(self.depth):
            at = runs.sel(depth=depth)
            ranks = at["stable_rank"].transpose("ratio", "scale")
            plane = Heatmap(scales, ratios, ranks, label="stable rank", limits=(1, self.blocks))
            marks: list[Mark] = [plane]
            edge = self._boundary(depth, scales) if depth > 2 else np.full(scales.shape, np.nan)
            inside = (edge >= ratios[0]) & (edge <= ratios[-1])
            if inside.sum() > 1:
                there, label = (scales[inside], edge[inside]), "m*: halfway, in closed form"
                marks.append(Line(*there, label=label, colour="warning", style="dashed"))
            ran = at["flow_rank"].stack(run=("scale", "ratio")).dropna("run")
            there, label = (ran["scale"], ran["ratio"]), "flow was run here"
            marks.append(Points(*there, label=label, colour="warning", marker="x"))
            worst = float(abs(at["flow_rank"] - at["stable_rank"]).max())
            note = f"largest difference of a flow's rank: {worst:.1e}"
            panels.append(Panel(f"L = {depth}", x, y, marks, note=note))
        return Figure(
            "Where a depth ends at rank one",
            panels,
            main=len(panels) // 2,
            caption=f"Stable rank of the limit of a {self.blocks} × {self.blocks} matrix with its "
            f"diagonal observed (w* = {self.target:g}), by Theorem 3.3. Crosses: gradient flow on "
            "the full matrices, which ends at the same rank.",
        )
