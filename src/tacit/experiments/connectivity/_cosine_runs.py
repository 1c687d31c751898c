"""What figs5's cells do: linear networks with one vector learn a cosine by gradient descent."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax

from tacit import measures
from tacit.descent import Lanes, Record, Stop, descend
from tacit.experiments.connectivity.figs5 import (
    DT,
    DURATION,
    RATES,
    FigS5Config,
    ended_below,
    looked_at,
)
from tacit.models import RateRNN, identity
from tacit.problems import Cosine, TaskLoss
from tacit.sweep import Batch


def cosine_runs(batch: Batch, config: FigS5Config) -> Mapping[str, Any]:
    """Networks of any strength, rate and seed, as lanes of one program."""
    task = Cosine(dt=DT, duration=DURATION, frequency=config.frequency)
    strengths, seeds = batch.column("g"), batch.column("seed")
    rates = np.interp(strengths, list(RATES), list(RATES.values())) / batch.column("slower")
    starts = [
        one_vector(config.width, float(g), int(seed))
        for g, seed in zip(strengths, seeds, strict=True)
    ]
    result = descend(
        Lanes.stack(starts),
        TaskLoss(task, 1, train_maps=False),
        _plain(),
        stop=Stop(config.epochs),
        record=Record(looked_at(config).tolist(), {"W": _connectivity}),
        key=jax.random.key(0),  # nothing is random in the task
        rate=rates,
        title=batch.label,
    )
    trials = task.sample(jax.random.key(0), 1)
    rows = []
    for lane in range(len(starts)):
        losses = np.asarray(result.records["loss"][lane], np.float64)
        diverged = result.outcome[lane] == "diverged"
        learned = ended_below(losses / losses[0], config.fraction)
        spectra = [_spectrum(W) for W in np.asarray(result.records["W"][lane])]
        words = "converged" if learned else "stopped"
        rows.append(
            {
                "outcome": "diverged" if diverged else words,
                "loss": losses / losses[0],
                "leading": np.array([values[np.argmax(values.imag)] for values in spectra]),
                "largest_real": np.array([values.real.max() for values in spectra]),
                "output": np.asarray(result.model[lane].run(trials.inputs))[0, :, 0],
            }
        )
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def one_vector(width: int, g: float, seed: int) -> RateRNN:
    """A linear network whose input vector is its output vector."""
    drawn = RateRNN.random(width, g=g, dt=DT, nonlinearity=identity, key=jax.random.key(seed))
    # W_i = √N m has entries of order 1, and W_o = w/√N of order 1/N.
    return eqx.tree_at(lambda model: model.outputs, drawn, drawn.inputs.T / width)


def _connectivity(model: RateRNN) -> jax.Array:
    return model.W


@functools.cache
def _plain() -> optax.GradientTransformation:
    return optax.sgd(1.0)


def _spectrum(W: np.ndarray) -> np.ndarray:
    if not np.isfinite(W).all():
        return np.full(len(W), np.nan + 0j)
    return measures.eigenvalues(W)
