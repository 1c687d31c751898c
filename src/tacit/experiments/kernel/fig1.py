"""kernel, Figure 1: does a wide linear RNN learn along the curve of a scaled convolution?

The comparison: training and test error of an RNN with n = 1000 under full-batch gradient descent
beside two predictions in closed form, started from the same impulse response: the scaled
convolution, which is the limit of infinite width, and the kernel of this very network at its start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.kernel import _dynamics
from tacit.experiments.kernel._dynamics import MODELS, DynamicsConfig
from tacit.experiments.kernel._dynamics_draw import (
    KERNELS,
    curve_panel,
    initial_gap,
    momentary_gap,
)
from tacit.store import SEED, STEP, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

_SHORT = (*range(11), 12, 15, 20, 25, 30, 40, 50, 65, 80, 100)


@dataclass(frozen=True, kw_only=True)
class Fig1Config(DynamicsConfig):
    """Parameters of kernel/fig1; the paper does not say how many epochs it shows."""

    epochs: tuple[int, ...] = parameter(
        (*_SHORT, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000),
        "epochs at which the models are looked at",
        low=0,
        high=1_000_000,
    )


class Fig1(Experiment):
    """Training and test curves of a wide RNN and of the two kernel models."""

    id = "kernel/fig1"
    paper = "kernel"
    figure = "Figure 1"
    summary = "learning curves of a wide linear RNN, of a scaled convolution, of its own kernel"
    version = 1
    Config = Fig1Config
    presets: ClassVar[Mapping[str, Fig1Config]] = {
        "smoke": Fig1Config(width=(160,), seed=(0, 1), epochs=(0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20)),
        "quick": Fig1Config(epochs=_SHORT),
        "paper": Fig1Config(),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig1Config) -> dict[str, Variable]:
        """Errors and distances of all models at all epochs."""
        return _dynamics.variables()

    def coordinates(self, config: Fig1Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The models and the epochs."""
        return _dynamics.coordinates(config)

    def cell(self, batch: Batch, config: Fig1Config) -> Mapping[str, Any]:
        """Train one width, all seeds at once."""
        return _dynamics.train_dynamics(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig1Config) -> list[Claim]:
        """How far the curves are from coinciding, against both kernels."""
        runs = dataset.sel({WIDTH: max(config.width)})
        n, found = max(config.width), []
        for quantity, words in (("train", "training"), ("test", "test")):
            found.append(
                claim_about_median(
                    initial_gap(runs, "limit", quantity).max(STEP).values,
                    name=f"{words} curves coincide on the scale of the figure",
                    statement=f"At n = {n} the {words} errors of the RNN and of the scaled "
                    "convolution never differ by more than 5% of the initial error.",
                    place="Figure 1",
                    at_most=0.05,
                )
            )
        found.append(
            claim_about_median(
                momentary_gap(runs, "limit", "train").max(STEP).values,
                name="limit, of the momentary error",
                statement=f"At n = {n} the training errors of the RNN and of the scaled "
                "convolution never differ by more than 5% of what they are at that epoch.",
                place="Figure 1: the dynamics of these models perfectly match",
                at_most=0.05,
                expected="fails",
                because="the kernel at n = 1000 is still some per cent away from its limit (like "
                "1/√n), and a rate that is off by so much shows in an error that falls by "
                "orders of magnitude",
            )
        )
        found.append(
            claim_about_median(
                momentary_gap(runs, "start", "train").max(STEP).values,
                name="kernel at start, of the momentary error",
                statement=f"At n = {n} the training errors of the RNN and of its own kernel at "
                "the start never differ by more than 5% of what they are at that epoch.",
                place="Proposition 3.1 (ours: with the kernel of the network itself)",
                at_most=0.05,
            )
        )
        found.append(
            claim_about_median(
                (runs["test"].isel({STEP: -1}) / runs["noise"]).values[:, 0],
                name="the RNN learns the teacher",
                statement="At the last epoch the RNN's test error is at most twice the noise.",
                place="Figure 1",
                at_most=2.0,
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig1Config, claims: Sequence[Claim]
    ) -> Figure:
        """Both curves, and the differences that they hide."""
        panels = [
            curve_panel(
                dataset, config, quantity="train", title="training error, seed 0", scale="symlog"
            ),
            curve_panel(
                dataset, config, quantity="test", title="test error, seed 0", scale="symlog"
            ),
            gap_panel(dataset, config),
        ]
        return Figure(
            f"A linear RNN with n = {max(config.width):,} learns along its kernel's curve",
            panels,
            columns=3,
            caption=(
                f"Teacher with {config.units} hidden units, {config.sequences} training and "
                f"{config.sequences} test sequences of length {config.length}, noise at "
                f"{config.decibels:g} dB, full-batch gradient descent with rate {config.rate:g} on "
                "the summed squared error. The predictions are closed forms, not iterated. (c): "
                f"medians over {len(config.seed)} seeds, bands the middle half."
            ),
        )


def gap_panel(dataset: "xarray.Dataset", config: DynamicsConfig) -> Panel:
    """The momentary differences of the training errors, over all seeds."""
    runs = dataset.sel({WIDTH: max(config.width)})
    epochs = np.array(config.epochs, float)
    marks: list[Mark] = []
    for colour, kernel in enumerate(KERNELS, start=1):
        table = momentary_gap(runs, kernel, "train").transpose(STEP, SEED).values
        low, middle, high = np.quantile(table, [0.25, 0.5, 0.75], axis=1, method="nearest")
        later = epochs > 0
        marks += [
            Band(epochs[later], low[later], high[later], colour=colour),
            Line(
                epochs[later],
                middle[later],
                label=MODELS[kernel],
                colour=colour,
                style="dashed" if kernel == "limit" else "dotted",
                width=1.8,
            ),
        ]
    return Panel(
        "how far the RNN is from each",
        Axis("epoch", scale="log"),
        Axis("|difference| / error at that epoch", scale="log"),
        marks,
    )
