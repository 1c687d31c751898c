"""The figure of lowdim/threshold, from its stored dataset."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade
from tacit.experiments.lowdim._threshold_widths import ENDS, ORDER, first_point, threshold_of
from tacit.store import LENGTH, SEED

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.lowdim.threshold import ThresholdConfig

FORMULAS = {0: "2d̂ + 1", 1: "2d̂", 2: "2d̂ − 1"}
_BELOW = 0.05  # points are drawn at this fraction of the bound: a log axis has no zero


def draw_threshold(
    dataset: "xarray.Dataset", config: "ThresholdConfig", words: Mapping[int, str]
) -> Figure:
    """Widths against k for each placement, then thresholds, one range, and the last step."""
    panels = [_widths_panel(dataset, config, ends, words[ends]) for ends in config.ends]
    panels.append(_thresholds_panel(dataset, config))
    panels.append(_range_panel(dataset, config))
    panels.append(_last_panel(dataset, config))
    return Figure(
        "Two lags for each atom and one more: then nothing is left to choose",
        panels,
        columns=3,
        caption=(
            f"The range of lag {config.lag} over all positive measures on [−1, 1] with the first k "
            f"moments of the teacher's: all balanced students of any width at zero loss on k lags. "
            f"No training; exact arithmetic. {len(config.seed)} random teachers for each order and "
            f"placement: lines are medians, bands their whole spread. Open markers below the "
            "dashed line are ranges of width zero."
        ),
    )


def _widths_panel(
    dataset: "xarray.Dataset", config: "ThresholdConfig", ends: int, words: str
) -> Panel:
    marks: list[Mark] = [HorizontalRule(config.point, label="a point, below")]
    k = np.array(sorted(config.length), dtype=float)
    floor = _BELOW * config.point
    orders = sorted(order for order in config.order if order >= ends)
    for shade, order in zip(Shade.family(max(len(orders), 1)), orders, strict=True):
        table = dataset["width"].sel({ORDER: order, ENDS: ends, LENGTH: k.astype(int)})
        values = np.maximum(table.transpose(LENGTH, SEED).values, floor)
        low, middle, high = np.nanmin(values, 1), np.nanmedian(values, 1), np.nanmax(values, 1)
        open_ = middle > config.point
        marks += [
            Band(k[open_], low[open_], high[open_], colour=shade),
            Line(k, middle, label=f"d̂ = {order}", colour=shade),
            Points(k[open_], middle[open_], colour=shade, size=4.0),
            Points(k[~open_], middle[~open_], colour=shade, filled=False, size=4.0),
        ]
    return Panel(
        words,
        Axis("known lags k"),
        Axis(f"width of the range of lag {config.lag}", scale="log"),
        marks,
        legend="outside",
        note=f"threshold: k = {FORMULAS[ends]}",
    )


def _thresholds_panel(dataset: "xarray.Dataset", config: "ThresholdConfig") -> Panel:
    marks: list[Mark] = []
    for colour, ends in enumerate(config.ends):
        orders = sorted(order for order in config.order if order >= ends)
        x = np.array(orders, dtype=float)
        expected = np.array([threshold_of(order, ends) for order in orders], dtype=float)
        found = [first_point(dataset, order, ends, config.point) for order in orders]
        marks += [
            Line(x, expected, label=f"k = {FORMULAS[ends]}", colour=colour, style="dashed"),
            Points(
                np.repeat(x, [len(values) for values in found]),
                np.concatenate([np.zeros(0), *found]),
                label=f"found, {ends} on the ends",
                colour=colour,
                marker=("o", "s", "^")[ends],
                size=6.0,
            ),
        ]
    return Panel(
        "the first k from which on it is a point",
        Axis("order d̂ of the teacher", ticks=sorted(float(order) for order in config.order)),
        Axis("known lags k"),
        marks,
        legend="outside",
        note="every teacher is drawn; those of one order coincide",
    )


def _range_panel(dataset: "xarray.Dataset", config: "ThresholdConfig") -> Panel:
    """What the range itself does for one teacher: the largest order, the first seed."""
    order, ends, seed = max(config.order), config.ends[0], config.seed[0]
    k = np.array(sorted(config.length))
    one = dataset.sel({ORDER: order, ENDS: ends, SEED: seed, LENGTH: k})
    x = k.astype(float)
    truth = float(one["truth"].values[0])
    marks: list[Mark] = [
        Band(x, one["low"].values, one["high"].values, colour=0, label="what is possible"),
        Line(x, one["low"].values, colour=0, marker="o"),
        Line(x, one["high"].values, colour=0, marker="o"),
        HorizontalRule(truth, label="the teacher"),
    ]
    return Panel(
        f"one teacher of order {order}: the range itself",
        Axis("known lags k"),
        Axis(f"lag {config.lag}", scale="symlog", threshold=max(abs(truth) / 4, 1e-6)),
        marks,
        legend="outside",
        note=f"{ends} atoms on the ends; seed {seed}",
    )


def _last_panel(dataset: "xarray.Dataset", config: "ThresholdConfig") -> Panel:
    """How much is still open one lag before the threshold: what an optimiser has to resolve."""
    marks: list[Mark] = []
    stored = {int(k) for k in dataset[LENGTH].values}
    for colour, ends in enumerate(config.ends):
        orders = [
            order
            for order in sorted(config.order)
            if order >= ends and threshold_of(order, ends) - 1 in stored
        ]
        if not orders:
            continue
        tables = [
            dataset["width"]
            .sel({ORDER: order, ENDS: ends, LENGTH: threshold_of(order, ends) - 1})
            .values
            for order in orders
        ]
        values = np.stack(tables)
        x = np.array(orders, dtype=float)
        marks += [
            Band(x, np.nanmin(values, 1), np.nanmax(values, 1), colour=colour),
            Line(
                x,
                np.nanmedian(values, 1),
                label=f"{ends} on the ends, k = {FORMULAS[ends]} − 1",
                colour=colour,
                marker=("o", "s", "^")[ends],
            ),
        ]
    return Panel(
        "one lag short: what is still open",
        Axis("order d̂ of the teacher", ticks=sorted(float(order) for order in config.order)),
        Axis(f"width of the range of lag {config.lag}", scale="log"),
        marks,
        legend="outside",
        note="the jump at the threshold shrinks tenfold with each order: hard to see by training",
    )
