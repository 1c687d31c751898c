"""Labelled images, and the loss on batches of them that are shifted and mirrored at random."""

from collections.abc import Callable
from typing import Protocol, final, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import UInt8
from numpy.typing import ArrayLike

from tacit._doors import ANY, check_fields, door, each, flag, instance, plain, real, whole
from tacit._types import Array, Float, Int, PRNGKeyArray, PyTree, precise
from tacit.models import Statistics, renewed
from tacit.problems._shuffled import shuffled


@runtime_checkable
class ImageClassifier(Protocol):
    """A model that gives each class a score: `ResNet`, `VGG`, `ReLUNet`."""

    def outputs(self, images: Array, /) -> Array:
        """Scores (batch, classes) of the trained network."""

    def outputs_by_batch(self, images: Array, /) -> tuple[Array, list[Statistics]]:
        """Scores in training, and the statistics of the batch."""


@final
class Images(eqx.Module):
    """Labelled images as bytes, with the numbers that standardise each channel.

    **Arguments:**

    - `pixels`: (images, height, width, channels), 0 to 255.
    - `labels`: the class of each.
    - `mean`, `deviation`: of each channel, for pixels from 0 to 1.
    """

    pixels: UInt8[Array, "images height width channels"]
    labels: Int[Array, " images"]
    mean: Float[Array, " channels"]
    deviation: Float[Array, " channels"]

    @staticmethod
    @door(pixels=real(), labels=each(whole()), mean=real(most=1e6), deviation=real(most=1e6))
    def of(
        pixels: ArrayLike, labels: ArrayLike, *, mean: ArrayLike, deviation: ArrayLike
    ) -> "Images":
        """From arrays; bytes stay bytes."""
        bytes_, classes = np.asarray(pixels), np.asarray(labels)
        if bytes_.ndim != 4 or bytes_.dtype != np.uint8 or not len(bytes_):
            raise ValueError(
                f"pixels: received {bytes_.dtype} of shape {bytes_.shape}, they must be uint8, "
                "(images, height, width, channels)"
            )
        if classes.shape != bytes_.shape[:1]:
            raise ValueError(
                f"labels: received the shape {classes.shape}, there must be one for each of the "
                f"{len(bytes_)} images"
            )
        centre, spread = (jnp.asarray(value, jnp.float32) for value in (mean, deviation))
        return Images(jnp.asarray(bytes_), jnp.asarray(classes, jnp.int32), centre, spread)

    def __len__(self) -> int:
        return self.labels.shape[0]

    def standardised(self, pixels: Array) -> Float[Array, "... channels"]:
        """Bytes as numbers of mean zero and deviation one, about."""
        return (pixels.astype(jnp.float32) / 255 - self.mean) / self.deviation

    @precise
    def losses_and_successes(
        self, model: ImageClassifier, *, at_a_time: int = 500
    ) -> tuple[Float[Array, " images"], Float[Array, " images"]]:
        """Cross-entropy of the trained network for each image, and whether it is told right."""

        def one(example: tuple[Array, Array]) -> tuple[Array, Array]:
            pixels, label = example
            scores = model.outputs(self.standardised(pixels)[None])[0]
            return cross_entropy(scores, label), jnp.argmax(scores) == label

        # Known when a program is compiled, where they are not its inputs, and not to be used then.
        examples = jax.lax.optimization_barrier((self.pixels, self.labels))
        losses, right = jax.lax.map(one, examples, batch_size=min(at_a_time, len(self)))
        return losses, right.astype(jnp.float32)


@door(train=instance(Images), test=instance(Images), most=whole(1))
def split_means(
    train: Images, test: Images, most: int
) -> Callable[[ImageClassifier], Float[Array, "split what"]]:
    """A measure: mean loss and share told right, of the first `most` images of each split."""
    few = min(most, len(train))
    pairs = ((train.pixels[:few], test.pixels[:most]), (train.labels[:few], test.labels[:most]))
    pixels, labels = map(jnp.concatenate, pairs)
    both = Images(pixels, labels, train.mean, train.deviation)

    def measure(model: ImageClassifier) -> Array:
        seen = jnp.stack(both.losses_and_successes(model))
        return jnp.stack([seen[:, :few].mean(1), seen[:, few:].mean(1)])

    return measure


