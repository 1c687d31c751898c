"""Linear students: their starts, one for each lane, and their impulse responses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit.descent import Lanes
from tacit.models import Diagonal, LinearRNN
from tacit.models._transition import AbstractTransition


def started(
    kind: type[AbstractTransition],
    width: int,
    *,
    scale: ArrayLike,
    seeds: np.ndarray,
    lengths: np.ndarray,
    channels: int = 1,
) -> Lanes[LinearRNN]:
    """Students with a start of their own for every seed and length.

    All entries are N(0, scale²), with one scale or one a lane: lanes that differ in it alone have
    the same directions. A diagonal student is balanced, as fig1a's is; a dense one has free B, C.
    """
    with jax.enable_x64(True):
        scales = jnp.broadcast_to(jnp.asarray(scale, jnp.float64), seeds.shape)
        lanes = scales, jnp.asarray(seeds), jnp.asarray(lengths)
        return Lanes(_started(kind, width, channels, *lanes))


@eqx.filter_jit
def _started(
    kind: type[AbstractTransition],
    width: int,
    channels: int,
    scales: jax.Array,
    seeds: jax.Array,
    lengths: jax.Array,
) -> LinearRNN:
    def start(scale: jax.Array, seed: jax.Array, length: jax.Array) -> LinearRNN:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), seed), length)
        return LinearRNN.random(
            kind,
            width,
            inputs=channels,
            outputs=channels,
            scale=scale,
            balanced=kind is Diagonal,
            key=key,
        )

    return eqx.filter_vmap(start)(scales, seeds, lengths)


def responses(models: LinearRNN, lags: int) -> np.ndarray:
    """The impulse responses of stacked models, in one program."""
    with jax.enable_x64(True):
        return np.asarray(_batched_responses(models, lags))


@eqx.filter_jit
def _batched_responses(models: LinearRNN, lags: int) -> jax.Array:
    return eqx.filter_vmap(lambda model: model.impulse_response(lags))(models)
