"""Decoding movement from a recording by three models: training of fig4 and table1."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from tacit.data import Recording
from tacit.descent import Lanes
from tacit.experiments.kernel._decoding_config import (
    MINUTES,
    MODELS,
    PAPER_SHARE,
    TRAINING_SHARE,
    DecodingConfig,
)
from tacit.experiments.kernel._sequences import outputs_of
from tacit.experiments.kernel._students import descended, wide_students
from tacit.models import ScaledConv
from tacit.problems import SequenceBatches
from tacit.sweep import Batch
from tacit.theory.kernel import lag_weights


def decode(batch: Batch, config: DecodingConfig, recording: Recording) -> Mapping[str, Any]:
    """One portion of the data: three models from one start, on the same batches, all seeds."""
    x, y, x_test, y_test = _split(recording, batch.one("portion"), config.length)
    problem = SequenceBatches.of(x, y, size=config.batch)
    seeds, length = batch.column("seed"), config.length
    students = wide_students(
        seeds,
        width=config.width,
        nu_w=config.nu_w,
        inputs=x.shape[2],
        outputs=y.shape[2],
        salt=5,
    )
    keys = Lanes(jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(6), seed))(seeds))
    options: dict[str, Any] = {
        "length": length,
        "steps": config.steps,
        "rate": config.rate,
        "key": keys,
    }
    response, result = descended(students, problem, title=f"{batch.label}, RNN", **options)
    responses, outcomes = [response], [result.outcome]
    for weights in (lag_weights(length, nu_w=config.nu_w), np.ones(length)):
        convolutions = Lanes.stack(
            [ScaledConv.from_impulse_response(start, weights) for start in response[:, 0]]
        )
        response, result = descended(
            convolutions, problem, title=f"{batch.label}, convolution", **options
        )
        responses.append(response)
        outcomes.append(result.outcome)
    ended = np.stack(outcomes)
    return {
        # A cell has diverged if one of its three models has.
        "outcome": np.where((ended == "diverged").any(axis=0), "diverged", ended[0]),
        "r2": _scores(responses, x_test, y_test),
        "train_r2": _scores(responses, x, y),
        "train_sequences": np.full(len(seeds), len(x)),
    }


def _split(recording: Recording, portion: str, length: int) -> tuple[np.ndarray, ...]:
    """Training and test sequences, cut without overlap in order of time.

    The velocity is brought to mean zero and variance one by what the training data say.
    """
    bins = len(recording.activity)
    edge = int(TRAINING_SHARE * bins)
    used = {
        "whole": edge,
        "minutes": round(60 * MINUTES / recording.seconds),
        "share": round(PAPER_SHARE * bins),
    }[portion]
    if used > edge:
        raise ValueError(f"portion: {portion} needs {used} bins for training, there are {edge}")
    z = recording.velocity
    z = (z - z[:used].mean(axis=0)) / z[:used].std(axis=0)

    def cut(values: np.ndarray) -> np.ndarray:
        count = len(values) // length
        return values[: count * length].reshape(count, length, -1)

    return (
        cut(recording.activity[:used]),
        cut(z[:used]),
        cut(recording.activity[edge:]),
        cut(z[edge:]),
    )


def _scores(responses: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """R² of each output over all sequences and times: (seed, model, step, direction)."""
    spread = np.sum((y - y.mean(axis=(0, 1))) ** 2, axis=(0, 1))

    def score(response: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            missed = np.sum((outputs_of(response, x) - y) ** 2, axis=(0, 1))
        return np.where(np.isnan(missed), -np.inf, 1 - missed / spread)

    assert len(responses) == len(MODELS)
    return np.array(
        [
            [[score(step) for step in responses[model][lane]] for model in range(len(MODELS))]
            for lane in range(len(responses[0]))
        ]
    )
