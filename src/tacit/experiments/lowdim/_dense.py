"""Training a dense student on a linear teacher: what the cells of fig1b, fig3 and fig4 do."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tacit.descent import Stop, descend
from tacit.experiments.lowdim._students import started
from tacit.experiments.lowdim._teachers import TEACHERS, targets
from tacit.experiments.lowdim._training import Lesson, data_keys, flow, optimiser
from tacit.models import Dense
from tacit.sweep import Batch

PADDING = 4  # a dense lag costs more than a program that is compiled once more


class Settings(Protocol):
    """What the configs of these figures have in common."""

    @property
    def order(self) -> int:
        """Order of the teacher."""

    @property
    def horizons(self) -> Sequence[int]:
        """Ends of the tails on which errors are taken."""

    @property
    def steps(self) -> int:
        """Steps of Adam."""

    @property
    def adam_rate(self) -> float:
        """Its learning rate."""

    @property
    def goal(self) -> float:
        """The loss at which a run has converged."""


def train_dense(
    batch: Batch,
    config: Settings,
    *,
    teacher: str,
    scale: ArrayLike,
    method: str = "adam",
    sequences: int | None = None,
    flow_time: float = np.inf,
    flow_tolerance: float = 1e-3,
) -> Mapping[str, Any]:
    """Teachers, students, descent and measures of one batch, in that order.

    With `sequences` the loss is the empirical one of so many fresh sequences a step; what is
    stored as the training loss is the population loss all the same.
    """
    lengths, seeds = batch.column("length"), batch.column("seed")
    target = targets(TEACHERS[teacher], config.order, seeds, max(config.horizons))
    lesson = Lesson(target, lengths, padding=PADDING)
    students = started(Dense, batch.one("width"), scale=scale, seeds=seeds, lengths=lengths)
    if method == "flow":
        result = flow(
            students,
            lesson.problems(),
            tolerance=flow_tolerance,
            until=flow_time,
            goal=config.goal,
            title=batch.label,
        )
    else:
        result = descend(
            students,
            lesson.problems() if sequences is None else lesson.sampled(sequences),
            optimiser(method),
            stop=Stop(config.steps, loss=config.goal),
            rate=config.adam_rate,
            key=None if sequences is None else data_keys(seeds, lengths),
            title=batch.label,
        )
    iterates = result.model, result.best
    loss = np.stack([result.loss, result.best_loss], axis=1)
    return {
        **lesson.measured(iterates, config.horizons),
        "outcome": result.outcome,
        "steps_taken": result.steps,
        "train_loss": loss if sequences is None else lesson.population_losses(iterates),
    }
