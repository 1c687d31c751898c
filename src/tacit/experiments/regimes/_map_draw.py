"""The figure of regimes/map, from its stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Figure, Heatmap, HorizontalRule, Line, Mark, Panel, Shade, VerticalRule
from tacit.experiments._lines import median_line
from tacit.experiments.regimes._setting import LEVEL, ORDER, teacher_response
from tacit.experiments.regimes._summary import counted, medians, unconverged
from tacit.store import GAMMA0, LAG, LENGTH, SEED

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.regimes.map import MapConfig

EDGE = 2 * ORDER


def draw_map(dataset: "xarray.Dataset", config: "MapConfig") -> Figure:
    """Error and rank on the plane, then a cut through it, and responses of its corners."""
    ordered = dataset.sortby([LENGTH, GAMMA0])
    lost = unconverged(dataset)
    return Figure(
        "Two theories, one map: extrapolation needs a long enough sequence and a rich enough start",
        [
            _plane(ordered, "error", "relative error on the lags after k", "how wrong beyond k"),
            _plane(ordered, "rank", "Hankel rank", "how large a state space"),
            _cut(ordered),
            _responses(ordered, config),
        ],
        columns=2,
        caption=(
            f"Linear RNNs of width {config.width} with their output divided by γ = γ₀ √n and "
            f"centred, trained on the first k lags of a teacher of order {ORDER} until their "
            f"relative error there is {config.goal:g}. Medians over {len(config.seed)} "
            "starts. Gradient descent with an adaptive step; for γ₀ > 1 the rate of W is divided "
            f"by γ₀. Error: on the {config.tail} lags after k, relative to the teacher's. Rank: "
            f"Hankel singular values above {config.tolerance:.0%} of the largest. "
            "Red: κ = 1, where κ is γ₀ times the teacher's norm in the kernel, computed without "
            "training; dashed: k = 2 × order. Hatched: fewer than half of the runs converged. "
            f"{lost}"
        ).strip(),
        size=(11.0, 8.6),
    )


def _plane(dataset: "xarray.Dataset", name: str, label: str, title: str) -> Panel:
    """A map with rows by their order, so that cells have one height."""
    gamma0, lengths = dataset[GAMMA0].values, dataset[LENGTH].values
    places = np.arange(len(lengths), dtype=float)
    table = np.round(medians(dataset, name, LENGTH, GAMMA0), 2)  # as it is written in the cells
    marks: list[Mark] = [
        Heatmap(
            gamma0,
            places,
            table,
            label=label,
            annotate=table.size <= 120,
            limits=(0.0, 1.0) if name == "error" else None,
        ),
        *_borders(dataset, places),
    ]
    return Panel(
        title,
        Axis("γ₀ = γ/√n", scale="log", ticks={float(g): f"{g:g}" for g in gamma0}),
        Axis("training length k", ticks=dict(zip(places, map(str, lengths), strict=True))),
        marks,
        legend="outside",
    )


def _borders(dataset: "xarray.Dataset", places: np.ndarray) -> list[Mark]:
    """κ = 1 as predicted, a step line through the rows, and k = 2d̂."""
    gamma0, lengths = dataset[GAMMA0].values, dataset[LENGTH].values
    # κ is proportional to γ₀, so that any column tells where it is 1.
    kappa = dataset["kappa"].isel({GAMMA0: 0}).median(SEED).values
    with np.errstate(divide="ignore"):
        edge = gamma0[0] / kappa
    marks: list[Mark] = [
        Line(
            np.repeat(edge, 2),
            np.stack([places - 0.5, places + 0.5], axis=1).ravel(),
            label="κ = 1: the kernel begins to turn",
            colour="warning",
            width=2.2,
        )
    ]
    if lengths.min() <= EDGE < lengths.max():
        between = float(np.searchsorted(lengths, EDGE, side="right")) - 0.5
        marks.append(HorizontalRule(between, label="k = 2 × order", colour="ink"))
    return marks


def _cut(dataset: "xarray.Dataset") -> Panel:
    """The error along κ, one line for each length beyond 2d̂."""
    lengths = [int(k) for k in dataset[LENGTH].values]
    marks: list[Mark] = [
        VerticalRule(1.0, label="κ = 1", colour="warning", style="solid"),
        HorizontalRule(LEVEL, label="½"),
    ]
    error = counted(dataset, "error")
    for colour, k in zip(Shade.family(len(lengths)), lengths, strict=True):
        kappa = dataset["kappa"].sel({LENGTH: k}).median(SEED).values
        table = error.sel({LENGTH: k}).transpose(GAMMA0, SEED).values
        marks += median_line(
            kappa, table, label=f"k = {k}", colour=colour, style="solid" if k > EDGE else "dotted"
        )
    return Panel(
        "the same errors against κ",
        Axis("κ = γ₀ × the teacher's norm in the kernel", scale="log"),
        Axis("relative error on the lags after k", limits=(0, None)),
        marks,
        legend="outside",
        note="dotted: k ≤ 2 × order; bands: the middle half of the starts",
    )


def _responses(dataset: "xarray.Dataset", config: "MapConfig") -> Panel:
    """What students of the longest k learned, at both ends of γ₀."""
    k = int(dataset[LENGTH].values[-1])
    lags = np.arange(k + config.tail)
    marks: list[Mark] = [VerticalRule(k - 0.5, label=f"trained up to here, k = {k}")]
    ends = dataset[GAMMA0].values[[0, -1]]
    for colour, (gamma0, words) in enumerate(zip(ends, ("kernel", "rich"), strict=True)):
        chosen = counted(dataset, "response").sel({LENGTH: k, GAMMA0: gamma0})
        table = chosen.transpose(LAG, SEED).values[: len(lags)]
        band, line = median_line(lags, table, label=f"{words}, γ₀ = {gamma0:g}", colour=colour)
        marks += [band, Line(line.x, line.y, label=line.label, colour=colour)]  # type: ignore[attr-defined]
    teacher = teacher_response("modes", len(lags))
    marks.append(Line(lags, teacher, label="teacher", colour="ink", style="dotted", width=2.0))
    return Panel(
        "what the two corners learned",
        Axis("lag"),
        Axis("impulse response"),
        marks,
        legend="outside",
    )
