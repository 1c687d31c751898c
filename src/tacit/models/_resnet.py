"""Residual networks for small images: ResNet-18, 34, 50 and 101 with the stem of CIFAR."""

import operator
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import door, instance, key, number, whole
from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models._image_layers import (
    KEPT,
    Arithmetic,
    BatchNorm,
    Readout,
    Statistics,
    by_fan_in,
    convolved,
    normalised,
)

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
"""Residual blocks in each of the four stages, by depth."""

_BOTTLENECK = 4  # from 50 layers on a block has three convolutions and four times the channels
_STAGES = (64, 128, 256, 512)
_LOOPED = 8  # a stage of more like blocks is a loop


@final
class Block(eqx.Module):
    """y = relu(x + f(x)), f two or three convolutions, each followed by batch normalisation.

    The stride is that of the first 3 × 3 convolution; `shortcut` brings x to the shape of f(x)
    where it differs.
    """

    kernels: tuple[Float[Array, "*stack _ _ _ _"], ...]
    norms: tuple[BatchNorm, ...]
    shortcut: Float[Array, "1 1 in out"] | None
    shortcut_norm: BatchNorm | None
    stride: int = eqx.field(static=True)

    def __call__(self, x: Array, arithmetic: Arithmetic, seen: list[Statistics] | None) -> Array:
        """The block's output; statistics of batches go into `seen`, see `normalised`."""
        y, strided = x, 1 if len(self.kernels) == 3 else 0
        for place, (kernel, norm) in enumerate(zip(self.kernels, self.norms, strict=True)):
            stride = self.stride if place == strided else 1
            y = normalised(norm, convolved(y, kernel, arithmetic, stride), seen)
            if place < len(self.kernels) - 1:
                y = jax.nn.relu(y)
        if self.shortcut is not None and self.shortcut_norm is not None:
            x = convolved(x, self.shortcut, arithmetic, self.stride)
            x = normalised(self.shortcut_norm, x, seen)
        return jax.nn.relu(x + y)


@final
class ResNet(eqx.Module):
    """He, Zhang, Ren and Sun (2016), with a 3 × 3 stem and no pooling after it.

    The blocks of a stage after its first have one shape and are stacked along a leading axis. Long
    stages run in a loop, so that 101 layers compile about as fast as 50; short ones do not, since a
    loop copies what its derivative needs.

    **Arguments:** as `ResNet.random` makes them; `arithmetic` is a choice of `ARITHMETICS`.
    """

    stem: Float[Array, "3 3 in out"]
    stem_norm: BatchNorm
    firsts: tuple[Block, ...]
    rests: tuple[Block | None, ...]
    readout: Readout
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
    ) -> "ResNet":
        """Convolutions N(0, 2/(k² out)), as in the first networks of this kind.

        **Arguments:**

        - `depth`: 18, 34, 50 or 101.
        - `classes`: number of outputs.
        - `arithmetic`: of activations and products.
        - `width`: a factor on all numbers of channels.
        """
        if depth not in BLOCKS:
            raise ValueError(f"depth: received {depth!r}, it must be one of {list(BLOCKS)}")
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        widths = [max(1, round(width * channels)) for channels in _STAGES]
        stem, channels = _kernel(rng, 3, 3, widths[0]), widths[0]
        firsts: list[Block] = []
        rests: list[Block | None] = []
        for stage, (inner, count) in enumerate(zip(widths, BLOCKS[depth], strict=True)):
            deep, stride = depth >= 50, 1 if stage == 0 else 2
            firsts.append(_block(rng, channels, inner, stride, deep))
            channels = inner * (_BOTTLENECK if deep else 1)
            others = [_block(rng, channels, inner, 1, deep) for _ in range(count - 1)]
            rests.append(jax.tree.map(_stacked, *others))
        readout = Readout(*by_fan_in(rng, channels, classes))
        return ResNet(
            stem, BatchNorm.fresh(widths[0]), tuple(firsts), tuple(rests), readout, arithmetic
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
        x = convolved(images.astype(self.arithmetic.dtype), self.stem, self.arithmetic)
        x = jax.nn.relu(normalised(self.stem_norm, x, seen))
        # As the tree holds them: the statistics of all first blocks come before the others'.
        late: list[Statistics] = []
        for first, rest in zip(self.firsts, self.rests, strict=True):
            x = first(x, self.arithmetic, seen)
            if rest is not None:
                x, own = self._through(rest, x, training=seen is not None)
                late += own
        if seen is not None:
            seen += late
        return self.readout(jnp.mean(x.astype(jnp.float32), axis=(1, 2)))

    def _through(self, rest: Block, x: Array, *, training: bool) -> tuple[Array, list[Statistics]]:
        def step(x: Array, block: Block) -> tuple[Array, list[Statistics]]:
            own: list[Statistics] = []
            return block(x, self.arithmetic, own if training else None), own

        count = rest.kernels[0].shape[0]
        if count > _LOOPED:
            keep = jax.checkpoint_policies.save_only_these_names(KEPT)
            return jax.lax.scan(jax.checkpoint(step, policy=keep, prevent_cse=False), x, rest)
        found = []
        for place in range(count):
            x, own = step(x, jax.tree.map(operator.itemgetter(place), rest))
            found.append(own)
        return x, jax.tree.map(lambda *each: jnp.stack(each), *found)

    def weights(self) -> tuple[Float[Array, "..."], ...]:
        """Every kernel (k1, k2, in, out) and the readout (in, out), in order, shortcuts after
        the block that they go around."""
        found: list[Array] = [self.stem]
        for first, rest in zip(self.firsts, self.rests, strict=True):
            found += [*first.kernels] + ([] if first.shortcut is None else [first.shortcut])
            if rest is not None:
                count = rest.kernels[0].shape[0]
                found += [kernel[place] for place in range(count) for kernel in rest.kernels]
        return *found, self.readout.weights


def _stacked(*leaves: Array) -> Array:
    """On the host: nothing is compiled for it."""
    return jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))


def _kernel(rng: np.random.Generator, size: int, inputs: int, outputs: int) -> Array:
    deviation = np.sqrt(2 / (size * size * outputs))
    draws = rng.standard_normal((size, size, inputs, outputs), dtype=np.float32)
    return jnp.asarray(np.float32(deviation) * draws)


def _block(rng: np.random.Generator, inputs: int, inner: int, stride: int, deep: bool) -> Block:
    outputs = inner * (_BOTTLENECK if deep else 1)
    sizes = [(1, inputs, inner), (3, inner, inner), (1, inner, outputs)]
    sizes = sizes if deep else [(3, inputs, inner), (3, inner, inner)]
    kernels = tuple(_kernel(rng, *size) for size in sizes)
    norms = tuple(BatchNorm.fresh(size[-1]) for size in sizes)
    same = stride == 1 and inputs == outputs
    shortcut = None if same else _kernel(rng, 1, inputs, outputs)
    return Block(kernels, norms, shortcut, None if same else BatchNorm.fresh(outputs), stride)
