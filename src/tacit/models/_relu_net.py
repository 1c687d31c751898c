"""Fully connected networks with rectified units, from Gaussian or identity hidden layers."""

import itertools
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models._image_layers import Arithmetic, Statistics, multiplied


@final
class ReLUNet(eqx.Module):
    """x ↦ W_o relu(W_L … relu(W_1 x)) with biases: `depth` hidden layers of one width.

    **Arguments:**

    - `layers`: the weights, (inputs, width), then (width, width), then (width, outputs).
    - `biases`: one vector for each.
    - `arithmetic`: of the products, a choice of `ARITHMETICS`.
    - `first_is_linear`: whether no rectifier follows the first layer.
    """

    layers: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    arithmetic: Arithmetic = eqx.field(static=True)
    first_is_linear: bool = eqx.field(static=True, default=False)

    @staticmethod
    def random(
        depth: int,
        *,
        inputs: int,
        width: int,
        outputs: int,
        deviation: float,
        arithmetic: Arithmetic,
        identity: float | None = None,
        first_is_linear: bool = False,
        key: PRNGKeyArray,
    ) -> "ReLUNet":
        """Gaussian weights and zero biases.

        **Arguments:**

        - `depth`: number of hidden layers.
        - `deviation`: standard deviation of the weights.
        - `identity`: the square layers start at this multiple of the identity; Gaussian if None.
        """
        if depth < 1:
            raise ValueError(f"depth: received {depth!r}, there must be at least 1 hidden layer")
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        sizes = [inputs, *[width] * depth, outputs]
        layers = []
        for place, shape in enumerate(itertools.pairwise(sizes)):
            draws = np.float32(deviation) * rng.standard_normal(shape, dtype=np.float32)
            inner = 0 < place < depth
            if inner and identity is not None:
                draws = np.float32(identity) * np.eye(width, dtype=np.float32)
            layers.append(jnp.asarray(draws))
        biases = tuple(jnp.zeros(size, jnp.float32) for size in sizes[1:])
        return ReLUNet(tuple(layers), biases, arithmetic, first_is_linear)

    @precise
    def outputs(self, images: Float[Array, "batch ..."]) -> Float[Array, "batch _"]:
        """Scores of each class."""
        x = images.reshape(images.shape[0], -1)
        last = len(self.layers) - 1
        for place, (layer, bias) in enumerate(zip(self.layers, self.biases, strict=True)):
            x = multiplied(x, layer, self.arithmetic).astype(jnp.float32) + bias
            if place < last and not (place == 0 and self.first_is_linear):
                x = jax.nn.relu(x)
        return x

    def outputs_by_batch(
        self, images: Float[Array, "batch ..."]
    ) -> tuple[Float[Array, "batch _"], list[Statistics]]:
        """The same: there are no statistics."""
        return self.outputs(images), []

    def weights(self) -> tuple[Float[Array, "_ _"], ...]:
        """The weights of every layer, in order."""
        return self.layers
