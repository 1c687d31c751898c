"""Made-up photographs: coloured waves, one for each class, with noise."""

import numpy as np

from tacit._doors import MOST, SEEDS, door, whole
from tacit.data._cifar import SIDE, LabelledImages


@door(count=whole(-MOST, 10_000_000), classes=whole(1, 10_000), seed=whole(0, SEEDS))
def synthetic_images(count: int, *, classes: int = 10, seed: int = 0) -> LabelledImages:
    """Images in the form of CIFAR, for trials where it is not at hand.

    Each class is a wave of its own direction and colour; the phase and half of what is seen are
    noise. Classes come up in turn.
    """
    if count < 1:
        raise ValueError(f"count: received {count!r}, it must be at least 1")
    waves, noise = np.random.default_rng(classes), np.random.default_rng(seed)
    direction = waves.normal(size=(classes, 2))
    colour = waves.normal(size=(classes, 3))
    labels = np.arange(count) % classes
    y, x = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    place = np.einsum("nd,dyx->nyx", direction[labels], np.stack([y, x]) / 4.0)
    wave = np.sin(place + noise.uniform(0, 2 * np.pi, (count, 1, 1)))
    light = wave[..., None] * colour[labels][:, None, None, :]
    light += noise.normal(size=(count, SIDE, SIDE, 3))
    pixels = np.clip(127.5 + 40 * light, 0, 255).astype(np.uint8)
    return LabelledImages(pixels, labels.astype(np.int64))
