"""Gradient flow with looks at the Hankel singular values on the way: what modes' cells do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import measures
from tacit.descent import GaussNewton, GradientFlow, Stop, descend
from tacit.experiments.lowdim._students import responses, started
from tacit.experiments.lowdim._teachers import TEACHERS, targets
from tacit.experiments.lowdim._training import FLOW_STEPS, Lesson
from tacit.models import Dense
from tacit.sweep import Batch

if TYPE_CHECKING:
    from tacit.experiments.lowdim.modes import ModesConfig


def follow_modes(batch: Batch, config: "ModesConfig") -> Mapping[str, Any]:
    """Flow from one time to the next, with a look at each.

    A stage runs to time one at the speed of its own duration, so that all stages of all batches
    are one program; singular values are taken on the host.
    """
    scales, seeds = batch.column("scale"), batch.column("seed")
    lengths = np.full(len(batch), config.length)
    target = targets(TEACHERS[batch.one("teacher")], config.order, seeds, config.lags)
    lesson = Lesson(target, lengths, padding=1)
    problems = lesson.problems()
    students = started(Dense, config.width, scale=scales, seeds=seeds, lengths=lengths)
    stage = GradientFlow(
        GaussNewton(), rtol=config.tolerance, atol=1e-6 * config.tolerance, until=1.0
    )
    spectra, losses, response, before = [], [], None, 0.0
    for time in config.times():
        result = descend(
            students,
            problems,
            stage,
            stop=Stop(FLOW_STEPS, loss=config.goal),
            rate=time - before,
            title=f"{batch.label}, to time {time:.3g}",
        )
        students, before = result.model, time
        response = responses(students.tree, config.lags)[..., 0, 0]
        spectra.append(_spectra(response, config.modes))
        losses.append(result.loss)
    return {
        "outcome": result.outcome,
        "singular_values": np.stack(spectra, axis=1),
        "train_loss": np.stack(losses, axis=1),
        "teacher_values": _spectra(target[..., 0, 0], config.modes),
        "zero_loss": lesson.zero_loss(),
        "first_weight": target[:, 0, 0, 0],
    }


def _spectra(response: np.ndarray, modes: int) -> np.ndarray:
    """The first Hankel singular values of every lane; infinite for a response that overflowed."""
    return np.stack(
        [
            measures.hankel_singular_values(lane)[:modes]
            if np.isfinite(lane).all()
            else np.full(modes, np.inf)
            for lane in response
        ]
    )
