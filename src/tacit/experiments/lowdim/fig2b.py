"""lowdim, Figure 2(b): the outputs of a GRU teacher and of students trained at two lengths.

The comparison: on the same inputs, the average output of the teacher and of the students, and how
far a student is from its teacher at each step, before its training length and after it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._fig2_draw import draw_outputs
from tacit.experiments.lowdim._gru_runs import TITLES, GRUConfig, GRUExperiment
from tacit.experiments.lowdim.fig2a import HIGH, QUICK
from tacit.store import ITERATE, LENGTH, STEP, TEACHER, WIDTH

if TYPE_CHECKING:
    import xarray

FOLLOWS = 0.1  # of the teacher's root mean square


@dataclass(frozen=True, kw_only=True)
class Fig2bConfig(GRUConfig):
    """Parameters of lowdim/fig2b: those of fig2a, at two lengths."""

    length: tuple[int, ...] = parameter(
        (30, 60), "training length k", low=1, high=500, units="steps", swept=True
    )


class Fig2b(GRUExperiment):
    """Outputs of a GRU teacher and of students of two training lengths."""

    id = "lowdim/fig2b"
    figure = "Figure 2(b)"
    summary = "average outputs of a GRU teacher and of students of two training lengths"
    version = 1
    Config = Fig2bConfig
    presets: ClassVar[Mapping[str, Fig2bConfig]] = {
        "smoke": Fig2bConfig(
            **{**QUICK, "width": (8,), "longest": 8, "steps": 60, "teacher_steps": 50},
            length=(4, 8),
            seed=(0, 1),
        ),
        "quick": Fig2bConfig(**QUICK, length=(8, 16)),
        "paper": Fig2bConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: Fig2bConfig) -> list[Claim]:
        """Whether the short student leaves its teacher, and the long one follows."""
        chosen = dataset.isel({WIDTH: 0})
        loss = chosen["train_loss"].sel({ITERATE: "last"})
        trained = loss <= config.gate * chosen["power"]
        gap = later_gap(chosen).where(trained)
        short, long = min(config.length), max(config.length)
        found = []
        for teacher in config.teacher:
            of = gap.sel({TEACHER: teacher})
            words = f"of the {TITLES[teacher]}"
            leaves = _LEAVES[teacher]
            found += [
                claim_about_median(
                    _seeds(of.sel({LENGTH: short})),
                    name=f"{teacher}: k = {short} leaves the teacher",
                    statement=f"After step {short} a student {words} trained at k = {short} is "
                    f"off by at least {HIGH} of the teacher's root mean square.",
                    place="Figure 2(b)",
                    at_least=HIGH,
                    expected="fails" if leaves else "holds",
                    because=leaves,
                ),
                claim_about_median(
                    _seeds(of.sel({LENGTH: long})),
                    name=f"{teacher}: k = {long} follows the teacher",
                    statement=f"After step {long} a student {words} trained at k = {long} is off "
                    f"by at most {FOLLOWS} of the teacher's root mean square.",
                    place="Figure 2(b)",
                    at_most=FOLLOWS,
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig2bConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Average outputs, and the distance to the teacher step by step."""
        return draw_outputs(dataset, config)


def later_gap(dataset: "xarray.Dataset") -> "xarray.DataArray":
    """The root mean square of student − teacher after step k, over the teacher's."""
    later = dataset[STEP] >= dataset[LENGTH]
    gap = (dataset["gap_rms"] ** 2).where(later).mean(STEP)
    level = (dataset["teacher_rms"] ** 2).where(later).mean(STEP)
    return (gap / level) ** 0.5


def _seeds(values: "xarray.DataArray") -> np.ndarray:
    flat = values.values
    return flat[~np.isnan(flat)]


_KNOWS = "white input of that length reveals most of a teacher that answers at once (see fig2a)"
_LEAVES = {"slow": _KNOWS, "fast": _KNOWS, "delay": ""}
