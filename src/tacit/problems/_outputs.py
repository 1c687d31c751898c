"""The outputs of any sequence model on a batch of sequences, by the cheapest way it offers."""

from typing import Any

import jax
import jax.numpy as jnp

from tacit._doors import door, is_array, real
from tacit._types import Array, Float, precise
from tacit.problems._shapes import same_shape


@door(inputs=real(3, finite=False))
@precise
def outputs(
    model: Any, inputs: Float[Array, "sequences time inputs"]
) -> Float[Array, "sequences time outputs"]:
    """The outputs that follow each sequence from the zero state.

    A model with `simulate_batch` is asked for it. One with an `impulse_response` is linear: its
    outputs are a convolution, which for width d and T steps costs T² products a sequence in place
    of T d². Any other needs `simulate(inputs)` for one sequence.
    """
    if not is_array(inputs):
        inputs = jnp.asarray(inputs)
    if hasattr(model, "simulate_batch"):
        return model.simulate_batch(inputs)
    if hasattr(model, "impulse_response"):
        return convolved(model.impulse_response(inputs.shape[1]), inputs)
    if hasattr(model, "simulate"):
        return jax.vmap(model.simulate)(inputs)
    raise ValueError(f"model: it needs simulate(inputs), which {type(model).__name__} lacks")


def convolved(
    response: Float[Array, "time outputs inputs"], inputs: Float[Array, "sequences time inputs"]
) -> Float[Array, "sequences time outputs"]:
    """y_t = Σ_{j≤t} h_j x_{t−j}, by the Toeplitz matrix of the response."""
    time = response.shape[0]
    wanted = (*inputs.shape[:2], response.shape[2])
    remedy = "give as many inputs as the model takes"
    same_shape("inputs", inputs, wanted, "(sequences, time, inputs)", remedy)
    # Row t of this table is the circle h_0, 0, …, 0, h_{time−1}, …, h_1 turned by t; the shape
    # turns it, where a gather would have a scatter as its gradient.
    circle = jnp.concatenate([response[:1], jnp.zeros_like(response), jnp.flip(response[1:], 0)])
    rows = jnp.tile(circle, (time, 1, 1))[: time * (2 * time - 1)]
    toeplitz = rows.reshape(time, 2 * time - 1, *response.shape[1:])[:, :time]
    return jnp.einsum("tsoi,nsi->nto", toeplitz, inputs, precision="highest")
