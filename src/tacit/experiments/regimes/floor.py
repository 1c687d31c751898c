"""regimes/floor (ours): the second knob, the size of W at the start.

The comparison: the error beyond k of rich students against a factor on W₀, at two training errors.
With the usual W₀ the error stops near 0.03 however well the student is trained: the bulk of W₀
stays in the state space. A smaller W₀ lowers that floor, and costs time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, Mark, Panel
from tacit.experiments._base import Experiment
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.regimes import _setting
from tacit.experiments.regimes._setting import LONGEST, RegimeConfig
from tacit.experiments.regimes._summary import counted, present, unconverged
from tacit.store import GAIN, GAMMA0, GOAL, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PLACE = "regimes (ours)"


@dataclass(frozen=True, kw_only=True)
class FloorConfig(RegimeConfig):
    """Parameters of regimes/floor."""

    gain: tuple[float, ...] = parameter(
        (0.1, 0.2, 0.3, 0.5, 0.7, 1.0), "factor on W at the start", low=0.01, high=2.0, swept=True
    )
    gamma0: tuple[float, ...] = parameter((1.0, 3.0), "γ₀ = γ/√n", low=1e-4, high=10.0, swept=True)
    goal: tuple[float, ...] = parameter(  # type: ignore[assignment]  # an axis here
        (2e-3, 2e-4),
        "relative error on the trained lags at which a run ends",
        low=1e-8,
        high=0.5,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the student's start", low=0, swept=True
    )
    length: int = parameter(12, "training length k", low=2, high=LONGEST, units="lags")
    width: int = parameter(96, "hidden units n of the student", low=2, high=2000)
    steps: int = parameter(3_000, "cap on the steps of the flow's solver", low=1, high=10_000_000)
    rtol: float = parameter(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)


class Floor(Experiment):
    """The error that is left in the rich corner, against the size of W₀."""

    id = "regimes/floor"
    paper = "regimes"
    figure = "ours: the second knob"
    summary = "the floor of the error in the rich corner against a factor on W at the start"
    version = 1
    Config = FloorConfig
    presets: ClassVar[Mapping[str, FloorConfig]] = {
        "smoke": FloorConfig(
            gain=(0.5, 1.0),
            gamma0=(1.0,),
            goal=(2e-3, 1e-3),
            seed=(0, 1),
            length=10,
            width=32,
            steps=200,
        ),
        "quick": FloorConfig(gain=(0.3, 0.5, 1.0)),
        "paper": FloorConfig(),
    }
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: FloorConfig) -> dict[str, Variable]:
        """What every cell of regimes stores."""
        return _setting.variables()

    def coordinates(self, config: FloorConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The lags of responses."""
        return _setting.coordinates(config)

    def cell(self, batch: Batch, config: FloorConfig) -> Mapping[str, Any]:
        """Train all factors, γ₀ and goals of some seeds as one program."""
        from tacit.experiments.regimes._training import flow, train

        return train(
            width=config.width,
            gamma0=batch.column("gamma0"),
            length=np.full(len(batch), config.length),
            seed=batch.column("seed"),
            gain=batch.column("gain"),
            goal=batch.column("goal"),
            config=config,
            method=flow(config.rtol),
            title=batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: FloorConfig) -> list[Claim]:
        """A floor near 0.03 with the usual W₀, one near 0.004 with 0.3 of it: to a factor of 2."""
        last = counted(dataset, "error").sel({GOAL: min(config.goal)})
        found = []
        for gamma0 in config.gamma0:
            at = last.sel({GAMMA0: gamma0})
            words = f"At γ₀ = {gamma0:g}, trained to {min(config.goal):g},"
            if 1.0 in config.gain:
                found.append(
                    claim_about_median(
                        present(at.sel({GAIN: 1.0})),
                        name=f"γ₀ = {gamma0:g}: a floor",
                        statement=f"{words} the error beyond k is still at least 0.015, half of "
                        "0.03, with the usual W₀.",
                        place=PLACE,
                        at_least=0.015,
                    )
                )
            if 0.3 in config.gain:
                found.append(
                    claim_about_median(
                        present(at.sel({GAIN: 0.3})),
                        name=f"γ₀ = {gamma0:g}: a lower one",
                        statement=f"{words} it is at most 0.008, twice 0.004, with W₀ scaled by "
                        "0.3.",
                        place=PLACE,
                        at_most=0.008,
                    )
                )
            if {0.3, 1.0} <= set(config.gain):
                found.append(
                    claim_about_median(
                        present(at.sel({GAIN: 1.0}) / at.sel({GAIN: 0.3})),
                        name=f"γ₀ = {gamma0:g}: the knob",
                        statement=f"{words} scaling W₀ by 0.3 lowers the error at least threefold.",
                        place=PLACE,
                        at_least=3,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: FloorConfig, claims: Sequence[Claim]
    ) -> Figure:
        """The error, and the time that it took, against the factor."""
        lost = unconverged(dataset)
        gains = sorted(config.gain)
        ordered = dataset.sel({GAIN: gains})
        x = Axis("factor on W₀", scale="log", ticks={g: f"{g:g}" for g in gains})
        panels = []
        for name, title, label in (
            ("error", "what is left", "relative error on the lags after k"),
            ("time", "what it costs", "time of the gradient flow"),
        ):
            marks: list[Mark] = []
            values = counted(ordered, name)
            for colour, gamma0 in enumerate(config.gamma0):
                for goal in sorted(config.goal, reverse=True):
                    table = values.sel({GAMMA0: gamma0, GOAL: goal}).transpose(GAIN, SEED).values
                    marks += median_line(
                        gains,
                        table,
                        label=f"γ₀ = {gamma0:g}, trained to {goal:g}",
                        colour=colour,
                        style="solid" if goal == min(config.goal) else "dashed",
                    )
            panels.append(Panel(title, x, Axis(label, scale="log"), marks, legend="outside"))
        return Figure(
            "The second knob: a smaller W₀ lowers the floor, and takes longer",
            panels,
            caption=(
                f"Linear RNNs of width {config.width} with centred outputs in the rich corner of "
                f"regimes/map, k = {config.length}, trained by gradient flow to two training "
                f"errors. Medians over {len(config.seed)} starts, bands the middle half. {lost}"
            ).strip(),
        )
