"""depth, Figure 1: which depth and which observations lead to rank one?

The comparison: the effective rank of the completed 2 × 2 matrix against the initial scale, for
depths 2, 3, 4, when the diagonal is observed (disconnected) and when the first column is
(connected). Gradient flow is the default; gradient descent and Adam are options. For depth 2 and
the diagonal the limit of each run is known in closed form and stands beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._counting import runs_that_count
from tacit.experiments.depth._flow_config import FlowConfig
from tacit.store import DEPTH, METHOD, PATTERN, SCALE, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PATTERNS = {
    "diagonal": "diagonal observed (disconnected)",
    "column": "first column observed (connected)",
}
METHODS = {"flow": "gradient flow", "gd": "gradient descent", "adam": "Adam"}


@dataclass(frozen=True, kw_only=True)
class Fig1Config(FlowConfig):
    """Parameters of depth/fig1; the defaults are the paper's."""

    depth: tuple[int, ...] = parameter((2, 3, 4), "number L of factors", low=1, high=12, swept=True)
    method: tuple[str, ...] = parameter(
        ("flow",), "how the factors descend", choices=tuple(METHODS), swept=True
    )
    pattern: tuple[str, ...] = parameter(
        tuple(PATTERNS), "the entries observed", choices=tuple(PATTERNS), swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-1, 1e-3, 1e-5, 1e-7),
        "initial scale αᴸ of the product",
        low=1e-40,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(300)), "trial: target and start", low=0, swept=True
    )
    size: int = parameter(2, "rows and columns of the matrix", low=2, high=20)
    steps: int = parameter(200_000, "steps of gradient descent or Adam", low=1, high=10_000_000)
    gd_rate: float = parameter(0.02, "gradient descent's learning rate", low=1e-8, high=1.0)
    adam_rate: float = parameter(1e-3, "Adam's learning rate", low=1e-8, high=1.0)


