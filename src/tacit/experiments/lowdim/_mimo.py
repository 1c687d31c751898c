"""Training balanced students of several channels: what fig1a-mimo's cells do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._types import PRNGKeyArray
from tacit.descent import LevenbergMarquardt, Stop, descend
from tacit.experiments.lowdim._students import started
from tacit.experiments.lowdim._teachers import targets
from tacit.experiments.lowdim._training import Lesson, optimiser
from tacit.models import Diagonal, LinearRNN
from tacit.problems import balanced_teacher, even_spectrum, spread_weights
from tacit.sweep import Batch

if TYPE_CHECKING:
    from tacit.experiments.lowdim.fig1a_mimo import Fig1aMimoConfig

_KEPT = ("zero_loss", "error", "relative_error")


def train_channels(batch: Batch, config: "Fig1aMimoConfig") -> Mapping[str, Any]:
    """Teachers, students, Adam, polish and measures of one batch, in that order."""
    lengths, seeds = batch.column("length"), batch.column("seed")
    channels = batch.one("channels")

    def make(order: int, key: PRNGKeyArray) -> LinearRNN:
        return balanced_teacher(even_spectrum(order, -1.0, 1.0), spread_weights(order, channels))

    lesson = Lesson(targets(make, config.order, seeds, max(config.horizons)), lengths, padding=2)
    problems = lesson.problems()
    students = started(
        Diagonal,
        config.width,
        scale=config.scale,
        seeds=seeds,
        lengths=lengths,
        channels=channels,
    )
    descended = descend(
        students,
        problems,
        optimiser("adam"),
        stop=Stop(config.steps, loss=config.goal),
        rate=config.adam_rate,
        title=batch.label,
    )
    polished = descend(
        descended.model,
        problems,
        LevenbergMarquardt(),
        stop=Stop(config.polish_steps, loss=config.goal),
        title=f"{batch.label}, polish",
    )
    iterates = (descended.model, descended.best, polished.model)
    measured = lesson.measured(iterates, config.horizons)
    return {
        **{name: measured[name] for name in _KEPT},
        "outcome": descended.outcome,
        "polish_outcome": polished.outcome,
        "train_loss": np.stack([descended.loss, descended.best_loss, polished.loss], axis=1),
    }
