"""Training a balanced diagonal student on a balanced teacher: what fig1a's cells do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import measures
from tacit.descent import DescentResult, Lanes, LevenbergMarquardt, Stop, descend
from tacit.experiments.lowdim._students import started
from tacit.experiments.lowdim._teachers import TEACHERS, targets
from tacit.experiments.lowdim._training import PADDING, Lesson, flow, optimiser
from tacit.models import Diagonal, LinearRNN
from tacit.sweep import Batch

if TYPE_CHECKING:
    from tacit.experiments.lowdim.fig1a import Fig1aConfig


def _descended(
    students: Lanes[LinearRNN], problems: Lanes[Any], batch: Batch, config: "Fig1aConfig"
) -> DescentResult:
    """The first stage: Adam or gradient descent for a number of steps, or flow for a time."""
    method = batch.one("method")
    if method == "flow":
        return flow(
            students,
            problems,
            tolerance=config.flow_tolerance,
            until=config.flow_time,
            goal=config.goal,
            title=batch.label,
        )
    return descend(
        students,
        problems,
        optimiser(method),
        stop=Stop(config.steps, loss=config.goal),
        rate={"adam": config.adam_rate, "gd": config.gd_rate}[method],
        title=batch.label,
    )


def train_balanced(batch: Batch, config: "Fig1aConfig") -> Mapping[str, Any]:
    """Teachers, students, descent, polish and measures of one batch, in that order."""
    lengths, seeds = batch.column("length"), batch.column("seed")
    make = TEACHERS[batch.one("teacher")]
    lesson = Lesson(targets(make, config.order, seeds, max(config.horizons)), lengths)
    empirical = batch.one("loss") == "empirical"
    problems = lesson.given(config.sequences, seeds) if empirical else lesson.problems()
    students = started(
        Diagonal, batch.one("width"), scale=config.scale, seeds=seeds, lengths=lengths
    )

    descended = _descended(students, problems, batch, config)
    polished = descend(
        descended.model,
        problems,
        LevenbergMarquardt(),
        stop=Stop(config.polish_steps, loss=config.goal),
        title=f"{batch.label}, polish",
    )

    iterates = (descended.model, descended.best, polished.model)
    return {
        **lesson.measured(iterates, config.horizons),
        "outcome": descended.outcome,
        "polish_outcome": polished.outcome,
        "train_loss": np.stack([descended.loss, descended.best_loss, polished.loss], axis=1),
        "hankel": np.stack(
            [
                measures.hankel_singular_values(target[:PADDING])[: config.order]
                for target in lesson.target
            ]
        ),
    }
