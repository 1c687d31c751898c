"""Training GRU students on a GRU teacher: what the cells of fig2a and fig2b do."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import Averaged, Lanes, Stop, descend
from tacit.experiments.lowdim._gru_runs import GRUConfig, target_response
from tacit.experiments.lowdim._gru_teacher import gru_teachers
from tacit.models import GRU
from tacit.problems import SampledLoss, outputs, response, step_weights
from tacit.sweep import Batch

POWER_SEQUENCES = 4096  # on which the zero predictor's loss is estimated


@functools.cache
def _method(steps: int, cut: float, average: int) -> Averaged:
    """One object for all batches, so that they share a program; the rate comes apart."""
    schedule = optax.piecewise_constant_schedule(1.0, {int(cut * steps): 0.1} if cut < 1 else None)
    return Averaged(optax.adam(schedule), steps=average)


def train_students(batch: Batch, config: GRUConfig) -> Mapping[str, Any]:
    """Teachers, students, descent and measures of one batch, in that order."""
    seeds, lengths = batch.column("seed"), batch.column("length")
    target = target_response(batch.one("teacher"), config.horizon, config.teacher_width)
    distinct, place = np.unique(seeds, return_inverse=True)
    keys = [jax.random.fold_in(jax.random.key(0), int(seed)) for seed in distinct]
    made, teacher_loss = gru_teachers(
        target,
        config.teacher_width,
        scale=config.teacher_scale,
        rate=config.teacher_rate,
        steps=config.teacher_steps,
        white=batch.one("teacher") == "delay",
        keys=keys,
    )
    teachers = made.take(place)
    power = _power(made, config)[place]  # (cell, step)
    zero_loss = power[np.arange(len(batch)), lengths - 1]

    problems = Lanes(_problems(teachers, lengths, config))
    students = Lanes(_students(int(batch.one("width")), seeds, lengths, config))
    found = descend(
        students,
        problems,
        _method(config.steps, config.cut, config.average),
        stop=Stop(config.steps, loss=config.goal * zero_loss, patience=config.patience),
        rate=config.rate,
        key=Lanes(_keys(3, seeds, lengths)),
        title=batch.label,
    )

    inputs = jax.random.normal(jax.random.key(2), (config.inputs, config.horizon, 1), jnp.float32)
    theirs = _outputs(teachers.tree, inputs)
    ours = [_outputs(lanes.tree, inputs) for lanes in (found.model, found.best)]
    error, zero_error = _tail(ours, theirs, lengths)
    responses = [_responses(lanes.tree, config.horizon) for lanes in (teachers, found.model)]
    gap = ours[0] - theirs
    return {
        "outcome": found.outcome,
        "steps_made": found.steps,
        "target": np.broadcast_to(target, (len(batch), config.horizon)),
        "teacher_response": responses[0],
        "teacher_loss": teacher_loss[place],
        "response": responses[1],
        "teacher_mean": theirs.mean(axis=1),
        "mean": ours[0].mean(axis=1),
        "teacher_rms": np.sqrt(np.mean(theirs**2, axis=1)),
        "gap_rms": np.sqrt(np.mean(gap**2, axis=1)),
        "train_loss": np.stack([found.loss, found.best_loss], axis=1).astype(float),
        "zero_loss": zero_loss,
        "power": power.mean(axis=1),
        "error": error,
        "relative_error": error / zero_error,
    }


def _keys(purpose: int, seeds: np.ndarray, lengths: np.ndarray) -> jax.Array:
    """A key of its own for every seed and length, whatever else is in the batch."""

    def one(seed: jax.Array, length: jax.Array) -> jax.Array:
        return jax.random.fold_in(jax.random.fold_in(jax.random.key(purpose), seed), length)

    return jax.vmap(one)(jnp.asarray(seeds, jnp.int32), jnp.asarray(lengths, jnp.int32))


def _students(width: int, seeds: np.ndarray, lengths: np.ndarray, config: GRUConfig) -> GRU:
    """Students with a start of their own for every seed and length."""
    scale = config.gain / np.sqrt(width)
    start = functools.partial(GRU.random, width, scale=scale, dtype=np.float32)
    return eqx.filter_jit(eqx.filter_vmap(lambda key: start(key=key)))(_keys(1, seeds, lengths))


def _problems(teachers: Lanes[GRU], lengths: np.ndarray, config: GRUConfig) -> SampledLoss:
    weights = np.stack([step_weights(int(k), longest=config.longest) for k in lengths])
    made = eqx.filter_vmap(lambda teacher, w: SampledLoss(teacher, w, config.sequences))
    return made(teachers.tree, jnp.asarray(weights, jnp.float32))


def _power(teachers: Lanes[GRU], config: GRUConfig) -> np.ndarray:
    """The mean squared output of each teacher at each step on white input, (teacher, step)."""
    shape = (POWER_SEQUENCES, config.horizon, 1)
    inputs = jax.random.normal(jax.random.key(4), shape, jnp.float32)
    return np.mean(_outputs(teachers.tree, inputs) ** 2, axis=1)


def _outputs(models: GRU, inputs: jax.Array) -> np.ndarray:
    """(model, sequence, step), model after model: thousands of sequences of many would not fit."""
    found = [_one_output(model, inputs)[..., 0] for model in Lanes(models)]
    return np.asarray(jnp.stack(found), np.float64)


@eqx.filter_jit
def _one_output(model: GRU, inputs: jax.Array) -> jax.Array:
    return outputs(model, inputs)


def _responses(models: GRU, length: int) -> np.ndarray:
    found = eqx.filter_jit(eqx.filter_vmap(lambda model: response(model, length)))(models)
    return np.asarray(found, np.float64)[..., 0]


def _tail(
    ours: list[np.ndarray], theirs: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """ℓ∞ over the steps from k on, mean over inputs: (cell, iterate), and the zero predictor's."""
    horizon = theirs.shape[-1]
    later = np.arange(horizon) >= lengths[:, None]

    def mean_worst(difference: np.ndarray) -> np.ndarray:
        return np.mean(np.max(np.where(later[:, None], np.abs(difference), 0), axis=-1), axis=-1)

    errors = np.stack([mean_worst(each - theirs) for each in ours], axis=1)
    return np.where(np.isnan(errors), np.inf, errors), mean_worst(theirs)[:, None]