class Fig1(Experiment):
    """Effective rank against initial scale, for connected and disconnected observations."""

    id = "depth/fig1"
    paper = "depth"
    figure = "Figure 1"
    summary = "effective rank of a completed 2 × 2 matrix against initial scale and depth"
    version = 1
    Config = Fig1Config
    presets: ClassVar[Mapping[str, Fig1Config]] = {
        "smoke": Fig1Config(scale=(1e-1, 1e-5), seed=(0, 1, 2)),
        "quick": Fig1Config(seed=tuple(range(60))),
        "paper": Fig1Config(),
    }
    batch_by = (DEPTH, METHOD)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 150}

    def variables(self, config: Fig1Config) -> dict[str, Variable]:
        """Loss and norm stand beside the rank: a rank means little where either is off."""
        return {
            "outcome": OUTCOME,
            "effective_rank": Variable((), "1", "effective rank of the product"),
            "loss": Variable((), "1", "loss at the end"),
            "norm": Variable((), "1", "Frobenius norm of the product"),
            "target_norm": Variable((), "1", "Frobenius norm of the target"),
            "steps_taken": Variable((), "1", "steps of the method", "int64"),
            "predicted_rank": Variable((), "1", "effective rank of the closed-form limit"),
            "gap": Variable((), "1", "largest entry of |product − closed-form limit|"),
        }

    def cell(self, batch: Batch, config: Fig1Config) -> Mapping[str, Any]:
        """Train one batch: all patterns, scales and trials of a depth and a method at once."""
        from tacit.experiments.depth._completion import complete

        return complete(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig1Config) -> list[Claim]:
        """What depth and connectivity do at the smallest initial scale."""
        method = config.method[0]
        runs = dataset.sel({METHOD: method})
        trained = runs["loss"] <= config.gate
        rank = runs["effective_rank"].where(trained)
        smallest = min(config.scale)
        place = "Figure 1(b), (c)"
        found = []

        def ranks(pattern: str, depth: int, scale: float) -> np.ndarray:
            values = rank.sel({PATTERN: pattern, DEPTH: depth, SCALE: scale}).values
            return values[~np.isnan(values)]

        for depth in config.depth:
            if "diagonal" in config.pattern:
                deep = depth >= 3
                found.append(
                    claim_about_mean(
                        ranks("diagonal", depth, smallest),
                        name=f"disconnected, depth {depth}",
                        statement=f"Disconnected, depth {depth}, from αᴸ = {smallest:g}: the mean "
                        + ("effective rank is one." if deep else "effective rank stays above one."),
                        place=place,
                        at_most=1.05 if deep else None,
                        at_least=None if deep else 1.2,
                    )
                )
            if "column" in config.pattern:
                found.append(
                    claim_about_mean(
                        ranks("column", depth, smallest),
                        name=f"connected, depth {depth}",
                        statement=f"Connected, depth {depth}, from αᴸ = {smallest:g}: the mean "
                        "effective rank is one.",
                        place=place,
                        at_most=1.05,
                    )
                )
        found.append(runs_that_count(trained, config.gate, 0.99))
        if 2 in config.depth and "diagonal" in config.pattern and method == "flow":
            gap = runs["gap"].where(trained).sel({DEPTH: 2, PATTERN: "diagonal"}).values
            found.append(
                claim_about_value(
                    np.nanmax(gap) if np.isfinite(gap).any() else np.nan,
                    name="closed form, depth 2",
                    statement="Every disconnected run of depth 2 ends at its own closed-form "
                    "limit, to 1e-5 in every entry.",
                    place="Proposition 4.1",
                    at_most=1e-5,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig1Config, claims: Sequence[Claim]
    ) -> Figure:
        """Ranks for both patterns, the closed form, and what the norms do."""
        scales = np.array(sorted(config.scale))
        x = Axis("initial scale αᴸ", scale="log")
        panels = []
        for pattern in config.pattern:
            marks: list[Mark] = [HorizontalRule(1.0, label="rank one")]
            for place, method in enumerate(config.method):
                for colour, depth in enumerate(config.depth):
                    runs = dataset.sel({PATTERN: pattern, DEPTH: depth, METHOD: method})
                    rank = runs["effective_rank"].where(runs["loss"] <= config.gate)
                    label = f"L = {depth}" + (f", {METHODS[method]}" if place else "")
                    style = ("solid", "dashed", "dotted")[place]
                    marks += _mean_line(scales, rank, label=label, colour=colour, style=style)
            panels.append(
                Panel(PATTERNS[pattern], x, Axis("mean effective rank"), marks, legend="best")
            )
        first = dataset.isel({METHOD: 0})
        if 2 in config.depth and "diagonal" in config.pattern:
            panels.append(_closed_form_panel(first, config))
        panels.append(_norm_panel(first, config, scales, x))
        return Figure(
            "Depth makes disconnected observations behave as connected ones",
            panels,
            columns=2,
            caption=(
                f"{config.size} × {config.size} targets of rank one, Gaussian factors, "
                f"{len(config.seed)} trials for each point, {METHODS[config.method[0]]} to a loss "
                f"of {config.goal:g}. Bands in the upper row: three standard errors of the mean. "
                f"{_left_out(dataset, config)}"
            ),
        )


def _left_out(dataset: "xarray.Dataset", config: Fig1Config) -> str:
    """The runs that do not count, by name."""
    late = dataset["loss"].where(~(dataset["loss"] <= config.gate))
    stacked = late.stack(run=late.dims).dropna("run")
    if not stacked.size:
        return f"Every run reached a loss of {config.gate:g}."
    names = [
        f"L = {run[DEPTH].item()} {run[PATTERN].item()} αᴸ = {run[SCALE].item():g} "
        f"trial {run[SEED].item()} (loss {run.item():.0e})"
        for run in stacked[:6]
    ]
    more = f" and {stacked.size - 6} more" if stacked.size > 6 else ""
    return f"Left out for a loss above {config.gate:g}: {'; '.join(names)}{more}."


def _mean_line(
    scales: np.ndarray, values: "xarray.DataArray", *, label: str, colour: int, style: str
) -> list[Mark]:
    """The mean over trials at each scale, with three standard errors as a band."""
    table = values.sel({SCALE: scales}).transpose(SCALE, SEED).values
    counted = np.maximum((~np.isnan(table)).sum(axis=1), 1)
    mean = np.array([np.nanmean(row) if np.isfinite(row).any() else np.nan for row in table])
    spread = np.array([np.nanstd(row) if np.isfinite(row).any() else np.nan for row in table])
    half = 3 * spread / np.sqrt(counted)
    return [
        Band(scales, mean - half, mean + half, colour=colour),
        Line(scales, mean, label=label, colour=colour, style=style, marker="o"),
    ]


def _closed_form_panel(dataset: "xarray.Dataset", config: Fig1Config) -> Panel:
    runs = dataset.sel({DEPTH: 2, PATTERN: "diagonal"})
    marks: list[Mark] = [
        Line(
            np.array([1.0, 2.0]),
            np.array([1.0, 2.0]),
            label="equal",
            colour="reference",
            style="dashed",
        )
    ]
    for colour, scale in enumerate(sorted(config.scale)):
        chosen = runs.sel({SCALE: scale})
        marks.append(
            Points(
                chosen["predicted_rank"].values,
                chosen["effective_rank"].values,
                label=f"αᴸ = {scale:g}",
                colour=colour,
                size=3.0,
                opacity=0.6,
            )
        )
    worst = np.nanmax(runs["gap"].values)
    return Panel(
        "depth 2, disconnected: run by run",
        Axis("effective rank of the closed-form limit"),
        Axis("effective rank reached"),
        marks,
        note=f"largest difference in any entry of any run: {worst:.1e}",
    )


def _norm_panel(
    dataset: "xarray.Dataset", config: Fig1Config, scales: np.ndarray, x: Axis
) -> Panel:
    marks: list[Mark] = [HorizontalRule(1.0, label="the target's norm")]
    for colour, depth in enumerate(config.depth):
        for style, pattern in zip(("solid", "dashed"), config.pattern, strict=False):
            runs = dataset.sel({DEPTH: depth, PATTERN: pattern, SCALE: scales})
            ratio = (runs["norm"] / runs["target_norm"]).transpose(SCALE, SEED).values
            label = f"L = {depth}, {pattern}"
            marks.append(
                Line(scales, np.nanmedian(ratio, axis=1), label=label, colour=colour, style=style)
            )
            marks.append(Points(scales, np.nanmax(ratio, axis=1), colour=colour, marker="^"))
    return Panel(
        "norm of what was completed (lines: median, triangles: largest)",
        x,
        Axis("norm / norm of the target", scale="log"),
        marks,
        legend="outside",
    )
