"""Panels of the linear experiments, from the stored dataset."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.draw import Axis, Band, HorizontalRule, Line, Mark, Panel, VerticalRule
from tacit.experiments.connectivity._linear import LinearConfig, where_it_ended
from tacit.store import SEED, SINGULAR_VALUE, STEP

if TYPE_CHECKING:
    import xarray

SCALED = "scaled learning time β²τ"


def scaled_times(runs: "xarray.Dataset", g: float) -> np.ndarray:
    """β²τ of the stored points."""
    return runs["time"].isel({SEED: 0}).values / (1 - g**2) ** 2


def spread(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over seeds."""
    table = values.transpose(SEED, ...).values
    return table.mean(axis=0), table.std(axis=0)


def loss_panel(dataset: "xarray.Dataset", config: LinearConfig, target: float) -> Panel:
    """Loss against scaled time: simulation, its exact theory, third order and its radius."""
    marks: list[Mark] = [HorizontalRule(config.fraction, label=f"{config.fraction:.0%} of L₀")]
    for colour, g in enumerate(config.g):
        runs = where_it_ended(dataset, target, g)
        if not runs.sizes[SEED]:
            continue
        x = scaled_times(runs, g)
        mean, deviation = spread(runs["loss"])
        series = np.minimum(runs["series_loss"].isel({SEED: 0}).values, 1.5)
        first = int(np.argmax(series > 1.2)) if (series > 1.2).any() else len(series)
        radius = float(runs["radius"].values[0]) / (1 - g**2) ** 2
        marks += [
            Band(x, mean - deviation, mean + deviation, colour=colour),
            Line(x, mean, label=f"g = {g:g}", colour=colour, width=2.4),
            Line(
                x,
                runs["limit_loss"].isel({SEED: 0}).values,
                label="exact, large N",
                colour="ink",
                style="dotted",
            ),
            Line(
                x[:first],
                series[:first],
                label=None if colour else "third order",
                colour=colour,
                style="dashed",
            ),
            VerticalRule(
                radius,
                label=None if colour else "radius of convergence",
                colour=colour,
                style="dotted",
            ),
        ]
    return Panel(
        f"loss, ẑ = {target:g}",
        Axis(SCALED, limits=(0, None)),
        Axis("loss / L₀", limits=(0, 1.3)),
        marks,
        legend="outside",
    )


def singular_panel(dataset: "xarray.Dataset", config: LinearConfig, target: float) -> Panel:
    """The first two singular values of ΔW against scaled time."""
    marks: list[Mark] = []
    highest = 0.0
    for colour, g in enumerate(config.g):
        runs = where_it_ended(dataset, target, g)
        if not runs.sizes[SEED]:
            continue
        x = scaled_times(runs, g)
        for number, words in ((1, "s₁"), (2, "s₂")):
            mean, deviation = spread(runs["singular"].sel({SINGULAR_VALUE: number}))
            highest = max(highest, float(mean.max()))
            exact, series = (
                runs[name].isel({SEED: 0}).sel({SINGULAR_VALUE: number}).values
                for name in ("limit_singular", "series_singular")
            )
            inside = series <= 1.3 * max(highest, 1e-9)
            last = int(np.argmin(inside)) if not inside.all() else len(x)
            marks += [
                Band(x, mean - deviation, mean + deviation, colour=colour),
                Line(
                    x,
                    mean,
                    label=f"g = {g:g}: {words}",
                    colour=colour,
                    width=2.4 if number == 1 else 1.2,
                ),
                Line(x, exact, label="exact, large N", colour="ink", style="dotted"),
                Line(
                    x[:last],
                    series[:last],
                    label=None if colour or number > 1 else "third order",
                    colour=colour,
                    style="dashed",
                    width=1.2,
                ),
            ]
    return Panel(
        f"singular values of ΔW, ẑ = {target:g}",
        Axis(SCALED, limits=(0, None)),
        Axis("singular value", limits=(0, None)),
        marks,
        legend="outside",
    )


def series_gap(runs: "xarray.Dataset", name: str, fraction: float) -> tuple[float, float]:
    """The largest |third order − mean of a loss| until that mean is at a fraction of L₀.

    With two standard errors of the mean there. The mean over networks is what the paper compares:
    one network begins at an output of order 1/√N, which its theory for large N sets to zero.
    """
    table = runs[name].transpose(SEED, STEP).values
    if len(table) < 2:
        return np.nan, 0.0
    mean = table.mean(axis=0)
    below = np.flatnonzero(mean <= fraction)
    last = int(below[0]) + 1 if below.size else len(mean)
    gap = np.abs(runs["series_loss"].isel({SEED: 0}).values - mean)[:last]
    worst = int(np.argmax(gap))
    return float(gap[worst]), float(2 * table[:, worst].std(ddof=1) / np.sqrt(len(table)))
