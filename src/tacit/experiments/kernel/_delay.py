"""Targets that come late: training of kernel/fig3."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.descent import Lanes
from tacit.experiments.kernel._sequences import outputs_of, teacher_response, with_noise
from tacit.experiments.kernel._students import descended, parameters_of, wide_students
from tacit.problems import SequenceLoss
from tacit.sweep import Batch
from tacit.theory.kernel import finite_width_gram, lag_weights, learning_curve

if TYPE_CHECKING:
    from tacit.experiments.kernel.fig3 import Fig3Config


def train_delayed(batch: Batch, config: "Fig3Config") -> Mapping[str, Any]:
    """One delay: the RNN by descent, both convolutions in closed form, all seeds at once."""
    seeds, length, delay = batch.column("seed"), config.length, batch.one("delay")
    data = [_data(int(seed), delay, config) for seed in seeds]
    epochs = np.array(config.epochs)
    rate = 2 * config.rate  # on ½ Σ (…)²
    trained = sorted({0, *(e for e in config.epochs if e <= config.rnn_epochs)})
    students = wide_students(
        seeds, width=config.width, nu_w=config.nu_w, inputs=config.inputs, salt=3
    )
    response, result = descended(
        students,
        Lanes.stack([SequenceLoss.of(x, y) for x, y, *_ in data]),
        length=length,
        steps=trained,
        rate=rate,
        title=batch.label,
    )
    rho = lag_weights(length, nu_w=config.nu_w)
    error = np.full((len(data), 4, epochs.size), np.nan)
    for lane, (x, y, x_test, y_test) in enumerate(data):
        for place, epoch in enumerate(config.epochs):
            if epoch in trained:
                predicted = outputs_of(response[lane, trained.index(epoch)], x_test)
                error[lane, 0, place] = _normalised(predicted, y_test)
        gram = finite_width_gram(*parameters_of(students, lane), length)
        for row, weights in ((1, rho), (2, np.ones(length)), (3, gram)):
            curve = learning_curve(
                weights, x, y, rate=rate, steps=epochs, start=response[lane, 0], x_test=x_test
            )
            assert curve.test_outputs is not None  # x_test was given
            error[lane, row] = [_normalised(out, y_test) for out in curve.test_outputs]
    return {"outcome": result.outcome, "error": error}


def _data(seed: int, delay: int, config: "Fig3Config") -> tuple[np.ndarray, ...]:
    """Sequences of one seed; teacher and inputs are the same for all delays."""
    rng = np.random.default_rng([2022, seed])
    target = teacher_response(
        rng, units=config.units, inputs=config.inputs, nu_w=config.nu_w, length=config.length
    )
    x = rng.normal(size=(2 * config.sequences, config.length, config.inputs))
    late = np.concatenate([np.zeros((delay, *target.shape[1:])), target])[: config.length]
    y = with_noise(rng, outputs_of(late, x), decibels=config.decibels)
    n = config.sequences
    return x[:n], y[:n], x[n:], y[n:]


def _normalised(predicted: np.ndarray, y: np.ndarray) -> float:
    """The mean squared error over that of predicting zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.mean((predicted - y) ** 2) / np.mean(y**2)
    return float(found) if np.isfinite(found) else np.inf
