"""Batches of images: every one once an epoch, shifted and mirrored, and the loss on them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import ARITHMETICS, ReLUNet
from tacit.problems import ImageBatches, Images

PIXELS = np.random.default_rng(0).integers(1, 256, (7, 4, 4, 3)).astype(np.uint8)
SCALES = {"mean": np.array([0.5, 0.4, 0.3]), "deviation": np.array([0.2, 0.25, 0.5])}
IMAGES = Images.of(PIXELS, np.arange(7), **SCALES)
KEY = jax.random.key(0)


def test_an_epoch_takes_whole_batches_without_repetition():
    batches = ImageBatches(IMAGES, 3, 0, False)
    assert batches.steps_an_epoch == 2
    epochs, drawn = [], eqx.filter_jit(ImageBatches.batch)
    for first in (0, 2):
        labels = [np.asarray(drawn(batches, KEY, jnp.int32(first + i))[1]) for i in range(2)]
        assert len(set(np.concatenate(labels).tolist())) == 6
        epochs.append(np.concatenate(labels))
    assert (epochs[0] != epochs[1]).any()


def test_images_are_moved_and_mirrored_over_black():
    batches = ImageBatches(IMAGES, 7, 2, True)
    drawn = eqx.filter_jit(ImageBatches.batch)(batches, KEY, jnp.int32(0))
    found, labels = (np.asarray(each) for each in drawn)
    pixels = np.rint(255 * (found * SCALES["deviation"] + SCALES["mean"])).astype(int)
    moves = set()
    for image, label in zip(pixels, labels, strict=True):
        fits = []
        for mirror in (False, True):
            whole = PIXELS[label][:, ::-1] if mirror else PIXELS[label]
            wide = np.pad(whole, ((2, 2), (2, 2), (0, 0)))
            fits += [
                (mirror, y, x)
                for y in range(5)
                for x in range(5)
                if (wide[y : y + 4, x : x + 4] == image).all()
            ]
        assert len(fits) == 1
        moves.add(fits[0])
    assert len(moves) > 3
    assert len({mirror for mirror, _, _ in moves}) == 2


def test_the_loss_is_the_cross_entropy_of_the_batch():
    net = ReLUNet.random(1, inputs=48, width=5, outputs=7, deviation=0.3,
                         arithmetic=ARITHMETICS["float32"], key=KEY)  # fmt: skip
    batches = ImageBatches(IMAGES, 7, 0, False)
    loss = eqx.filter_jit(ImageBatches.loss)(batches, net, key=KEY, step=jnp.int32(0))
    scores = np.asarray(net.outputs(IMAGES.standardised(jnp.asarray(PIXELS))), float)
    log_p = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    own = -log_p[np.arange(7), np.arange(7)]
    assert float(loss) == pytest.approx(own.mean(), rel=1e-5)
    losses, right = eqx.filter_jit(Images.losses_and_successes)(IMAGES, net, at_a_time=3)
    np.testing.assert_allclose(losses, own, rtol=1e-4)
    np.testing.assert_array_equal(right, scores.argmax(1) == np.arange(7))


def test_wrong_images_are_named():
    with pytest.raises(ValueError, match="pixels: received float64"):
        Images.of(PIXELS.astype(float), np.arange(7), **SCALES)
    with pytest.raises(ValueError, match="labels: received the shape"):
        Images.of(PIXELS, np.arange(6), **SCALES)
    with pytest.raises(ValueError, match="size: received 8, it must be from 1 to 7"):
        ImageBatches(IMAGES, 8)
