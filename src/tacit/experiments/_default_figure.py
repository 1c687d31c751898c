"""The figure of an experiment that draws none of its own: its numbers against what is swept."""

import math

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Panel, median_lines
from tacit.experiments._experiment import Experiment

_MOST_LINES = 12
_DECADES = 100  # values that span more than this are drawn on a log axis


def default_figure(experiment: Experiment, runs: xarray.Dataset) -> Figure:
    """A panel for each stored number, against the first swept parameter that takes several values.

    Lines are medians over seeds with the middle half as a band, one for each value of the other
    swept parameters and of the number's own dimensions.
    """
    x = _axis_of(experiment)
    panels = []
    for name, variable in experiment.stored().items():
        if np.dtype(variable.dtype).kind not in "fiub":
            continue
        values = runs[name].astype(float).where(experiment.counts(runs))
        by = tuple(str(d) for d in values.dims if d not in (x, "seed") and values.sizes[d] > 1)
        if math.prod(values.sizes[d] for d in by) > _MOST_LINES:
            continue
        alone = {d: 0 for d in values.dims if d not in (x, "seed", *by)}
        label = ", ".join(f"{dim} = {{{dim}}}" for dim in by) or "median"
        marks = median_lines(values.isel(alone), x, by=by, label=label)
        axis = Axis(variable.long_name or name, scale=_scale(values.values))
        panels.append(Panel(name, Axis(x, scale=_scale(runs[x].values)), axis, marks))
    if not panels:
        panels = [Panel("nothing to draw", Axis(x), Axis(""), [])]
    seeds = runs.sizes.get("seed", 1)
    caption = f"Medians over {seeds} seeds, bands the middle half." if seeds > 1 else ""
    return Figure(experiment.summary, panels, caption=caption)


def _axis_of(experiment: Experiment) -> str:
    """The first swept parameter with several numbers, else the first one of numbers."""
    numbers = [
        name
        for name, spec in experiment.parameters().items()
        if spec.swept and spec.kind in (int, float)
    ]
    several = [name for name in numbers if name != "seed" and len(getattr(experiment, name)) > 1]
    found = [*several, *numbers]
    if not found:
        raise ValueError(
            f"{experiment.id}: no swept parameter is a number, so there is no axis to draw "
            "against; write a draw method"
        )
    return found[0]


def _scale(values: np.ndarray) -> str:
    shown = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if not shown.size or shown.min() <= 0:
        return "linear"
    return "log" if shown.max() > _DECADES * shown.min() else "linear"
