"""VGG networks for small images: VGG-11, 13, 16 and 19 with batch normalisation."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import door, instance, key, number, whole
from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models._image_layers import (
    Arithmetic,
    BatchNorm,
    Readout,
    Statistics,
    by_fan_in,
    convolved,
    normalised,
)

COUNTS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""Convolutions before each of the five poolings, by depth."""

_STAGES = (64, 128, 256, 512, 512)


@final
class VGG(eqx.Module):
    """Simonyan and Zisserman (2015): 3 × 3 convolutions, pooled five times, and a dense layer.

    **Arguments:** as `VGG.random` makes them; `arithmetic` is a choice of `ARITHMETICS`.
    """

    kernels: tuple[Float[Array, "3 3 _ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    norms: tuple[BatchNorm, ...]
    readout: Readout
    counts: tuple[int, ...] = eqx.field(static=True)
    arithmetic: Arithmetic = eqx.field(static=True)

    @staticmethod
    @door(
        depth=whole(1),
        classes=whole(1, 1_000_000),
        arithmetic=instance(Arithmetic),
        width=number(above=0, high=1_000),
        key=key,
    )
    def random(
        depth: int,
        *,
        classes: int,
        arithmetic: Arithmetic,
        width: float = 1.0,
        key: PRNGKeyArray,
    ) -> "VGG":
        """All weights uniform in ±1/√(inputs), PyTorch's default.

        **Arguments:**

        - `depth`: 11, 13, 16 or 19.
        - `classes`: number of outputs.
        - `arithmetic`: of activations and products.
        - `width`: a factor on all numbers of channels.
        """
        if depth not in COUNTS:
            raise ValueError(f"depth: received {depth!r}, it must be one of {list(COUNTS)}")
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        counts = zip(_STAGES, COUNTS[depth], strict=True)
        outputs = [max(1, round(width * n)) for n, count in counts for _ in range(count)]
        inputs = [3, *outputs[:-1]]
        layers = [by_fan_in(rng, 3, 3, *pair) for pair in zip(inputs, outputs, strict=True)]
        return VGG(
            tuple(kernel for kernel, _ in layers),
            tuple(bias for _, bias in layers),
            tuple(BatchNorm.fresh(count) for count in outputs),
            Readout(*by_fan_in(rng, outputs[-1], classes)),
            COUNTS[depth],
            arithmetic,
        )

    @precise
    def outputs(self, images: Float[Array, "batch height width in"]) -> Float[Array, "batch _"]:
        """Scores of each class, by the running averages."""
        return self._outputs(images, None)

    @precise
    def outputs_by_batch(
        self, images: Float[Array, "batch height width in"]
    ) -> tuple[Float[Array, "batch _"], list[Statistics]]:
        """Scores of each class as in training, and the batch's statistics, for `renewed`."""
        seen: list[Statistics] = []
        return self._outputs(images, seen), seen

    def _outputs(self, images: Array, seen: list[Statistics] | None) -> Array:
        x = images.astype(self.arithmetic.dtype)
        layers = iter(zip(self.kernels, self.biases, self.norms, strict=True))
        for count in self.counts:
            for _ in range(count):
                kernel, bias, norm = next(layers)
                x = convolved(x, kernel, self.arithmetic) + bias.astype(x.dtype)
                x = jax.nn.relu(normalised(norm, x, seen))
            x = _pooled(x)
        return self.readout(jnp.mean(x.astype(jnp.float32), axis=(1, 2)))

    def weights(self) -> tuple[Float[Array, "..."], ...]:
        """Every kernel (k1, k2, in, out) and the readout (in, out), in order."""
        return *self.kernels, self.readout.weights


def _pooled(x: Array) -> Array:
    """The largest of each 2 × 2 pixels; what has been pooled to one pixel stays as it is."""
    batch, height, width, channels = x.shape
    if height < 2 or width < 2:
        return x
    x = x[:, : height // 2 * 2, : width // 2 * 2]
    x = x.reshape(batch, height // 2, 2, width // 2, 2, channels)
    # In pairs: the derivative of `jnp.max` divides by how often the maximum is found among values
    # that a compiler may have computed anew, with other rounding, and 0/0 was seen to come of it.
    x = jnp.maximum(x[:, :, 0], x[:, :, 1])
    return jnp.maximum(x[:, :, :, 0], x[:, :, :, 1])
