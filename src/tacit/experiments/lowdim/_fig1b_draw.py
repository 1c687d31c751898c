"""The figure of lowdim/fig1b, from its stored dataset."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, VerticalRule
from tacit.experiments._lines import median_line
from tacit.experiments.lowdim._runs import Series, trained
from tacit.store import HORIZON, ITERATE, LENGTH, LOSS, SEED, WIDTH

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.lowdim.fig1b import Fig1bConfig

LOSSES = {"population": "population loss", "empirical": "fresh batches"}


def errors_that_count(dataset: "xarray.Dataset", config: "Fig1bConfig", iterate: str) -> Series:
    """Errors at the first horizon of one iterate, of the runs that trained."""
    chosen = dataset.isel({HORIZON: 0}).sel({ITERATE: iterate})
    return Series(chosen["error"].where(trained(chosen, config.gate)))


def draw_delay(dataset: "xarray.Dataset", config: "Fig1bConfig") -> Figure:
    """Errors, losses and how many runs count."""
    k = Axis("training length k")
    rule = VerticalRule(2 * config.order, label="k = 2 × teacher order")
    errors: list[Mark] = [
        rule,
        HorizontalRule(1.0, label="the teacher's peak", style="dotted"),
    ]
    losses: list[Mark] = [rule, HorizontalRule(config.gate, label="gate", style="dotted")]
    counts: list[Mark] = [rule]
    lengths = np.asarray(config.length, dtype=float)
    asked = lengths >= config.order
    for colour, label, iterate, chosen in _lines(dataset, config):
        last = iterate == "last"
        style = "solid" if last else "dashed"
        error = errors_that_count(chosen, config, iterate).table
        loss = chosen["train_loss"].sel({ITERATE: iterate}).transpose(LENGTH, SEED).values
        for marks, table in ((errors, error), (losses, loss)):
            marks += median_line(
                lengths[asked], table[asked], label=label, colour=colour, style=style, band=last
            )
        if last:
            order = np.argsort(lengths[asked])
            counted = np.isfinite(error).mean(axis=1)
            counts.append(
                Line(
                    lengths[asked][order],
                    counted[asked][order],
                    label=label.removesuffix(", last"),
                    colour=colour,
                    marker="o",
                )
            )
            if not asked.all():
                errors.append(
                    Points(
                        lengths[~asked],
                        np.median(error[~asked], axis=1),
                        label="trivial: the target is zero",
                        colour="reference",
                        filled=False,
                    )
                )
    return Figure(
        "A delay line is learned beyond the training length from k = 2d̂ on",
        [
            Panel(
                "extrapolation",
                k,
                Axis("extrapolation error (ℓ∞)", scale="log"),
                errors,
                legend="outside",
            ),
            Panel("loss reached", k, Axis("training loss", scale="log"), losses, legend="outside"),
            Panel(
                "runs that count",
                k,
                Axis("fraction of the runs", limits=(-0.04, 1.04)),
                counts,
                legend="outside",
            ),
        ],
        columns=3,
        caption=(
            f"Delay line of order {config.order}, dense students from N(0, ({config.gain:g}/√d)²), "
            f"{' and '.join(LOSSES[name] for name in config.loss)}, Adam {config.adam_rate:g}, at "
            f"most {config.steps:,} steps, stopped at a loss of {config.goal:g}. Errors over the "
            f"lags k … {config.horizons[0] - 1}, medians of the runs whose loss is at most "
            f"{config.gate:g} ({len(config.seed)} seeds), bands the middle half."
        ),
    )


def _lines(
    dataset: "xarray.Dataset", config: "Fig1bConfig"
) -> Iterator[tuple[int, str, str, "xarray.Dataset"]]:
    """Colour, label, iterate and runs of every line."""
    colour = 0
    for width in config.width:
        for loss in config.loss:
            chosen = dataset.sel({WIDTH: width, LOSS: loss})
            words = f"d = {width}" + (f", {LOSSES[loss]}" if len(config.loss) > 1 else "")
            yield colour, f"{words}, last", "last", chosen
            yield colour + 1, f"{words}, lowest-loss iterate", "best", chosen
            colour += 2
