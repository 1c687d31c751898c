"""Layers of networks that read images: convolution, batch normalisation, dense.

Images are (batch, height, width, channels) here and kernels (height, width, in, out), as tensor
cores like them. These models act on a batch, since batch normalisation does.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name

from tacit._types import Array, Float, PyTree

MOMENTUM, EPSILON = 0.1, 1e-5  # PyTorch's defaults
KEPT = "kept"  # names what a loop over blocks keeps for its derivative; the rest is made again


@final
@dataclass(frozen=True)
class Arithmetic:
    """The numbers in which activations are kept and products made.

    Weights, statistics and losses are float32 in any case. On a CPU TF32 is float32.

    **Arguments:**

    - `dtype`, `precision`: of activations, and of products as JAX names it.
    - `by_products`: whether a convolution is one product with all shifted images side by side, as
      it always is on a CPU, where XLA's own have slow derivatives. It serves narrow networks that
      are lanes: a step of seven ResNet-18 a quarter as wide took an H200 5.7 ms so and 12.4 ms by
      XLA's grouped convolutions, which are faster for a single network.
    """

    dtype: str
    precision: str
    by_products: bool = False


ARITHMETICS = {
    "bfloat16": Arithmetic("bfloat16", "default"),
    "tf32": Arithmetic("float32", "default"),
    "float32": Arithmetic("float32", "highest"),
}
"""By name: bfloat16, TF32 (the 10-bit mantissa of an accelerator's products) and float32."""


class Statistics(NamedTuple):
    """Mean and variance of each channel over a batch; the variance is the unbiased one."""

    mean: Float[Array, "*stack channels"]
    variance: Float[Array, "*stack channels"]


@final
class BatchNorm(eqx.Module):
    """y = γ (x − m)/√(v + ε) + β for each channel (Ioffe & Szegedy 2015).

    In training m and v are the batch's own; the running averages of both, by which the trained
    network goes, are state: they move by a tenth towards the batch's at every step.
    """

    scale: Float[Array, "*stack channels"]
    shift: Float[Array, "*stack channels"]
    mean: Float[Array, "*stack channels"]
    variance: Float[Array, "*stack channels"]

    @staticmethod
    def fresh(channels: int) -> "BatchNorm":
        """γ = 1, β = 0, and averages as of standard numbers."""
        values = (1, 0, 0, 1)
        return BatchNorm(*(jnp.asarray(np.full(channels, value, np.float32)) for value in values))

    def __call__(self, x: Float[Array, "... channels"]) -> Float[Array, "... channels"]:
        """By the running averages."""
        return self._normalised(x, self.mean, self.variance)

    def by_batch(
        self, x: Float[Array, "... channels"]
    ) -> tuple[Float[Array, "... channels"], Statistics]:
        """By the batch's own statistics, which are returned."""
        wide, axes = x.astype(jnp.float32), tuple(range(x.ndim - 1))
        mean = checkpoint_name(jnp.mean(wide, axes), KEPT)
        # In one pass; the rounding of E x² − (E x)² can leave a tiny negative number.
        variance = jnp.maximum(jnp.mean(wide * wide, axes) - mean * mean, 0)
        variance = checkpoint_name(variance, KEPT)
        count = x.size // x.shape[-1]
        unbiased = variance * (count / max(count - 1, 1))
        return self._normalised(x, mean, variance), Statistics(mean, unbiased)

    def _normalised(self, x: Array, mean: Array, variance: Array) -> Array:
        factor = self.scale * jax.lax.rsqrt(variance + EPSILON)
        y = x.astype(jnp.float32) * factor + (self.shift - mean * factor)
        return y.astype(x.dtype)

    def moved(self, seen: Statistics) -> "BatchNorm":
        """The averages after a batch, and None for what is trained."""
        mean, variance = (
            (1 - MOMENTUM) * old + MOMENTUM * new
            for old, new in zip((self.mean, self.variance), seen, strict=True)
        )
        parts = mean, variance, None, None
        return eqx.tree_at(lambda n: (n.mean, n.variance, n.scale, n.shift), self, parts)


def renewed(model: PyTree, seen: list[Statistics]) -> PyTree:
    """The running averages of a model after a batch, None for all else: what `descend` puts back.

    `seen` is in the order in which the model's tree holds its `BatchNorm`s.
    """
    leaves, structure = jax.tree.flatten(model, is_leaf=_is_norm)
    rest = iter(seen)
    made = [leaf.moved(next(rest)) if _is_norm(leaf) else None for leaf in leaves]
    assert next(rest, None) is None  # one for each
    return jax.tree.unflatten(structure, made)


def _is_norm(node: Any) -> bool:
    return isinstance(node, BatchNorm)


def normalised(norm: BatchNorm, x: Array, seen: list[Statistics] | None) -> Array:
    """By the batch, whose statistics are added to `seen`; by the running averages if it is None."""
    if seen is None:
        return norm(x)
    y, own = norm.by_batch(x)
    seen.append(own)
    return y


def convolved(
    x: Float[Array, "batch height width in"],
    kernel: Float[Array, "k1 k2 in out"],
    arithmetic: Arithmetic,
    stride: int = 1,
) -> Float[Array, "batch _ _ out"]:
    """Convolution with zeros around, so that only `stride` makes the image smaller."""
    k1, k2, inputs, outputs = kernel.shape
    kernel = kernel.astype(arithmetic.dtype)
    around = ((k1 // 2, k1 // 2), (k2 // 2, k2 // 2))
    if jax.default_backend() != "cpu" and not arithmetic.by_products:
        y = jax.lax.conv_general_dilated(
            x,
            kernel,
            (stride, stride),
            around,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            precision=arithmetic.precision,
        )
        return checkpoint_name(y, KEPT)
    height, width = x.shape[1:3]
    x = jnp.pad(x, ((0, 0), *around, (0, 0)))
    if k2 > 1:
        x = jnp.concatenate([x[:, :, j : j + width : stride] for j in range(k2)], axis=-1)
    else:
        x = x[:, :, ::stride]
    if k1 > 1:
        x = jnp.concatenate([x[:, i : i + height : stride] for i in range(k1)], axis=-1)
    else:
        x = x[:, ::stride]
    flat = kernel.reshape(k1 * k2 * inputs, outputs)
    y = jnp.matmul(x.reshape(-1, len(flat)), flat, precision=arithmetic.precision)
    return checkpoint_name(y.reshape(*x.shape[:-1], outputs), KEPT)


def multiplied(
    x: Float[Array, "batch in"], weights: Float[Array, "in out"], arithmetic: Arithmetic
) -> Float[Array, "batch out"]:
    """x W in the numbers of `arithmetic`."""
    dtype = arithmetic.dtype
    return jnp.matmul(x.astype(dtype), weights.astype(dtype), precision=arithmetic.precision)


@final
class Readout(eqx.Module):
    """A dense layer x W + b, computed and returned in float32."""

    weights: Float[Array, "in out"]
    bias: Float[Array, " out"]

    def __call__(self, x: Float[Array, "batch in"]) -> Float[Array, "batch out"]:
        """Scores for each class."""
        return multiplied(x.astype(jnp.float32), self.weights, ARITHMETICS["float32"]) + self.bias


def by_fan_in(rng: np.random.Generator, *shape: int) -> tuple[Array, Array]:
    """PyTorch's start of a layer: weights (…, in, out) and bias uniform in ±1/√(inputs)."""
    bound = 1 / np.sqrt(np.prod(shape[:-1]))
    weights = rng.uniform(-bound, bound, shape).astype(np.float32)
    bias = rng.uniform(-bound, bound, shape[-1]).astype(np.float32)
    return jnp.asarray(weights), jnp.asarray(bias)
