"""lowdim, Figure 1(b): does a wide dense student of a delay line extrapolate from k ≈ 2d̂ on?

The comparison: extrapolation error against the training length k, outside the theory's assumptions:
the teacher is a delay line of order ten (neither balanced nor symmetric), the student is dense with
free B and C, and Adam trains it from near zero. Only runs that trained count: for k ≥ d̂ the
teacher's tail is zero, so that a student stuck at zero would look perfect; for k < d̂ the target is
zero and the question trivial.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, VerticalRule
from tacit.experiments._base import Experiment
from tacit.experiments._config import Config
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._lengths import check_horizons, length_coordinates, length_variables
from tacit.experiments.lowdim._runs import Series, trained
from tacit.store import HORIZON, ITERATE, LENGTH, SEED, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig1bConfig(Config):
    """Parameters of lowdim/fig1b; the defaults are the paper's where it gives them."""

    width: tuple[int, ...] = parameter(
        (50,), "width d of the student", low=2, high=2000, swept=True
    )
    length: tuple[int, ...] = parameter(
        tuple(range(8, 25)), "training length k", low=1, high=200, units="lags", swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(12)), "seed of the student", low=0, swept=True)
    order: int = parameter(10, "order of the teacher: its delay plus one", low=1, high=50)
    gain: float = parameter(
        0.1, "the student's entries start as N(0, (gain/√d)²)", low=1e-8, high=10.0
    )
    steps: int = parameter(50_000, "steps of Adam at most", low=1, high=10_000_000)
    adam_rate: float = parameter(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    goal: float = parameter(
        1e-9, "loss at which a run is stopped early, as converged", low=0.0, high=1.0
    )
    gate: float = parameter(
        1e-3,
        "runs with a larger loss relative to the zero response do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )
    horizons: tuple[int, ...] = parameter(
        (40, 30, 60),
        "errors are taken over the lags k … horizon − 1; the first is drawn",
        low=2,
        high=500,
    )

    def check(self) -> None:
        """Every horizon must leave a lag to extrapolate to."""
        check_horizons(self.horizons, self.length)


class Fig1b(Experiment):
    """Extrapolation error against training length, for a delay line and a dense student."""

    id = "lowdim/fig1b"
    paper = "lowdim"
    figure = "Figure 1(b)"
    summary = "extrapolation error against training length, delay teacher and dense student"
    version = 1
    Config = Fig1bConfig
    presets: ClassVar[Mapping[str, Fig1bConfig]] = {
        "smoke": Fig1bConfig(length=(9, 18, 20), seed=(0, 1), steps=200),
        "quick": Fig1bConfig(length=(8, 14, 16, 17, 18, 19, 20, 21, 22, 24), steps=10_000),
        "paper": Fig1bConfig(),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 12}

    def variables(self, config: Fig1bConfig) -> dict[str, Variable]:
        """Whole responses of the last and of the best iterate, losses and errors."""
        return length_variables()

    def coordinates(self, config: Fig1bConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates, lags and horizons."""
        return length_coordinates(config.horizons)

    def cell(self, batch: Batch, config: Fig1bConfig) -> Mapping[str, Any]:
        """Train one batch: all lengths and seeds of a width at once."""
        from tacit.experiments.lowdim._dense import train_dense

        scale = config.gain / math.sqrt(batch.one("width"))
        return train_dense(batch, config, teacher="delay", scale=scale)

    def claims(self, dataset: "xarray.Dataset", config: Fig1bConfig) -> list[Claim]:
        """Small errors from 2d̂ on, large ones just below; and whether 2d̂ is a special place."""
        edge = 2 * config.order
        series = _series(dataset.isel({WIDTH: 0}), config, "last")
        place = "Figure 1(b), section 5.2"
        found = []
        for length in sorted(config.length):
            if length >= edge:
                found.append(
                    claim_about_median(
                        series.at(length),
                        name=f"k = {length}: extrapolates",
                        statement=f"Trained on k = {length} ≥ 2d̂ lags, the error beyond them is "
                        "at most 0.05 (the teacher's peak is 1).",
                        place=place,
                        at_most=0.05,
                    )
                )
            elif edge - 4 <= length <= edge - 2:
                found.append(
                    claim_about_median(
                        series.at(length),
                        name=f"k = {length}: does not",
                        statement=f"Trained on k = {length} < 2d̂ lags, the error beyond them is "
                        "at least 0.3.",
                        place=place,
                        at_least=0.3,
                    )
                )
        before, after = series.ratio(edge - 1, edge), series.ratio(edge, edge + 1)
        if {edge - 1, edge, edge + 1} <= set(config.length):
            found += [
                claim_about_median(
                    before,
                    name="fall to the threshold",
                    statement=f"From k = {edge - 1} to k = {edge} the error falls at least "
                    "threefold.",
                    place=place,
                    at_least=3,
                ),
                claim_about_median(
                    after,
                    name="fall beyond the threshold",
                    statement=f"From k = {edge} to k = {edge + 1} it falls no further than "
                    "threefold: the transition is over.",
                    place=place,
                    at_most=3,
                    expected="fails",
                    because="there is no kink: from k = 17 on each further lag lowers the error "
                    "about tenfold, below 2d̂ and beyond it alike; what crosses at 2d̂ is the "
                    "size of the teacher's answer",
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig1bConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Errors, losses and how many runs count."""
        k = Axis("training length k")
        rules: list[Mark] = [
            VerticalRule(2 * config.order, label="k = 2 × teacher order"),
            VerticalRule(
                config.order - 0.5, label="left of it the target is zero: trivial", style="dotted"
            ),
        ]
        errors: list[Mark] = [*rules, HorizontalRule(1.0, label="the teacher's peak")]
        losses: list[Mark] = [*rules, HorizontalRule(config.gate, label="gate")]
        counts: list[Mark] = [*rules]
        colour = 0
        for width in config.width:
            chosen = dataset.sel({WIDTH: width})
            for iterate, style in (("last", "solid"), ("best", "dashed")):
                label = f"d = {width}, " + ("last" if iterate == "last" else "lowest-loss iterate")
                series = _series(chosen, config, iterate)
                errors += median_line(
                    config.length,
                    series.table,
                    label=label,
                    colour=colour,
                    style=style,
                    band=iterate == "last",
                )
                loss = chosen["train_loss"].sel({ITERATE: iterate}).transpose(LENGTH, SEED)
                losses += median_line(
                    config.length,
                    loss.values,
                    label=label,
                    colour=colour,
                    style=style,
                    band=iterate == "last",
                )
                colour += 1
            counted = np.isfinite(_series(chosen, config, "last").table).mean(axis=1)
            order = np.argsort(config.length)
            counts.append(
                Line(
                    np.asarray(config.length, float)[order],
                    counted[order],
                    label=f"d = {width}",
                    colour=colour - 2,
                    marker="o",
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
                Panel(
                    "loss reached", k, Axis("training loss", scale="log"), losses, legend="outside"
                ),
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
                f"Delay line of order {config.order}, dense students from N(0, ({config.gain:g}/√d)"
                f"²), population loss, Adam {config.adam_rate:g}, at most {config.steps:,} steps, "
                f"stopped at a loss of {config.goal:g}. Errors over the lags k … "
                f"{config.horizons[0] - 1}, medians of the runs whose loss is at most "
                f"{config.gate:g} ({len(config.seed)} seeds), bands the middle half."
            ),
        )


def _series(dataset: "xarray.Dataset", config: Fig1bConfig, iterate: str) -> Series:
    """Errors at the first horizon of one iterate, of the runs that count."""
    chosen = dataset.isel({HORIZON: 0}).sel({ITERATE: iterate})
    return Series(chosen["error"].where(trained(chosen, config.gate)))
