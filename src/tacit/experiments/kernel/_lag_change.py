"""One lag has to change by one: how many steps descent takes for it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.descent import Lanes
from tacit.experiments.kernel._students import descended, parameters_of, wide_students
from tacit.experiments.kernel.memory import exact_steps
from tacit.problems import SequenceLoss
from tacit.sweep import Batch
from tacit.theory.kernel import finite_width_gram, learning_curve

if TYPE_CHECKING:
    from tacit.experiments.kernel.memory import MemoryConfig

_MADE = 0.2  # a run ends once so much of the asked share is made beyond it


def change_lag(batch: Batch, config: "MemoryConfig") -> Mapping[str, Any]:
    """Train one width on all lags and seeds at once, and count."""
    lags, length = batch.column("delay"), config.length
    limits = exact_steps(config, config.nu_w, lags)
    budget = int(np.ceil(config.patience * limits.max())) + 2
    steps = _recorded(budget)
    students = wide_students(
        batch.column("seed"), width=batch.one("width"), nu_w=config.nu_w, salt=4
    )
    impulse = np.zeros((1, length, 1))
    impulse[0, 0] = 1.0  # on it the outputs are the response, and the loss is ½ ‖L − L*‖²
    starts, grams = [], []
    for lane in range(students.count):
        W, F, C = parameters_of(students, lane)
        starts.append(_response(W, F, C, length))
        grams.append(finite_width_gram(W, F, C, length))
    targets = [
        start + (np.arange(length) == lag)[:, None, None]
        for start, lag in zip(starts, lags, strict=True)
    ]
    problems = Lanes.stack([SequenceLoss.white(target) for target in targets])
    left = (1 - config.share) * (1 - _MADE)
    response, result = descended(
        students,
        problems,
        length=length,
        steps=[int(step) for step in steps],
        rate=config.rate,
        title=batch.label,
        goal=left**2 / 2,
    )
    counted, linear = [], []
    for lane, (lag, start, target, gram) in enumerate(
        zip(lags, starts, targets, grams, strict=True)
    ):
        made = response[lane, :, lag, 0, 0] - start[lag, 0, 0]
        counted.append(_first(made, steps, config.share))
        curve = learning_curve(
            gram, impulse, target[None, :, 0], rate=config.rate, steps=steps, start=start
        )
        linear.append(_first(curve.response[:, lag, 0, 0] - start[lag, 0, 0], steps, config.share))
    return {
        "outcome": result.outcome,
        "steps": np.array(counted),
        "limit_steps": limits,
        "start_steps": np.array(linear),
    }


def _recorded(budget: int) -> np.ndarray:
    """Every step at first, then steps that are 2% apart; between them the count is interpolated."""
    late = np.geomspace(50, max(budget, 51), 1 + int(np.log(max(budget, 51) / 50) / np.log(1.02)))
    every = np.concatenate([np.arange(51), late.astype(int), [budget]])
    return np.unique(every[every <= budget])


def _response(W: np.ndarray, F: np.ndarray, C: np.ndarray, length: int) -> np.ndarray:
    root, states, found = np.sqrt(len(W)), F, []
    for _ in range(length):
        found.append(C @ states / root)
        states = W @ states / root
    return np.stack(found)


def _first(made: np.ndarray, steps: np.ndarray, share: float) -> float:
    """The step, interpolated, at which the share is first made; infinite if it never is."""
    reached = np.flatnonzero(made >= share)
    if not reached.size:
        return np.inf
    i = reached[0]
    if i == 0:
        return float(steps[0])
    part = (share - made[i - 1]) / (made[i] - made[i - 1])
    return float(steps[i - 1] + part * (steps[i] - steps[i - 1]))
