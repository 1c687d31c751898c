"""Many linear RNNs of one shape as one stacked pytree: random ones, and their responses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models._linear_rnn import LinearRNN
from tacit.models._transition import AbstractTransition


def random_linear_rnns(
    transition: type[AbstractTransition],
    width: int,
    *,
    scale: float | int | ArrayLike,
    keys: Array,
    channels: int = 1,
    balanced: bool = False,
) -> LinearRNN:
    """A random model for each key, stacked: their arrays have the models along the first axis.

    Parameters are independent N(0, scale²), float64; `scale` is one number or one for each model.
    Models with equal keys differ in their scale alone. `channels` counts inputs and outputs.
    """
    if keys.ndim != 1:
        raise ValueError(f"keys: received the shape {keys.shape}, give one key for each model")
    with jax.enable_x64(True):
        scales = jnp.broadcast_to(jnp.asarray(scale, jnp.float64), keys.shape)
        return _random(transition, width, channels, balanced, scales, keys)


@eqx.filter_jit
def _random(
    transition: type[AbstractTransition],
    width: int,
    channels: int,
    balanced: bool,
    scales: Array,
    keys: Array,
) -> LinearRNN:
    def draw(scale: Float[Array, ""], key: PRNGKeyArray) -> LinearRNN:
        return LinearRNN.random(
            transition,
            width,
            inputs=channels,
            outputs=channels,
            scale=scale,
            balanced=balanced,
            key=key,
        )

    return eqx.filter_vmap(draw)(scales, keys)


@precise
def impulse_responses(models: LinearRNN, length: int) -> np.ndarray:
    """C A^j B for j < length, of each of several stacked models: (model, lag, output, input)."""
    return np.asarray(_responses(models, length))


@eqx.filter_jit
def _responses(models: LinearRNN, length: int) -> Array:
    return eqx.filter_vmap(lambda model: model.impulse_response(length))(models)
