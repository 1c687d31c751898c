"""Training on sequences of length k and looking at longer ones: the cells of fig1, fig2, fig5.

Linear students descend on the population loss, which is the limit of infinitely much data and for
white input known in closed form, for adversarial data too. Gated ones see fresh Gaussian sequences
at every step. Both have the paper's factor ½; errors are mean squared errors and have none.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import Averaged, DescentResult, Lanes, Stop, descend
from tacit.experiments.memoryless._lengths import LengthsConfig
from tacit.experiments.memoryless._responses import response_of
from tacit.experiments.memoryless._students import gated_student, linear_student
from tacit.models import LinearRNN
from tacit.problems import (
    FiniteResponse,
    PopulationLoss,
    SampledLoss,
    adversarial_population_loss,
    linear_teacher,
    memoryless_teacher,
    outputs,
    step_weights,
    weighted_population_loss,
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


def wrong_targets(target: np.ndarray, length: int) -> np.ndarray:
    """Responses (…, lags) that are wrong by one at the lags k, 2k, … (see `lying_teacher`).

    For a memoryless teacher it is the cyclic shift's of Proposition 5.1.
    """
    wrong = np.array(target)
    wrong[..., length::length] += 1.0
    return wrong


def extrapolate(batch: Batch, config: LengthsConfig, orders: np.ndarray) -> Mapping[str, Any]:
    """Teachers, students, descent and errors of one batch, in that order."""
    seeds = batch.column("seed")
    teachers = [teacher_of(int(o), int(s), config) for o, s in zip(orders, seeds, strict=True)]
    lags = max(config.horizon, config.adversarial_length)
    target = np.stack([response_of(teacher, lags) for teacher in teachers])
    lesson = target[:, : config.adversarial_length]
    if batch.one("data") == "adversarial":
        lesson = wrong_targets(lesson, config.length)
    target = target[:, : config.horizon]
    train = _train_linear if batch.one("model") == "linear" else _train_gated
    result, errors = train(batch, config, lesson, target)
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


def _key(seed: int, purpose: int) -> jax.Array:
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(20), purpose), seed)


def _starts(batch: Batch, maker: Callable[..., Any], purpose: int) -> Lanes[Any]:
    """Students with one start for each seed, times the gain."""
    cells = zip(batch.column("seed"), batch.column("gain"), strict=True)
    return Lanes.stack(
        [maker(gain=float(gain), key=_key(int(seed), purpose)) for seed, gain in cells]
    )


def _train_linear(
    batch: Batch, config: LengthsConfig, lesson: np.ndarray, target: np.ndarray
) -> tuple[DescentResult, list[np.ndarray]]:
    """Adam on the population loss; both kinds of data have all lags, so they share a program."""

    def problem(response: np.ndarray) -> PopulationLoss:
        response = response[:, None, None]
        if batch.one("data") == "plain":
            return weighted_population_loss(
                response, 0.5 * (np.arange(len(response)) < config.length)
            )
        return adversarial_population_loss(response, config.length)

    result = descend(
        _starts(batch, functools.partial(linear_student, config.width), 0),
        Lanes.stack([problem(response) for response in lesson]),
        _adam(),
        stop=Stop(config.steps, loss=config.goal),
        rate=config.rate,
        title=batch.label,
    )

    def errors(models: Lanes[LinearRNN]) -> np.ndarray:
        found = response_of(models.tree, target.shape[1])
        return np.cumsum((found - target) ** 2, axis=1)

    return result, [errors(result.model), errors(result.best)]


def _train_gated(
    batch: Batch, config: LengthsConfig, lesson: np.ndarray, target: np.ndarray
) -> tuple[DescentResult, list[np.ndarray]]:
    """Adam on fresh sequences of length k, or of all adversarial lengths at once."""
    plain = batch.one("data") == "plain"
    until = config.length if plain else config.adversarial_length
    weights = step_weights(config.length, until=until)
    weights = (0.5 * weights / weights.sum()).astype(np.float32)

    def problem(response: np.ndarray) -> SampledLoss:
        teacher = FiniteResponse(response[:until].astype(np.float32))
        return SampledLoss(teacher, jnp.asarray(weights), config.sequences)

    maker = functools.partial(gated_student, batch.one("model"), config.gated_width)
    result = descend(
        _starts(batch, maker, 1),
        Lanes.stack([problem(response) for response in lesson]),
        _averaged_adam(),
        stop=Stop(config.gated_steps),
        rate=config.rate,
        key=Lanes(_keys(batch, 2)),
        title=batch.label,
    )
    drawn, responses = _keys(batch, 3), jnp.asarray(target, jnp.float32)

    def errors(models: Lanes[Any]) -> np.ndarray:
        return np.asarray(_sampled_errors(models.tree, responses, drawn)).astype(float)

    return result, [errors(result.model), errors(result.best)]


def _keys(batch: Batch, purpose: int) -> jax.Array:
    """One key a lane, by its seed alone."""
    return jnp.stack([_key(int(seed), purpose) for seed in batch.column("seed")])


@jax.jit
def _sampled_errors(models: Any, responses: jax.Array, keys: jax.Array) -> jax.Array:
    """The mean squared error at each time on test sequences, one lane after another."""

    def one(lane: tuple[Any, jax.Array, jax.Array]) -> jax.Array:
        model, response, key = lane
        inputs = jax.random.normal(key, (TEST_SEQUENCES, response.shape[0], 1), jnp.float32)
        error = outputs(model, inputs) - outputs(FiniteResponse(response), inputs)
        return jnp.mean(error[..., 0] ** 2, axis=0)

    return jax.lax.map(one, (models, responses, keys))
