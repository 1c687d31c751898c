"""regimes/control (ours): a teacher that has forgotten everything by lag k.

The comparison: the error beyond k, relative to the whole teacher, for a teacher with a long memory
and for two whose memory is short: a delay and an average. A kernel learns a filter of k taps with
nothing after them, which is wrong for the first and right for the others: the short-memory prior
does no harm where memory is short.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.regimes import _setting
from tacit.experiments.regimes._control_draw import draw_control
from tacit.experiments.regimes._setting import LONGEST, TEACHERS, RegimeConfig
from tacit.experiments.regimes._summary import counted, limit, present
from tacit.store import GAMMA0, LENGTH, SEED, TEACHER, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PLACE = "regimes (ours)"
HARM = 0.1  # an error beyond k of less than this part of the teacher does no harm


@dataclass(frozen=True, kw_only=True)
class ControlConfig(RegimeConfig):
    """Parameters of regimes/control."""

    teacher: tuple[str, ...] = parameter(
        tuple(TEACHERS), "what is to be learned", choices=tuple(TEACHERS), swept=True
    )
    length: tuple[int, ...] = parameter(
        (6, 8, 10, 12), "training length k", low=4, high=LONGEST, units="lags", swept=True
    )
    gamma0: tuple[float, ...] = parameter(
        (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), "γ₀ = γ/√n", low=1e-4, high=10.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the student's start", low=0, swept=True
    )
    width: int = parameter(96, "hidden units n of the student", low=2, high=2000)


class Control(Experiment):
    """Three teachers along γ₀."""

    id = "regimes/control"
    paper = "regimes"
    figure = "ours: the control"
    summary = "error beyond k for teachers of long and of short memory: where the kernel is right"
    version = 1
    Config = ControlConfig
    presets: ClassVar[Mapping[str, ControlConfig]] = {
        "smoke": ControlConfig(
            length=(8,), gamma0=(0.03, 0.3, 3.0), seed=(0, 1), width=32, steps=2000
        ),
        "quick": ControlConfig(length=(6, 10), gamma0=(0.01, 0.1, 1.0, 10.0), width=64),
        "paper": ControlConfig(),
    }
    chunk: ClassVar[Mapping[str, int]] = {SEED: 5}

    def variables(self, config: ControlConfig) -> dict[str, Variable]:
        """What every cell of regimes stores."""
        return _setting.variables()

    def coordinates(self, config: ControlConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The lags of responses."""
        return _setting.coordinates(config)

    def cell(self, batch: Batch, config: ControlConfig) -> Mapping[str, Any]:
        """Train all teachers, lengths and γ₀ of some seeds as one program."""
        from tacit.experiments.regimes._training import bounded, train

        return train(
            width=config.width,
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
            seed=batch.column("seed"),
            teacher=batch.column("teacher"),
            config=config,
            method=bounded(config),
            title=batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: ControlConfig) -> list[Claim]:
        """The kernel does no harm to short memories, and much to a long one."""
        error = counted(dataset, "tail_error")
        kernel = error.sel({GAMMA0: min(config.gamma0)})
        found = []
        for teacher in config.teacher:
            short = teacher != "modes"
            worst = kernel.sel({TEACHER: teacher})
            worst = worst.max(LENGTH) if short else worst.min(LENGTH)
            found.append(
                claim_about_median(
                    present(worst),
                    name=f"{teacher}: the kernel {'does no harm' if short else 'does harm'}",
                    statement=f"For {TEACHERS[teacher]}, at γ₀ = {min(config.gamma0):g}, the error "
                    f"beyond k is at {'most' if short else 'least'} {HARM} of the whole teacher, "
                    f"at {'the worst' if short else 'every'} k.",
                    place=PLACE,
                    **limit("at_most" if short else "at_least", HARM),
                )
            )
            if short and "modes" in config.teacher:
                less = kernel.sel({TEACHER: "modes"}) / kernel.sel({TEACHER: teacher})
                found.append(
                    claim_about_median(
                        present(less.min(LENGTH)),
                        name=f"{teacher}: less harm than to a long memory",
                        statement=f"At γ₀ = {min(config.gamma0):g} the error beyond k is at every "
                        f"k at least three times smaller for {TEACHERS[teacher]} than for "
                        f"{TEACHERS['modes']}.",
                        place=PLACE,
                        at_least=3,
                    )
                )
            if short:
                rich = error.sel({GAMMA0: max(config.gamma0), TEACHER: teacher})
                k = min(config.length)
                ratio = rich.sel({LENGTH: k}) / kernel.sel({TEACHER: teacher, LENGTH: k})
                found.append(
                    claim_about_median(
                        present(ratio),
                        name=f"{teacher}: rich is no better",
                        statement=f"For {TEACHERS[teacher]} and the shortest k = {k}, the error "
                        f"beyond k at γ₀ = {max(config.gamma0):g} is not below that at "
                        f"γ₀ = {min(config.gamma0):g}.",
                        place=PLACE,
                        at_least=1,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: ControlConfig, claims: Sequence[Claim]
    ) -> Figure:
        """A map for each teacher, and what was learned of the delay."""
        return draw_control(dataset, config)
