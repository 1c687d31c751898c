"""What figures 3, 31 to 33 and plasticity share: few entries first, then more of them.

Training on more entries goes on from where the first one ended (warm), or starts again (cold).
"""

from collections.abc import Callable, Sequence

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Cold, DescentResult, Lanes, Stage, Stop, Warm, run_schedule
from tacit.experiments import Variable
from tacit.experiments.depth.completion import CompletionExperiment, Leg
from tacit.measures import effective_ranks, singular_values_or_nan, stable_ranks
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion

STAGES = {
    "pre": "pre-trained on few",
    "warm": "warm: going on with more",
    "cold": "cold: from the start with more",
}

Ends = dict[str, DescentResult]
"""The ends of the three stages."""


class StagedExperiment(CompletionExperiment):
    """Completion in three stages; a run counts if all three converged."""

    def variables(self) -> dict[str, Variable]:
        """What each stage reached; `outcome` is that of the first which did not converge."""
        return {
            "stage_outcome": Variable("how the stage ended", "stage", dtype="str"),
            "effective_rank": Variable("effective rank of the product", "stage"),
            "stable_rank": Variable("stable rank of the product", "stage"),
            "loss": Variable("loss at the end", "stage"),
        }

    def coordinates(self) -> dict[str, tuple[str, ...]]:
        return {"stage": tuple(STAGES)}

    def run_stages(
        self,
        starts: Lanes[DeepFactorisation],
        few: Lanes[MatrixCompletion],
        more: Lanes[MatrixCompletion],
        legs: Sequence[Leg],
        *,
        goal: float,
        label: str,
    ) -> Ends:
        """The ends of `pre`, `warm` and `cold`, each by all legs: lanes at the goal stand still."""
        begins: dict[str, tuple[Lanes[MatrixCompletion], Warm | Cold]] = {
            "pre": (few, Warm()),
            "warm": (more, Warm(_name("pre", len(legs) - 1))),
            "cold": (more, Cold()),
        }
        stages = [
            Stage(
                _name(stage, place),
                problems,
                method,
                Stop(steps, loss=goal),
                start=begin if place == 0 else Warm(_name(stage, place - 1)),
            )
            for stage, (problems, begin) in begins.items()
            for place, (method, steps) in enumerate(legs)
        ]
        result = run_schedule(starts, stages, title=label)
        return {stage: result[_name(stage, len(legs) - 1)] for stage in STAGES}

    @staticmethod
    def by_stage(ends: Ends, measure: Callable[[DescentResult], ArrayLike]) -> np.ndarray:
        """A quantity of every lane and stage, (lane, stage)."""
        return np.stack([np.asarray(measure(ends[stage])) for stage in STAGES], axis=1)

    @staticmethod
    def gap(values: xarray.DataArray) -> xarray.DataArray:
        """Warm minus cold."""
        return values.sel(stage="warm", drop=True) - values.sel(stage="cold", drop=True)

    def measure(self, ends: Ends) -> dict[str, np.ndarray]:
        """What `variables` declares, and the outcome."""
        outcomes = self.by_stage(ends, lambda end: end.outcome)
        first = np.argmax(outcomes != "converged", axis=1)
        spectra = self.by_stage(ends, lambda end: singular_values_or_nan(self.products(end.model)))
        return {
            "outcome": outcomes[np.arange(len(outcomes)), first],
            "stage_outcome": outcomes,
            "effective_rank": effective_ranks(spectra),
            "stable_rank": stable_ranks(spectra),
            "loss": self.by_stage(ends, lambda end: end.loss),
        }


def _name(stage: str, place: int) -> str:
    """The name of a leg of a stage: the first has the stage's own."""
    return stage if place == 0 else f"{stage}, leg {place + 1}"
