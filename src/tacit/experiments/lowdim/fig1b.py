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
from tacit.draw import Figure
from tacit.experiments._base import Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._fig1b_draw import LOSSES, draw_delay, errors_that_count
from tacit.experiments.lowdim._lengths import (
    check_horizons,
    gate_parameter,
    horizons_parameter,
    length_coordinates,
    length_variables,
)
from tacit.store import LOSS, SEED, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig1bConfig(Config):
    """Parameters of lowdim/fig1b; the defaults are the paper's where it gives them."""

    width: tuple[int, ...] = parameter(
        (50,), "width d of the student", low=2, high=2000, swept=True
    )
    loss: tuple[str, ...] = parameter(
        ("population",), "the loss that descends", choices=tuple(LOSSES), swept=True
    )
    length: tuple[int, ...] = parameter(
        tuple(range(8, 25)), "training length k", low=1, high=200, units="lags", swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(12)), "seed of the student", low=0, swept=True)
    order: int = parameter(10, "order of the teacher: its delay plus one", low=1, high=50)
    gain: float = parameter(
        0.1, "the student's entries start as N(0, (gain/√d)²)", low=1e-8, high=10.0
    )
    sequences: int = parameter(
        100, "fresh sequences a step, of the empirical loss", low=1, high=1_000_000
    )
    steps: int = parameter(50_000, "steps of Adam at most", low=1, high=10_000_000)
    adam_rate: float = parameter(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    goal: float = parameter(
        1e-9, "loss at which a run is stopped early, as converged", low=0.0, high=1.0
    )
    gate: float = gate_parameter(1e-3)
    horizons: tuple[int, ...] = horizons_parameter((40, 30, 60))

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
    batch_by = (WIDTH, LOSS)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 12}

    def variables(self, config: Fig1bConfig) -> dict[str, Variable]:
        """Whole responses of the last and of the best iterate, losses and errors."""
        return length_variables()

    def coordinates(self, config: Fig1bConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates, lags and horizons."""
        return length_coordinates(config.horizons)

    def cell(self, batch: Batch, config: Fig1bConfig) -> Mapping[str, Any]:
        """Train one batch: all lengths and seeds of a width and a loss at once."""
        from tacit.experiments.lowdim._dense import train_dense

        scale = config.gain / math.sqrt(batch.one("width"))
        sequences = config.sequences if batch.one("loss") == "empirical" else None
        return train_dense(batch, config, teacher="delay", scale=scale, sequences=sequences)

    def claims(self, dataset: "xarray.Dataset", config: Fig1bConfig) -> list[Claim]:
        """Small errors from 2d̂ on, large ones just below; and whether 2d̂ is a special place."""
        edge = 2 * config.order
        series = errors_that_count(dataset.isel({WIDTH: 0, LOSS: 0}), config, "last")
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
                    "ten to twenty times, below 2d̂ and beyond it alike; what crosses at 2d̂ is the "
                    "size of the teacher's answer",
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig1bConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Errors, losses and how many runs count."""
        return draw_delay(dataset, config)
