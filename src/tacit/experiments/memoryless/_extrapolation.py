"""Training on sequences of length k and looking at longer ones: the cells of fig1, fig2, fig5.

Linear students descend on the population loss, which is the limit of infinitely much data and for
white input known in closed form, for adversarial data too. Gated ones see fresh Gaussian sequences
at every step. Both have the paper's factor ½; errors are mean squared errors and have none.
"""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import Averaged, DescentResult, Lanes, Stop, descend
from tacit.experiments.memoryless._lengths import LengthsConfig
from tacit.experiments.memoryless._students import gated_student, linear_student
from tacit.models import LinearRNN
from tacit.problems import (
    FiniteResponse,
    PopulationLoss,
    SampledLoss,
    adversarial_population_loss,
    half_population_loss,
    linear_teacher,
    lying_teacher,
    memoryless_teacher,
    outputs,
    step_weights,
)
from tacit.sweep import Batch

TEST_SEQUENCES = 2_000  # of each run, for the errors of gated students


@functools.cache
def _adam() -> optax.GradientTransformation:
    """One object, so that all batches share its compiled programs; the rate comes apart."""
    return optax.adam(1.0)


@functools.cache
def _averaged_adam() -> Averaged:
    """The best iterate goes by an average: a sampled loss is lowest by luck."""
    return Averaged(_adam(), steps=100)


def teacher_of(order: int, seed: int, config: LengthsConfig) -> LinearRNN:
    """The memoryless teacher w* = 1 for order 0, else a random linear one."""
    if order == 0:
        return memoryless_teacher(1.0)
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(10), order), seed)
    return linear_teacher(order, radius=config.radius, key=key)


def adversary(teacher: LinearRNN, config: LengthsConfig) -> FiniteResponse:
    """Right below lag k, and wrong by one at the lags k, 2k, …: Proposition 5.1's for order 0."""
    tail = np.array(teacher.impulse_response(config.adversarial_length))[config.length :]
    tail[:: config.length] += 1.0
    return lying_teacher(teacher, config.length, tail)


def extrapolate(batch: Batch, config: LengthsConfig, orders: np.ndarray) -> Mapping[str, Any]:
    """Teachers, students, descent and errors of one batch, in that order."""
    seeds, gains = batch.column("seed"), batch.column("gain")
    teachers = [teacher_of(int(o), int(s), config) for o, s in zip(orders, seeds, strict=True)]
    target = np.stack(
        [np.asarray(teacher.impulse_response(config.horizon))[:, 0, 0] for teacher in teachers]
    )
    train = _train_linear if batch.one("model") == "linear" else _train_gated
    result, errors = train(batch, config, teachers, seeds, gains, target)
    # One sum over lags beyond k: the error of a student that is right there and then forgets.
    missed = np.where(np.arange(config.horizon) < config.length, 0.0, target) ** 2
    error = np.stack(errors, axis=1)
    return {
        "outcome": result.outcome,
        "error": np.where(np.isnan(error), np.inf, error),
        "forgetful_error": np.cumsum(missed, axis=1),
        "zero_error": np.cumsum(target**2, axis=1),
        "final_loss": result.loss.astype(float),
        "steps_taken": result.steps,
    }


def _key(config: LengthsConfig, seed: int, purpose: int) -> jax.Array:
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(20), purpose), seed)


def _train_linear(
    batch: Batch,
    config: LengthsConfig,
    teachers: list[LinearRNN],
    seeds: np.ndarray,
    gains: np.ndarray,
    target: np.ndarray,
) -> tuple[DescentResult, list[np.ndarray]]:
    def problem(teacher: LinearRNN) -> PopulationLoss:
        if batch.one("data") == "plain":
            # Padded, so that both kinds of data share a program.
            return half_population_loss(teacher, config.length, longest=config.adversarial_length)
        wrong = adversary(teacher, config).impulse_response(config.adversarial_length)
        return adversarial_population_loss(wrong, config.length)

    students = [
        linear_student(config.width, gain=float(gain), key=_key(config, int(seed), 0))
        for seed, gain in zip(seeds, gains, strict=True)
    ]
    result = descend(
        Lanes.stack(students),
        Lanes.stack([problem(teacher) for teacher in teachers]),
        _adam(),
        stop=Stop(config.steps, loss=config.goal),
        rate=config.rate,
        title=batch.label,
    )

    def errors(models: Lanes[LinearRNN]) -> np.ndarray:
        with jax.enable_x64(True):
            found = np.asarray(_responses(models.tree, config.horizon))[..., 0, 0]
        return np.cumsum((found - target) ** 2, axis=1)

    return result, [errors(result.model), errors(result.best)]


@functools.partial(jax.jit, static_argnums=1)
def _responses(models: LinearRNN, lags: int) -> jax.Array:
    return jax.vmap(lambda model: model.impulse_response(lags))(models)


def _train_gated(
    batch: Batch,
    config: LengthsConfig,
    teachers: list[LinearRNN],
    seeds: np.ndarray,
    gains: np.ndarray,
    target: np.ndarray,
) -> tuple[DescentResult, list[np.ndarray]]:
    plain = batch.one("data") == "plain"
    until = config.length if plain else config.adversarial_length
    weights = step_weights(config.length, until=until)
    weights = (0.5 * weights / weights.sum()).astype(np.float32)

    def problem(teacher: LinearRNN) -> SampledLoss:
        chosen = teacher if plain else adversary(teacher, config)
        response = np.asarray(chosen.impulse_response(until), np.float32)
        return SampledLoss(FiniteResponse(response), jnp.asarray(weights), config.sequences)

    width, model = config.gated_width, batch.one("model")
    students = [
        gated_student(model, width, gain=float(gain), key=_key(config, int(seed), 1))
        for seed, gain in zip(seeds, gains, strict=True)
    ]
    result = descend(
        Lanes.stack(students),
        Lanes.stack([problem(teacher) for teacher in teachers]),
        _averaged_adam(),
        stop=Stop(config.gated_steps),
        rate=config.rate,
        key=Lanes(jnp.stack([_key(config, int(seed), 2) for seed in seeds])),
        title=batch.label,
    )
    drawn = jnp.stack([_key(config, int(seed), 3) for seed in seeds])
    responses = jnp.asarray(target, jnp.float32)[..., None, None]

    def errors(models: Lanes[Any]) -> np.ndarray:
        return np.asarray(_sampled_errors(models.tree, responses, drawn)).astype(float)

    return result, [errors(result.model), errors(result.best)]


@jax.jit
def _sampled_errors(models: Any, responses: jax.Array, keys: jax.Array) -> jax.Array:
    """The mean squared error at each time on test sequences, one lane after another."""

    def one(lane: tuple[Any, jax.Array, jax.Array]) -> jax.Array:
        model, response, key = lane
        inputs = jax.random.normal(key, (TEST_SEQUENCES, response.shape[0], 1), jnp.float32)
        error = outputs(model, inputs) - outputs(FiniteResponse(response), inputs)
        return jnp.mean(error[..., 0] ** 2, axis=0)

    return jax.lax.map(one, (models, responses, keys))
