"""The figure of lowdim/fig1a, from its stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, VerticalRule
from tacit.experiments._lines import median_line
from tacit.store import HORIZON, ITERATE, LENGTH, LOSS, METHOD, SEED, SINGULAR_VALUE, TEACHER, WIDTH

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.lowdim.fig1a import Fig1aConfig

TITLES = {
    "even": "literal teacher, even spectrum",
    "random": "literal teacher, random spectrum",
    "well-conditioned": "well-conditioned teacher",
}
LOSSES = {"population": "population loss", "empirical": "fixed data"}
METHODS = {"adam": "Adam", "gd": "gradient descent", "flow": "gradient flow"}


def draw_lengths(dataset: "xarray.Dataset", config: "Fig1aConfig") -> Figure:
    """Errors for each teacher, then horizons, training loss and conditioning."""
    first = dataset.isel({WIDTH: 0, LOSS: 0, HORIZON: 0})
    k = Axis("training length k")
    relative = Axis("relative extrapolation error", scale="log")
    rule = VerticalRule(2 * config.order + 0.5, label="k = 2 × teacher order")
    panels = []
    for teacher in config.teacher:
        marks: list[Mark] = [rule, HorizontalRule(1.0, label="zero response")]
        for colour, (method, iterate, label) in enumerate(_series(config)):
            chosen = first["relative_error"].sel(
                {TEACHER: teacher, METHOD: method, ITERATE: iterate}
            )
            marks += median_line(config.length, by_seed(chosen), label=label, colour=colour)
        marks += _on_data(dataset, config, teacher)
        panels.append(Panel(TITLES[teacher], k, relative, marks, legend="outside"))
    last = config.teacher[-1]
    method = config.method[0]
    chosen_teacher = dataset.isel({LOSS: 0}).sel({TEACHER: last, METHOD: method})
    marks = [rule]
    for colour, horizon in enumerate(sorted(config.horizons)):
        for style, iterate in (("dashed", "last"), ("solid", "polished")):
            errors = chosen_teacher["error"].isel({WIDTH: 0}).sel({ITERATE: iterate})
            chosen = errors.sel({HORIZON: horizon})
            label = f"{METHODS[method]}{', polished' if style == 'solid' else ''}, to lag {horizon}"
            marks += median_line(
                config.length, by_seed(chosen), label=label, colour=colour, style=style, band=False
            )
    for colour, width in enumerate(config.width[1:], start=len(config.horizons)):
        chosen = chosen_teacher["error"].isel({HORIZON: 0}).sel({WIDTH: width, ITERATE: "polished"})
        marks += median_line(
            config.length,
            by_seed(chosen),
            label=f"width {width}, polished",
            colour=colour,
            band=False,
        )
    panels.append(
        Panel(
            f"absolute error by horizon, {last}",
            k,
            Axis("extrapolation error (ℓ∞)", scale="log"),
            marks,
            legend="outside",
        )
    )
    marks = [rule, HorizontalRule(config.goal, label="goal of the polish")]
    for colour, teacher in enumerate(config.teacher):
        for style, iterate in (("dashed", "last"), ("solid", "polished")):
            loss = first["train_loss"].sel({TEACHER: teacher, METHOD: method, ITERATE: iterate})
            label = f"{teacher}, {'polished' if style == 'solid' else METHODS[method]}"
            marks += median_line(
                config.length, by_seed(loss), label=label, colour=colour, style=style, band=False
            )
    panels.append(
        Panel("loss reached", k, Axis("training loss", scale="log"), marks, legend="outside")
    )
    panels.append(_conditioning_panel(first, config))
    return Figure(
        "A jump at twice the teacher's order, once conditioning lets it show",
        panels,
        columns=3,
        caption=(
            f"Teacher of order {config.order}, balanced student of width {config.width[0]}, "
            f"{config.steps:,} steps (flow: to time {config.flow_time:g}); polished: up to "
            f"{config.polish_steps:,} Levenberg-Marquardt steps more. Lines are medians "
            f"over {len(config.seed)} seeds, bands the middle half. First row: relative error "
            f"over the lags k … {config.horizons[0] - 1}."
        ),
    )


def _series(config: "Fig1aConfig") -> list[tuple[str, str, str]]:
    """What is drawn for each teacher: method, iterate, label."""
    found = []
    for method in config.method:
        found.append((method, "last", METHODS[method]))
        if method == "adam":
            found.append((method, "best", "Adam, lowest-loss iterate"))
            found.append((method, "polished", "Adam, polished"))
    return found


def _on_data(dataset: "xarray.Dataset", config: "Fig1aConfig", teacher: str) -> list[Mark]:
    """The losses beyond the first: the first method, as it ended and polished."""
    marks: list[Mark] = []
    runs = dataset.isel({WIDTH: 0, HORIZON: 0})["relative_error"]
    for loss in config.loss[1:]:
        for style, iterate in (("dashed", "last"), ("dotted", "polished")):
            method = config.method[0]
            place = {TEACHER: teacher, METHOD: method, LOSS: loss, ITERATE: iterate}
            label = f"{METHODS[method]}{', polished' if iterate == 'polished' else ''}, "
            marks += median_line(
                config.length,
                by_seed(runs.sel(place)),
                label=label + LOSSES[loss],
                colour=6 + (iterate == "polished"),
                style=style,
                band=False,
            )
    return marks


def by_seed(values: "xarray.DataArray") -> np.ndarray:
    """The table (length, seed) that `median_line` takes."""
    return values.transpose(LENGTH, SEED).values


def _conditioning_panel(dataset: "xarray.Dataset", config: "Fig1aConfig") -> Panel:
    marks: list[Mark] = []
    modes = np.arange(1, config.order + 1, dtype=float)
    notes = []
    for colour, teacher in enumerate(config.teacher):
        values = dataset["hankel"].isel({METHOD: 0, LENGTH: 0}).sel({TEACHER: teacher})
        table = (values / values.isel({SINGULAR_VALUE: 0})).transpose(SINGULAR_VALUE, SEED).values
        low, middle, high = np.nanquantile(table, [0.0, 0.5, 1.0], axis=1, method="nearest")
        marks += [
            Band(modes, low, high, colour=colour),
            Line(modes, middle, label=teacher, colour=colour, marker="o"),
        ]
        notes.append(f"{teacher}: " + ", ".join(f"{v:.0e}" for v in middle[1:]))
    return Panel(
        "the cause: the teacher's conditioning",
        Axis("mode", ticks=modes),
        Axis("Hankel singular value / largest", scale="log"),
        marks,
        legend="outside",
        note="; ".join(notes),
    )
