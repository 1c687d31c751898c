"""kernel/width (ours): how fast does a linear RNN approach its kernel as it gets wider?

The comparison: the distance of the RNN's impulse response, the largest on its way through training,
from two predictions: the limit of infinite width, and the kernel of the network at its start. The
first is off because the kernel is (like 1/√n), the second because the kernel moves (like 1/n).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.kernel import _dynamics
from tacit.experiments.kernel._dynamics import MODELS, DynamicsConfig
from tacit.store import MODEL, SEED, STEP, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

SLOPES = {"limit": (-0.5, 0.1), "start": (-1.0, 0.2)}


@dataclass(frozen=True, kw_only=True)
class WidthConfig(DynamicsConfig):
    """Parameters of kernel/width; task and student are those of kernel/fig1."""

    width: tuple[int, ...] = parameter(
        (64, 128, 256, 512, 1024, 2048),
        "hidden units n of the student",
        low=2,
        high=10_000,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(60)), "seed of teacher, sequences and student", low=0, swept=True
    )
    epochs: tuple[int, ...] = parameter(
        (0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 50),
        "epochs at which the models are looked at",
        low=0,
        high=1_000_000,
    )


class Width(Experiment):
    """Distances from both kernels against the width."""

    id = "kernel/width"
    paper = "kernel"
    figure = "ours, beside Figure 1"
    summary = "distance of a linear RNN from its limit (1/√n) and from its start kernel (1/n)"
    version = 1
    Config = WidthConfig
    presets: ClassVar[Mapping[str, WidthConfig]] = {
        "smoke": WidthConfig(width=(40, 160), seed=(0, 1)),
        "quick": WidthConfig(width=(32, 64, 128, 256, 512), seed=tuple(range(100))),
        "paper": WidthConfig(),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: WidthConfig) -> dict[str, Variable]:
        """Errors and distances of all models at all epochs."""
        return _dynamics.variables()

    def coordinates(self, config: WidthConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The models and the epochs."""
        return _dynamics.coordinates(config)

    def cell(self, batch: Batch, config: WidthConfig) -> Mapping[str, Any]:
        """Train one width, all seeds at once."""
        return _dynamics.train_dynamics(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: WidthConfig) -> list[Claim]:
        """The three slopes, each between two bounds."""
        if len(config.width) < 2:
            return []
        found = []
        cases = [
            (name, *SLOPES[name], distances(dataset, name), f"distance from {MODELS[name]}")
            for name in SLOPES
        ]
        gram = dataset["gram_gap"].transpose(SEED, WIDTH).values
        cases.append(("gram", -0.5, 0.1, gram, "‖G − D(ρ)‖ at the start"))
        widths = np.log(np.array(config.width, float))
        for name, slope, margin, table, words in cases:
            slopes = np.array([np.polyfit(widths, np.log(row), 1)[0] for row in table])
            for side, bound in (("at_most", slope + margin), ("at_least", slope - margin)):
                steep = "no less steeply than" if side == "at_most" else "no more steeply than"
                found.append(
                    claim_about_mean(
                        slopes,
                        name=f"{name}: slope {side.replace('_', ' ')} {bound:g}",
                        statement=f"In the mean over seeds the {words} falls {steep} n^{bound:g}.",
                        place="Theorem 3.3(b), Proposition 3.1 (rates: ours)",
                        at_most=bound if side == "at_most" else None,
                        at_least=bound if side == "at_least" else None,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: WidthConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Two slopes, and the Gram matrix."""
        widths = np.array(sorted(config.width), float)
        ordered = dataset.sel({WIDTH: sorted(config.width)})
        x = Axis("hidden units n", scale="log", ticks=widths)
        marks: list[Mark] = []
        for colour, name in enumerate(SLOPES, start=1):
            marks += _line(widths, distances(ordered, name), MODELS[name], colour)
            middle = np.median(distances(ordered, name), axis=0)[0]
            slope = SLOPES[name][0]
            marks.append(
                Line(
                    widths,
                    middle * (widths / widths[0]) ** slope,
                    label=f"slope {slope:g}".replace("-", "−"),
                    colour="reference",
                    style="dashed" if name == "limit" else "dotted",
                )
            )
        gram = ordered["gram_gap"].transpose(SEED, WIDTH).values
        first = np.median(gram, axis=0)[0]
        right: list[Mark] = [
            *_line(widths, gram, "‖G − D(ρ)‖/‖D(ρ)‖", 0),
            Line(
                widths,
                first * (widths / widths[0]) ** -0.5,
                label="slope −0.5",
                colour="reference",
                style="dashed",
            ),
        ]
        return Figure(
            "Two rates: the limit is approached like 1/√n, the kernel at start like 1/n",
            [
                Panel(
                    "distance of the trained RNN's response",
                    x,
                    Axis("largest ‖L − L of the model‖ / ‖L*‖", scale="log"),
                    marks,
                ),
                Panel(
                    "distance of the kernel at start",
                    x,
                    Axis("relative distance", scale="log"),
                    right,
                ),
            ],
            caption=(
                f"Task of kernel/fig1, {max(config.epochs)} epochs. Lines are medians over "
                f"{len(config.seed)} seeds, bands the middle half."
            ),
        )


def distances(dataset: "xarray.Dataset", kernel: str) -> np.ndarray:
    """The largest distance on the way, relative to the teacher's norm: (seed, width)."""
    gap = dataset["gap"].sel({MODEL: kernel}).max(STEP) / dataset["target_norm"]
    return gap.transpose(SEED, WIDTH).values


def _line(widths: np.ndarray, table: np.ndarray, label: str, colour: int) -> list[Mark]:
    low, middle, high = np.quantile(table, [0.25, 0.5, 0.75], axis=0, method="nearest")
    return [
        Band(widths, low, high, colour=colour),
        Line(widths, middle, label=label, colour=colour, marker="o"),
    ]
