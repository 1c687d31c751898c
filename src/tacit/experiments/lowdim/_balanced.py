"""Training a balanced diagonal student on a balanced teacher: what fig1a's cells do."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit import measures
from tacit._types import PRNGKeyArray
from tacit.descent import Lanes, LevenbergMarquardt, Stop, descend
from tacit.experiments.lowdim.fig1a import PADDING, Fig1aConfig
from tacit.models import Diagonal, LinearRNN
from tacit.problems import (
    PopulationLoss,
    balanced_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
)
from tacit.sweep import Batch


def _even(order: int, key: PRNGKeyArray) -> LinearRNN:
    return balanced_teacher(even_spectrum(order, 0.6, 1.05), gaussian_weights(order, key=key))


def _random(order: int, key: PRNGKeyArray) -> LinearRNN:
    spectrum_key, weights_key = jax.random.split(key)
    spectrum = random_spectrum(order, 0.6, 1.05, key=spectrum_key)
    return balanced_teacher(spectrum, gaussian_weights(order, key=weights_key))


def _well_conditioned(order: int, key: PRNGKeyArray) -> LinearRNN:
    return balanced_teacher(even_spectrum(order, -1.0, 1.0), equal_weights(order))


TEACHERS: dict[str, Callable[[int, PRNGKeyArray], LinearRNN]] = {
    "even": _even,
    "random": _random,
    "well-conditioned": _well_conditioned,
}


@functools.cache
def _method(name: str) -> optax.GradientTransformation:
    """One object a method, so that all batches share its compiled program; the rate comes apart."""
    return {"adam": optax.adam, "gd": optax.sgd}[name](1.0)


def train_balanced(batch: Batch, config: Fig1aConfig) -> Mapping[str, Any]:
    """Teachers, students, descent, polish and measures of one batch, in that order."""
    lengths, seeds = batch.column("length"), batch.column("seed")
    lags = max(config.horizons)
    longest = PADDING * -(-int(lengths.max()) // PADDING)

    teacher_of = TEACHERS[batch.one("teacher")]
    teachers = {
        seed: teacher_of(config.order, jax.random.fold_in(jax.random.key(0), seed))
        for seed in np.unique(seeds).tolist()
    }
    problems = Lanes.stack(
        [
            PopulationLoss.of(teachers[seed], length, longest=longest)
            for seed, length in zip(seeds.tolist(), lengths.tolist(), strict=True)
        ]
    )
    students = _students(batch.one("width"), config.scale, seeds, lengths)

    method = batch.one("method")
    rate = {"adam": config.adam_rate, "gd": config.gd_rate}[method]
    descended = descend(
        students,
        problems,
        _method(method),
        stop=Stop(config.steps, loss=config.goal),
        rate=rate,
        title=batch.label,
    )
    polished = descend(
        descended.model,
        problems,
        LevenbergMarquardt(),
        stop=Stop(config.polish_steps, loss=config.goal),
        title=f"{batch.label}, polish",
    )

    targets = {seed: np.asarray(teacher.impulse_response(lags)) for seed, teacher in teachers.items()}
    target = np.stack([targets[seed] for seed in seeds.tolist()])
    responses = np.stack(
        [_responses(lanes, lags) for lanes in (descended.model, descended.best, polished.model)],
        axis=1,
    )
    hankel = {
        seed: measures.hankel_singular_values(response[:PADDING])[: config.order]
        for seed, response in targets.items()
    }
    return {
        "outcome": descended.outcome,
        "polish_outcome": polished.outcome,
        "target": target[..., 0, 0],
        "response": responses[..., 0, 0],
        "train_loss": np.stack([descended.loss, descended.best_loss, polished.loss], axis=1),
        "zero_loss": np.array([float(problem.zero_loss()) for problem in problems]),
        "error": _errors(responses, target, lengths, config, relative=False),
        "relative_error": _errors(responses, target, lengths, config, relative=True),
        "hankel": np.stack([hankel[seed] for seed in seeds.tolist()]),
    }


def _students(width: int, scale: float, seeds: np.ndarray, lengths: np.ndarray) -> Lanes[LinearRNN]:
    """Students with their own start for every seed and length."""
    with jax.enable_x64(True):

        def start(seed: jax.Array, length: jax.Array) -> LinearRNN:
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), seed), length)
            return LinearRNN.random(Diagonal, width, scale=scale, balanced=True, key=key)

        return Lanes(eqx.filter_vmap(start)(jnp.asarray(seeds), jnp.asarray(lengths)))


def _responses(lanes: Lanes[LinearRNN], lags: int) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(lambda model: model.impulse_response(lags))(lanes.tree))


def _errors(
    responses: np.ndarray,
    target: np.ndarray,
    lengths: np.ndarray,
    config: Fig1aConfig,
    *,
    relative: bool,
) -> np.ndarray:
    """Errors by lane, iterate and horizon; a response that overflowed is infinitely wrong."""
    errors = np.array(
        [
            [
                [
                    measures.extrapolation_error(
                        response, aim, start=int(length), stop=horizon, relative=relative
                    )
                    for horizon in config.horizons
                ]
                for response in lane
            ]
            for lane, aim, length in zip(responses, target, lengths, strict=True)
        ]
    )
    return np.where(np.isnan(errors), np.inf, errors)
