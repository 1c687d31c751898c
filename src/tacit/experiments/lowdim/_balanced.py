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
from tacit.descent import (
    DescentResult,
    GaussNewton,
    GradientFlow,
    Lanes,
    LevenbergMarquardt,
    Stop,
    descend,
)
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


FLOW_STEPS = 100_000  # attempts of the solver; a lane that needs more is reported as stopped early

TEACHERS: dict[str, Callable[[int, PRNGKeyArray], LinearRNN]] = {
    "even": _even,
    "random": _random,
    "well-conditioned": _well_conditioned,
}


@functools.cache
def _optimiser(name: str) -> optax.GradientTransformation:
    """One object a method, so that all batches share its compiled program; the rate comes apart."""
    return {"adam": optax.adam, "gd": optax.sgd}[name](1.0)


def _descended(
    students: Lanes[LinearRNN], problems: Lanes[PopulationLoss], batch: Batch, config: Fig1aConfig
) -> DescentResult:
    """The first stage: Adam or gradient descent for a number of steps, or flow for a time."""
    if batch.one("method") == "flow":
        flow = GradientFlow(
            GaussNewton(),
            rtol=config.flow_tolerance,
            atol=1e-3 * config.flow_tolerance,
            until=config.flow_time,
        )
        stop = Stop(FLOW_STEPS, loss=config.goal)
        return descend(students, problems, flow, stop=stop, title=batch.label)
    return descend(
        students,
        problems,
        _optimiser(batch.one("method")),
        stop=Stop(config.steps, loss=config.goal),
        rate={"adam": config.adam_rate, "gd": config.gd_rate}[batch.one("method")],
        title=batch.label,
    )


def train_balanced(batch: Batch, config: Fig1aConfig) -> Mapping[str, Any]:
    """Teachers, students, descent, polish and measures of one batch, in that order."""
    lengths, seeds = batch.column("length"), batch.column("seed")
    lags = max(config.horizons)
    longest = PADDING * -(-int(lengths.max()) // PADDING)

    target = _targets(batch.one("teacher"), config.order, seeds, lags)
    mask = (np.arange(longest) < lengths[:, None]).astype(float)
    problems = Lanes(_problems(target[:, :longest], mask))
    students = Lanes(_students(batch.one("width"), config.scale, seeds, lengths))

    descended = _descended(students, problems, batch, config)
    polished = descend(
        descended.model,
        problems,
        LevenbergMarquardt(),
        stop=Stop(config.polish_steps, loss=config.goal),
        title=f"{batch.label}, polish",
    )

    iterates = (descended.model, descended.best, polished.model)
    response = np.stack([_responses(lanes.tree, lags) for lanes in iterates], axis=1)
    return {
        "outcome": descended.outcome,
        "polish_outcome": polished.outcome,
        "target": target[..., 0, 0],
        "response": response[..., 0, 0],
        "train_loss": np.stack([descended.loss, descended.best_loss, polished.loss], axis=1),
        "zero_loss": np.sum((mask * target[:, :longest, 0, 0]) ** 2, axis=1),
        "error": _errors(response, target, lengths, config, relative=False),
        "relative_error": _errors(response, target, lengths, config, relative=True),
        "hankel": np.stack(
            [measures.hankel_singular_values(t[:PADDING])[: config.order] for t in target]
        ),
    }


def _targets(teacher: str, order: int, seeds: np.ndarray, lags: int) -> np.ndarray:
    """The teachers' responses, one a lane; lanes of one seed have one teacher."""
    distinct, place = np.unique(seeds, return_inverse=True)
    teachers = [
        TEACHERS[teacher](order, jax.random.fold_in(jax.random.key(0), int(seed)))
        for seed in distinct
    ]
    return _responses(Lanes.stack(teachers).tree, lags)[place]


def _problems(target: np.ndarray, mask: np.ndarray) -> PopulationLoss:
    with jax.enable_x64(True):
        return eqx.filter_vmap(PopulationLoss)(jnp.asarray(target), jnp.asarray(mask))


def _students(width: int, scale: float, seeds: np.ndarray, lengths: np.ndarray) -> LinearRNN:
    """Students with a start of their own for every seed and length."""
    with jax.enable_x64(True):
        return _started(width, scale, jnp.asarray(seeds), jnp.asarray(lengths))


@eqx.filter_jit
def _started(width: int, scale: float, seeds: jax.Array, lengths: jax.Array) -> LinearRNN:
    def start(seed: jax.Array, length: jax.Array) -> LinearRNN:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), seed), length)
        return LinearRNN.random(Diagonal, width, scale=scale, balanced=True, key=key)

    return eqx.filter_vmap(start)(seeds, lengths)


def _responses(models: LinearRNN, lags: int) -> np.ndarray:
    """The impulse responses of stacked models, in one program."""
    with jax.enable_x64(True):
        return np.asarray(_batched_responses(models, lags))


@eqx.filter_jit
def _batched_responses(models: LinearRNN, lags: int) -> jax.Array:
    return eqx.filter_vmap(lambda model: model.impulse_response(lags))(models)


def _errors(
    response: np.ndarray,
    target: np.ndarray,
    lengths: np.ndarray,
    config: Fig1aConfig,
    *,
    relative: bool,
) -> np.ndarray:
    """Errors by lane, iterate and horizon; a response that overflowed is infinitely wrong."""

    def error(lane: int, iterate: int, horizon: int) -> float:
        found = measures.extrapolation_error(
            response[lane, iterate],
            target[lane],
            start=int(lengths[lane]),
            stop=horizon,
            relative=relative,
        )
        return float(found)

    lanes, iterates = response.shape[:2]
    errors = [
        [
            [error(lane, iterate, horizon) for horizon in config.horizons]
            for iterate in range(iterates)
        ]
        for lane in range(lanes)
    ]
    return np.where(np.isnan(errors), np.inf, errors)
