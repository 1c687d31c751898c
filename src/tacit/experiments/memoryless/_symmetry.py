"""Free students from a nearly symmetric start under gradient descent: fig4's cells."""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import Lanes, Record, Stop, descend
from tacit.experiments.memoryless._moments import recorded_steps
from tacit.experiments.memoryless._responses import response_of
from tacit.experiments.memoryless._students import gaussians
from tacit.experiments.memoryless.fig4 import Fig4Config
from tacit.models import Dense, LinearRNN
from tacit.problems import half_population_loss, memoryless_teacher
from tacit.sweep import Batch


@functools.cache
def _optimiser() -> optax.GradientTransformation:
    return optax.sgd(1.0)


def started(width: int, variance: float, seed: int) -> tuple[LinearRNN, float]:
    """A = αI with α ~ U[0, 1]; B and C are independent N(0, variance). With it, α."""
    scale_key, maps_key = jax.random.split(jax.random.fold_in(jax.random.key(4), seed))
    with jax.enable_x64(True):
        alpha = float(jax.random.uniform(scale_key, (), jnp.float64))
    B, C = gaussians(((width, 1), (1, width)), key=maps_key)
    deviation = np.sqrt(variance)
    return LinearRNN(Dense(alpha * np.eye(width)), deviation * B, deviation * C), alpha


def _norm(matrix: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(matrix**2))


MEASURES = {
    "norm_A": lambda model: _norm(model.transition.entries),
    "norm_B": lambda model: _norm(model.B),
    "norm_C": lambda model: _norm(model.C),
    "asymmetry_A": lambda model: _norm(model.transition.entries - model.transition.entries.T),
    "asymmetry_BC": lambda model: _norm(model.B - model.C.T),
}


def follow(batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
    """Students, descent and norms of one batch, in that order."""
    starts = [started(config.width, config.variance, int(s)) for s in batch.column("seed")]
    result = descend(
        Lanes.stack([student for student, _ in starts]),
        half_population_loss(memoryless_teacher(config.weight), config.length),
        _optimiser(),
        stop=Stop(config.steps),
        rate=batch.column("rate"),
        record=Record(recorded_steps(config.steps).tolist(), MEASURES),
        title=batch.label,
    )
    response = response_of(result.model.tree, config.horizon)
    return {
        "outcome": result.outcome,
        "alpha": np.array([alpha for _, alpha in starts]),
        "loss": result.records["loss"],
        **{name: result.records[name] for name in MEASURES},
        "tail": np.max(np.abs(response[:, config.length :]), axis=1),
    }
