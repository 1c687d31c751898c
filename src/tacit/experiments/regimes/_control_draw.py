"""The figure of regimes/control, from its stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Figure, Heatmap, Line, Mark, Panel, VerticalRule
from tacit.experiments._lines import median_line
from tacit.experiments.regimes._setting import TEACHERS, teacher_response
from tacit.experiments.regimes._summary import counted, medians, unconverged
from tacit.store import GAMMA0, LAG, LENGTH, SEED, TEACHER

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.regimes.control import ControlConfig

COLOURS = (0.003, 1.0)  # one range for all teachers


def draw_control(dataset: "xarray.Dataset", config: "ControlConfig") -> Figure:
    """A map for each teacher above what students of the shortest length learned of it."""
    ordered = dataset.sortby([LENGTH, GAMMA0])
    lost = unconverged(dataset)
    panels = [_plane(ordered, teacher) for teacher in config.teacher]
    panels += [_responses(ordered, teacher, config) for teacher in config.teacher]
    return Figure(
        "The control: where the teacher forgets, the kernel's short memory is right",
        panels,
        columns=len(config.teacher),
        caption=(
            f"Linear RNNs of width {config.width}, trained as in regimes/map. Above: the norm of "
            f"the error on the {config.tail} lags after k over that of the whole teacher, medians "
            f"over {len(config.seed)} starts, one scale of colours. Below: what was learned from "
            f"the shortest k, bands the middle half of the starts. For γ₀ > 1 the rate of W is "
            f"divided by γ₀. {lost}"
        ).strip(),
    )


def _plane(dataset: "xarray.Dataset", teacher: str) -> Panel:
    gamma0, lengths = dataset[GAMMA0].values, dataset[LENGTH].values
    places = np.arange(len(lengths), dtype=float)
    table = np.round(medians(dataset.sel({TEACHER: teacher}), "tail_error", LENGTH, GAMMA0), 2)
    return Panel(
        TEACHERS[teacher],
        Axis("γ₀ = γ/√n", scale="log", ticks={float(g): f"{g:g}" for g in gamma0}),
        Axis("training length k", ticks=dict(zip(places, map(str, lengths), strict=True))),
        [
            Heatmap(
                gamma0,
                places,
                table,
                label="error beyond k over the teacher",
                scale="log",
                limits=COLOURS,
                annotate=True,
            )
        ],
    )


def _responses(dataset: "xarray.Dataset", teacher: str, config: "ControlConfig") -> Panel:
    k = int(dataset[LENGTH].values[0])
    lags = np.arange(k + config.tail)
    marks: list[Mark] = [VerticalRule(k - 0.5, label=f"trained up to here, k = {k}")]
    ends = dataset[GAMMA0].values[[0, -1]]
    for colour, (gamma0, words) in enumerate(zip(ends, ("kernel", "rich"), strict=True)):
        chosen = counted(dataset, "response").sel({LENGTH: k, GAMMA0: gamma0, TEACHER: teacher})
        table = chosen.transpose(LAG, SEED).values[: len(lags)]
        band, line = median_line(lags, table, label=f"{words}, γ₀ = {gamma0:g}", colour=colour)
        marks += [band, Line(line.x, line.y, label=line.label, colour=colour)]  # type: ignore[attr-defined]
    truth = teacher_response(teacher, len(lags))
    marks.append(Line(lags, truth, label="teacher", colour="ink", style="dotted", width=2.0))
    return Panel(
        f"learned from k = {k}",
        Axis("lag"),
        Axis("impulse response"),
        marks,
        legend="outside",
    )
