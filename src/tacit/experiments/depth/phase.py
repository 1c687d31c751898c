"""depth, beyond the paper: for which scales and ratios does a depth end at rank one?

The comparison: the stable rank of the limit over the whole plane of initial scale αᴸ and ratio m,
by Theorem 3.3, against gradient flow on the full matrices at sample points, down to αᴸ = 1e-30, and
against a boundary in closed form. At the stable rank (n + 1)/2, σ₁/σ₂ is √2, and the theorem's
equation says which conserved quantity leads there; for m ≫ d that is (L − 2) (d/m) α^{2−L}.
So the rank passes halfway from one to n at

    m* = (L − 2) d α^{2−L} (w* d/(√2 + n − 1))^p / (1 − 2^{−p/2}),    p = (L − 2)/L.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.draw import Axis, Figure, Heatmap, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import DEPTH, RATIO, SCALE, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class PhaseConfig(Config):
    """Parameters of depth/phase."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 10), "number L of factors", low=2, high=20, swept=True
    )
    ratio: tuple[float, ...] = parameter(
        tuple(10.0**exponent for exponent in range(1, 25)),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
        high=1e100,
        swept=True,
    )
    scale: tuple[float, ...] = parameter(
        tuple(10.0**-exponent for exponent in range(31)),
        "initial scale αᴸ of the product",
        low=1e-100,
        high=1.0,
        swept=True,
    )
    flow_ratio: tuple[float, ...] = parameter(
        (10.0, 1e4, 1e10, 1e16), "ratios at which flow is run, where the grid has them", low=1.0
    )
    flow_scale: tuple[float, ...] = parameter(
        (1e-1, 1e-10, 1e-20, 1e-30), "scales at which flow is run, where the grid has them"
    )
    blocks: int = parameter(5, "rows and columns, n = d, the diagonal observed", low=2, high=50)
    target: float = parameter(1.0, "value w* of every observed entry", low=1e-3, high=1e3)
    goal: float = parameter(1e-18, "loss of a converged flow", low=0.0, high=1.0)
    tolerance: float = parameter(1e-10, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = parameter(5_000, "steps of the solver at most", low=1, high=10_000_000)


class Phase(Experiment):
    """The plane of scale and ratio, divided into rank one and rank n."""

    id = "depth/phase"
    paper = "depth"
    figure = "beyond the paper"
    summary = "stable rank of the limit over initial scale, ratio and depth, with flow on top"
    version = 1
    Config = PhaseConfig
    presets: ClassVar[Mapping[str, PhaseConfig]] = {
        "smoke": PhaseConfig(
            depth=(2, 3),
            ratio=(10.0, 1e4, 1e8, 1e12, 1e16),
            scale=(1.0, 1e-10, 1e-20, 1e-30),
            flow_ratio=(10.0, 1e16),
            flow_scale=(1e-10, 1e-30),
            blocks=3,
        ),
        "quick": PhaseConfig(),
        "paper": PhaseConfig(
            depth=(2, 3, 4, 5, 6, 10),
            ratio=tuple(10.0 ** (exponent / 4) for exponent in range(1, 97)),
            scale=tuple(10.0 ** -(exponent / 4) for exponent in range(121)),
            flow_ratio=(10.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16),
            flow_scale=(1e-1, 1e-5, 1e-10, 1e-15, 1e-20, 1e-25, 1e-30),
        ),
    }
    batch_by = (DEPTH,)

    def variables(self, config: PhaseConfig) -> dict[str, Variable]:
        """The theorem's rank everywhere, the flow's where it was run (NaN elsewhere)."""
        return {
            "outcome": OUTCOME,
            "stable_rank": Variable((), "1", "stable rank of the limit by Theorem 3.3"),
            "flow_rank": Variable((), "1", "stable rank at the end of the flow"),
            "flow_loss": Variable((), "1", "loss at the end of the flow"),
            "flow_steps": Variable((), "1", "steps of the solver"),
        }

    def cell(self, batch: Batch, config: PhaseConfig) -> Mapping[str, Any]:
        """Theory for every point of a depth at once, flow for the sample points as one program."""
        from tacit.theory.depth import limit_singular_values

        depth, scales, ratios = batch.one(DEPTH), batch.column(SCALE), batch.column(RATIO)
        limit = limit_singular_values(
            depth=depth,
            scale=scales ** (1 / depth),
            ratio=ratios,
            blocks=config.blocks,
            target=config.target,
            log=True,
        )
        columns = {
            "flow_rank": np.full(len(batch), np.nan),
            "flow_loss": np.full(len(batch), np.nan),
            "flow_steps": np.full(len(batch), np.nan),
        }
        outcome = np.full(len(batch), "converged", dtype="<U9")
        rows = np.flatnonzero(_among(ratios, config.flow_ratio) & _among(scales, config.flow_scale))
        if rows.size:
            from tacit.experiments.depth._family_flow import flow_from_family

            found = flow_from_family(
                depth,
                scales[rows],
                ratios[rows],
                blocks=config.blocks,
                target=config.target,
                goal=config.goal,
                tolerance=config.tolerance,
                attempts=config.attempts,
                label=batch.label,
            )
            shares = np.exp(2 * (found["log_others"] - found["log_first"][:, None]))
            columns["flow_rank"][rows] = 1 + shares.sum(axis=1)
            columns["flow_loss"][rows] = found["loss"]
            columns["flow_steps"][rows] = found["steps"]
            outcome[rows] = found["outcome"]
        return {
            "outcome": outcome,
            "stable_rank": 1 + (config.blocks - 1) * np.exp(2 * (limit.others - limit.first)),
            **columns,
        }

    def claims(self, dataset: "xarray.Dataset", config: PhaseConfig) -> list[Claim]:
        """Flow on the theorem, and the boundary where it is said to be."""
        rank, flow = dataset["stable_rank"], dataset["flow_rank"]
        ran = np.isfinite(flow)
        converged = (dataset["outcome"] == "converged") & ran
        smallest = min((s for s in config.scale if _among(s, config.flow_scale)), default=np.nan)
        found = [
            claim_about_value(
                float(converged.sum() / ran.sum()) if ran.any() else np.nan,
                name="every flow converges",
                statement=f"Every flow reaches a loss of {config.goal:g}.",
                place="(ours)",
                at_least=1.0,
            ),
            claim_about_value(
                float(abs(flow - rank).where(ran).max()),
                name="flow ends at the theorem's rank",
                statement="Stable ranks of flow and theorem differ by at most 1e-6, from scales "
                f"down to {smallest:g}.",
                place="Theorem 3.3",
                at_most=1e-6,
            ),
        ]
        if 2 in config.depth:
            two = rank.sel({DEPTH: 2})
            found.append(
                claim_about_value(
                    float((two.max(SCALE) - two.min(SCALE)).max()),
                    name="depth 2 has no such boundary",
                    statement="For L = 2 the rank depends on m alone.",
                    place="Theorem 3.3",
                    at_most=1e-12,
                )
            )
        found.append(
            claim_about_value(
                _boundary_error(rank, config),
                name="the boundary in closed form",
                statement="For L ≥ 3 the stable rank passes halfway from 1 to n within a factor of "
                "2 (what a grid of decades can tell) of m*, wherever m* ≥ 100 d is on the grid "
                "(largest |log10|).",
                place="(ours)",
                at_most=float(np.log10(2)),
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: PhaseConfig, claims: Sequence[Claim]
    ) -> Figure:
        """One map for each depth, with the boundary and the flows."""
        scales, ratios = np.array(sorted(config.scale)), np.array(sorted(config.ratio))
        x = Axis("initial scale αᴸ", scale="log")
        y = Axis("ratio m", scale="log", limits=(ratios[0] / 2, 2 * ratios[-1]))
        panels = []
        for depth in sorted(config.depth):
            table = dataset.sel({DEPTH: depth, SCALE: scales, RATIO: ratios})
            marks: list[Mark] = [
                Heatmap(
                    scales,
                    ratios,
                    table["stable_rank"].transpose(RATIO, SCALE).values,
                    label="stable rank",
                    limits=(1, config.blocks),
                )
            ]
            if depth > 2:
                edge = _boundary(depth, scales, config)
                inside = (edge >= ratios[0]) & (edge <= ratios[-1])
                if inside.sum() > 1:
                    marks.append(
                        Line(
                            scales[inside],
                            edge[inside],
                            label="m*: halfway, in closed form",
                            colour="warning",
                            style="dashed",
                        )
                    )
            ran = table["flow_rank"].stack(run=(SCALE, RATIO)).dropna("run")
            marks.append(
                Points(
                    ran[SCALE].values,
                    ran[RATIO].values,
                    label="flow was run here",
                    colour="warning",
                    marker="x",
                )
            )
            worst = float(abs(table["flow_rank"] - table["stable_rank"]).max())
            panels.append(
                Panel(
                    f"L = {depth}",
                    x,
                    y,
                    marks,
                    legend="outside",
                    note=f"largest difference of a flow's rank: {worst:.1e}",
                )
            )
        return Figure(
            "Where a depth ends at rank one",
            panels,
            columns=2,
            caption=(
                f"Stable rank of the limit of a {config.blocks} × {config.blocks} matrix with its "
                f"diagonal observed (w* = {config.target:g}), by Theorem 3.3. Crosses: gradient "
                "flow on the full matrices, which ends at the same rank."
            ),
        )


def _among(values: Any, chosen: tuple[float, ...]) -> Any:
    """Which values are among the chosen ones, to rounding."""
    return np.isclose(np.asarray(values)[..., None], chosen, rtol=1e-9, atol=0).any(axis=-1)


def _boundary(depth: int, scales: np.ndarray, config: PhaseConfig) -> np.ndarray:
    """m* at each αᴸ."""
    n, power = config.blocks, (depth - 2) / depth
    share = (config.target * n / (np.sqrt(2) + n - 1)) ** power / -np.expm1(-power * np.log(2) / 2)
    return (depth - 2) * n * scales**-power * share


def _boundary_error(rank: "xarray.DataArray", config: PhaseConfig) -> float:
    """The largest |log10| of (where the rank passes halfway) over m*.

    NaN if it never does, or if the grid is coarser than decades and cannot tell where.
    """
    ratios = np.array(sorted(config.ratio))
    if np.diff(np.log10(ratios)).max(initial=0.0) > 1 + 1e-9:
        return np.nan
    half = (1 + config.blocks) / 2
    errors = []
    for depth in (depth for depth in config.depth if depth > 2):
        for scale in config.scale:
            edge = _boundary(depth, np.array(scale), config)
            if not max(100 * config.blocks, ratios[0]) <= edge <= ratios[-1]:
                continue
            values = rank.sel({DEPTH: depth, SCALE: scale, RATIO: ratios}).values
            if values[-1] > half:  # it rises with m; past the grid's end it cannot be seen
                crossing = np.interp(half, values, np.log10(ratios))
                errors.append(abs(crossing - np.log10(edge)))
    return float(max(errors, default=np.nan))
