"""kernel, Figure 2: the first ten epochs, and what width does to the differences there.

The comparison is that of kernel/fig1 over the first ten epochs, at several widths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.kernel import _dynamics
from tacit.experiments.kernel._dynamics import MODELS, DynamicsConfig
from tacit.experiments.kernel._dynamics_draw import KERNELS, curve_panel, initial_gap
from tacit.store import SEED, STEP, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig2Config(DynamicsConfig):
    """Parameters of kernel/fig2; the paper has n = 1000 only."""

    width: tuple[int, ...] = parameter(
        (100, 300, 1000), "hidden units n of the student", low=2, high=10_000, swept=True
    )


class Fig2(Experiment):
    """The first epochs of the curves of kernel/fig1, at several widths."""

    id = "kernel/fig2"
    paper = "kernel"
    figure = "Figure 2"
    summary = "the first ten epochs of a wide linear RNN and of its kernels, at several widths"
    version = 1
    Config = Fig2Config
    presets: ClassVar[Mapping[str, Fig2Config]] = {
        "smoke": Fig2Config(width=(40, 160), seed=(0, 1)),
        "quick": Fig2Config(seed=tuple(range(30))),
        "paper": Fig2Config(seed=tuple(range(30)), width=(100, 300, 1000, 3000)),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig2Config) -> dict[str, Variable]:
        """Errors and distances of all models at all epochs."""
        return _dynamics.variables()

    def coordinates(self, config: Fig2Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The models and the epochs."""
        return _dynamics.coordinates(config)

    def cell(self, batch: Batch, config: Fig2Config) -> Mapping[str, Any]:
        """Train one width, all seeds at once."""
        return _dynamics.train_dynamics(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig2Config) -> list[Claim]:
        """The curves coincide early on too, and better with more units."""
        n, small = max(config.width), min(config.width)
        gaps = initial_gap(dataset, "limit", "train").max(STEP)
        found = [
            claim_about_median(
                gaps.sel({WIDTH: n}).values,
                name="first epochs coincide",
                statement=f"Over the first {max(config.epochs)} epochs at n = {n} the training "
                "errors of the RNN and of the scaled convolution never differ by more than 5% of "
                "the initial error.",
                place="Figure 2",
                at_most=0.05,
            )
        ]
        if n > small:
            found.append(
                claim_about_median(
                    (gaps.sel({WIDTH: small}) / gaps.sel({WIDTH: n})).values,
                    name="the gap shrinks with width",
                    statement=f"From n = {small} to n = {n} the largest difference falls at least "
                    "by half.",
                    place="section 5.1 (the limit n → ∞)",
                    at_least=2.0,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig2Config, claims: Sequence[Claim]
    ) -> Figure:
        """The curves of one seed, and the largest difference against the width."""
        widths = np.array(sorted(config.width), float)
        marks = []
        for colour, kernel in enumerate(KERNELS, start=1):
            gaps = (
                initial_gap(dataset, kernel, "train").max(STEP).sel({WIDTH: sorted(config.width)})
            )
            marks.append(
                Line(
                    widths,
                    gaps.median(SEED).values,
                    label=MODELS[kernel],
                    colour=colour,
                    marker="o",
                    style="dashed" if kernel == "limit" else "dotted",
                )
            )
        panels = [
            curve_panel(
                dataset,
                config,
                quantity="train",
                title=f"first {max(config.epochs)} epochs, n = {max(config.width):,}, seed 0",
                scale="linear",
            ),
            Panel(
                "largest difference on the way",
                Axis("hidden units n", scale="log", ticks=widths),
                Axis("|difference| / initial error", scale="log"),
                marks,
            ),
        ]
        return Figure(
            "The first epochs, and what width does",
            panels,
            caption=(
                f"As kernel/fig1. (b): medians over {len(config.seed)} seeds. kernel/width has "
                "more widths and the slopes."
            ),
        )
