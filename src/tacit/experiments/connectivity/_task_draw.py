"""Panels of the experiments on the tasks, from the stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, HorizontalRule, Line, Mark, Panel
from tacit.experiments.connectivity._tasks import TaskConfig, finished
from tacit.store import RANK, SEED, SINGULAR_VALUE, STEP, STRENGTH, TASK, TIME

if TYPE_CHECKING:
    import xarray


def trial_panel(dataset: "xarray.Dataset", config: TaskConfig, task: str) -> Panel:
    """One trial of the first network: inputs above, outputs and targets below."""
    g = config.g[-1]
    run = dataset.sel({TASK: task, STRENGTH: g}).isel({SEED: 0})
    step = run[TIME].values.astype(float)
    inputs, targets, outputs = (
        run[name].transpose(TIME, ...).values
        for name in ("trial_inputs", "trial_targets", "trial_outputs")
    )
    marks: list[Mark] = []
    count_in = int(np.isfinite(inputs).any(axis=0).sum())
    count_out = int(np.isfinite(outputs).any(axis=0).sum())
    for channel in range(count_in):
        marks.append(
            Line(
                step,
                2.5 * (count_in - channel) + inputs[:, channel],
                label="inputs" if channel == 0 else None,
                colour="muted",
                width=1.2,
            )
        )
    for channel in range(count_out):
        base = -2.5 * channel
        marks += [
            Line(
                step,
                base + 2 * targets[:, channel],
                label="targets" if channel == 0 else None,
                colour="ink",
                width=4.0,
                opacity=0.35,
            ),
            Line(
                step,
                base + 2 * outputs[:, channel],
                label=f"output {channel + 1}",
                colour=channel,
            ),
        ]
    return Panel(
        f"{task}: one trial, g = {g:g}",
        Axis("step"),
        Axis("channels, shifted", ticks=[]),
        marks,
        legend="outside",
        note="outputs and targets twice as large",
    )


def _spread(x: np.ndarray, table: np.ndarray, label: str, colour: int) -> list[Mark]:
    """Median and range over networks."""
    kept = np.isfinite(table).all(axis=0)
    if not len(table) or not kept.any():
        return []
    return [
        Band(x[kept], table[:, kept].min(axis=0), table[:, kept].max(axis=0), colour=colour),
        Line(x[kept], np.median(table[:, kept], axis=0), label=label, colour=colour),
    ]


def _words(dataset: "xarray.Dataset", task: str, g: float) -> str:
    runs = dataset.sel({TASK: task, STRENGTH: g})
    return f"g = {g:g} ({finished(dataset, task, g).sizes[SEED]} of {runs.sizes[SEED]})"


def loss_panel(dataset: "xarray.Dataset", config: TaskConfig, task: str) -> Panel:
    """Smoothed loss against epochs."""
    marks: list[Mark] = [HorizontalRule(config.fraction, label=f"{config.fraction:.0%}")]
    furthest = 1.0
    for colour, g in enumerate(config.g):
        every = dataset.sel({TASK: task, STRENGTH: g})
        runs = every.isel({SEED: np.flatnonzero(every["outcome"].values != "diverged")})
        x = every["epoch"].isel({SEED: 0}).values
        marks += _spread(x, runs["loss"].transpose(SEED, STEP).values,
                         _words(dataset, task, g), colour)  # fmt: skip
        if runs.sizes[SEED]:
            furthest = max(furthest, 2.5 * float(runs["epochs_needed"].max()))
    return Panel(
        f"{task}: loss (in brackets: networks that learned it)",
        Axis("epoch", limits=(0, min(furthest, config.epochs(task)))),
        Axis("loss / initial loss", limits=(0, 1.25)),
        marks,
        legend="outside",
    )


def singular_panel(dataset: "xarray.Dataset", config: TaskConfig, task: str) -> Panel:
    """The first singular values of ΔW."""
    marks: list[Mark] = []
    for colour, g in enumerate(config.g):
        runs = finished(dataset, task, g)
        x = runs[SINGULAR_VALUE].values.astype(float)[:11]
        table = runs["change_singular"].transpose(SEED, SINGULAR_VALUE).values[:, :11]
        marks += _spread(x, table, f"g = {g:g}", colour)
    return Panel(
        f"{task}: singular values of ΔW",
        Axis("number"),
        Axis("singular value", limits=(0, None)),
        marks,
        legend="outside",
    )


def truncation_panel(dataset: "xarray.Dataset", config: TaskConfig, task: str) -> Panel:
    """The loss when ΔW is truncated at a rank."""
    marks: list[Mark] = [HorizontalRule(config.fraction, label=f"{config.fraction:.0%}")]
    for colour, g in enumerate(config.g):
        runs = finished(dataset, task, g)
        x = runs[RANK].values.astype(float)
        table = runs["truncated_loss"].transpose(SEED, RANK).values
        marks += _spread(x, table, f"g = {g:g}", colour)
    return Panel(
        f"{task}: ΔW truncated",
        Axis("rank kept"),
        Axis("loss / initial loss", limits=(0, 2.0)),
        marks,
        legend="outside",
    )
