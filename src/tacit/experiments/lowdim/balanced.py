"""Balanced students of balanced teachers, trained and then polished: Figures 1(a) and 5.

Teacher and student have B = Cᵀ and a diagonal A, as in the paper's experiment (A.1.1). The theory's
A is symmetric: by Lemma C.3 that gives the same systems, but not the same descent, since a diagonal
A cannot turn. Adam, gradient descent or gradient flow comes first; then Levenberg-Marquardt steps
of least norm polish the student towards zero loss.
"""

import functools
from typing import Any

import numpy as np
import optax
from numpy.typing import ArrayLike

from tacit.descent import Lanes, LevenbergMarquardt, Stop, descend, lane_keys
from tacit.experiments import Batch, Variable, fixed, swept
from tacit.experiments.lowdim.lengths import (
    FLOW_STEPS,
    METHODS,
    RandomTeachers,
    gauss_newton_flow,
    training_lengths,
)
from tacit.measures import hankel_singular_values
from tacit.models import Diagonal, random_linear_rnns
from tacit.problems import TEACHER_NAMES, MaskedTargets, named_teacher, teacher_responses

LOSSES = {"population": "population loss", "empirical": "fixed data"}
HANKEL_LAGS = 20


class BalancedExperiment(RandomTeachers):
    """A figure of balanced students: its parameters, and the cell that trains and polishes them."""

    teacher: tuple[str, ...] = swept(TEACHER_NAMES, "the teacher's spectrum", choices=TEACHER_NAMES)
    width: tuple[int, ...] = swept((40,), "width d of the student", low=2, high=2000)
    method: tuple[str, ...] = swept(
        tuple(METHODS), "how the student descends", choices=tuple(METHODS)
    )
    loss: tuple[str, ...] = swept(("population",), "the loss that descends", choices=tuple(LOSSES))
    scale: tuple[float, ...] = swept(
        (0.1,), "standard deviation of the student's start", low=1e-8, high=1.0
    )
    length: tuple[int, ...] = training_lengths(range(5, 21))
    seed: tuple[int, ...] = swept(range(10), "seed of student and teacher", low=0)
    sequences: int = fixed(10_000, "fixed sequences, of the empirical loss", low=1, high=1_000_000)
    steps: int = fixed(15_000, "steps of the descent", low=1, high=10_000_000)
    gd_rate: float = fixed(1e-3, "gradient descent's learning rate", low=1e-8, high=1.0)
    flow_time: float = fixed(1e8, "time to which gradient flow runs", low=1e-3, high=1e12)
    flow_tolerance: float = fixed(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)
    polish_steps: int = fixed(1_000, "Levenberg-Marquardt steps after it", low=1, high=100_000)

    batch_by = ("teacher", "width", "method", "loss")
    chunk = {"seed": 10}
    iterates = ("last", "best", "polished")

    def variables(self) -> dict[str, Variable]:
        declared = super().variables()
        del declared["steps_taken"]
        return {
            **declared,
            "polish_outcome": Variable("how the polish ended", dtype="str"),
            "hankel": Variable("teacher's Hankel singular values", "singular_value"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {**super().coordinates(), "singular_value": np.arange(1, self.order + 1)}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        lengths, seeds, width = batch.column("length"), batch.column("seed"), batch.one("width")
        teacher = functools.partial(named_teacher, batch.one("teacher"), self.order)
        taught = self.teacher_seeds(seeds)
        responses = teacher_responses(teacher, taught, lags=max(self.horizons))
        targets = MaskedTargets(responses, lengths, padding=20)
        loss: Lanes[Any] = Lanes(targets.population_loss())
        if batch.one("loss") == "empirical":
            loss = Lanes(targets.fixed_data_loss(self.sequences, seeds))
        scales, keys = batch.column("scale"), lane_keys(1, seeds, lengths).tree
        students = Lanes(
            random_linear_rnns(Diagonal, width, scale=scales, balanced=True, keys=keys)
        )
        flow = gauss_newton_flow(until=self.flow_time, tolerance=self.flow_tolerance)
        descents: dict[str, tuple[Any, float | None, int]] = {
            "adam": (optax.adam(1.0), self.adam_rate, self.steps),
            "gd": (optax.sgd(1.0), self.gd_rate, self.steps),
            "flow": (flow, None, FLOW_STEPS),
        }
        method, rate, steps = descents[batch.one("method")]
        stop = Stop(steps, loss=self.goal)
        descended = descend(students, loss, method, rate=rate, stop=stop, title=batch.label)
        polished = descend(
            descended.model,
            loss,
            LevenbergMarquardt(),
            stop=Stop(self.polish_steps, loss=self.goal),
            title=f"{batch.label}, polish",
        )
        spectra = [hankel_singular_values(lane[:HANKEL_LAGS])[: self.order] for lane in responses]
        return {
            **self.measured(targets, descended, polished),
            "polish_outcome": polished.outcome,
            "hankel": np.stack(spectra),
        }