@final
class ImageBatches(eqx.Module):
    """Mean cross-entropy on a batch: epoch after epoch, each in a new order.

    What is left of an epoch when its last whole batch is drawn is left out of it. Running averages
    of batch normalisation are the state of `loss_and_state`.

    **Arguments:**

    - `images`: what the batches are taken from.
    - `size`: images in a batch.
    - `shift`: each image is moved by up to so many pixels either way, with black behind it: a crop
      of the image with so much black around.
    - `mirror`: whether half of the images, at random, are mirrored left to right.
    """

    images: Images
    size: int = eqx.field(static=True, default=128, converter=plain)
    shift: int = eqx.field(static=True, default=4, converter=plain)
    mirror: bool = eqx.field(static=True, default=True)

    stochastic = True
    counts_steps = True

    def __check_init__(self) -> None:
        check_fields(self, images=instance(Images), size=ANY, shift=whole(), mirror=flag)
        if not 1 <= self.size <= len(self.images):
            raise ValueError(
                f"size: received {self.size}, it must be from 1 to {len(self.images)}, as many "
                "images as there are"
            )

    @property
    def steps_an_epoch(self) -> int:
        """Whole batches in an epoch."""
        return len(self.images) // self.size

    def batch(
        self, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> tuple[Float[Array, "batch height width channels"], Int[Array, " batch"]]:
        """The images of a step, shifted and mirrored, and their labels."""
        order_key, change_key = jax.random.split(key)
        epoch, place = step // self.steps_an_epoch, step % self.steps_an_epoch
        places = place * self.size + jnp.arange(self.size)
        rows = shuffled(places, len(self.images), key=jax.random.fold_in(order_key, epoch))
        pixels = self.images.pixels
        _, height, width, _ = pixels.shape
        down_key, right_key, mirror_key = jax.random.split(jax.random.fold_in(change_key, step), 3)
        y = jnp.broadcast_to(jnp.arange(height), (self.size, height))
        x = jnp.broadcast_to(jnp.arange(width), (self.size, width))
        if self.mirror:
            mirrored = jax.random.bernoulli(mirror_key, shape=(self.size, 1))
            x = jnp.where(mirrored, width - 1 - x, x)
        if self.shift:
            sides = self.size, 1
            y = y + jax.random.randint(down_key, sides, -self.shift, self.shift + 1)
            x = x + jax.random.randint(right_key, sides, -self.shift, self.shift + 1)
        inside = ((y >= 0) & (y < height))[:, :, None] & ((x >= 0) & (x < width))[:, None, :]
        found = pixels[rows[:, None, None], y.clip(0, height - 1)[:, :, None],
                       x.clip(0, width - 1)[:, None, :]]  # fmt: skip
        found = jnp.where(inside[..., None], found, 0)
        return self.images.standardised(found), self.images.labels[rows]

    @precise
    def loss(
        self, model: ImageClassifier, *, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> Float[Array, ""]:
        """The loss on the batch of a step."""
        return self.loss_and_state(model, key=key, step=step)[0]

    @precise
    def loss_and_state(
        self, model: ImageClassifier, *, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> tuple[Float[Array, ""], PyTree]:
        """The loss on the batch of a step, and the running averages after it."""
        images, labels = self.batch(key, step)
        scores, seen = model.outputs_by_batch(images)
        return jnp.mean(jax.vmap(cross_entropy)(scores, labels)), renewed(model, seen)


def cross_entropy(scores: Float[Array, " classes"], label: Int[Array, ""]) -> Float[Array, ""]:
    """−log of the probability softmax(scores) that is given to the label."""
    return jax.nn.logsumexp(scores) - scores[label]
