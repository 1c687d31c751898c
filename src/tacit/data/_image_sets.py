"""Sets of labelled images by name, whole or in part, at full size or smaller."""

import functools
from typing import NamedTuple

import numpy as np

from tacit._doors import ANY, door, text, whole
from tacit.data._cifar import SIDE, LabelledImages, cifar, cifar_missing
from tacit.data._synthetic_images import synthetic_images

IMAGE_SETS = {"cifar10": 10, "cifar100": 100, "waves": 10}
"""The number of classes of each; `waves` are made up and always at hand."""

# Of each channel, for pixels from 0 to 255: the numbers that are usual for CIFAR.
_MEANS = {"cifar10": (125.3, 123.0, 113.9), "cifar100": (129.3, 124.1, 112.4)}
_DEVIATIONS = {"cifar10": (63.0, 62.1, 66.7), "cifar100": (68.2, 65.4, 70.4)}


class ImageSet(NamedTuple):
    """Images to train on and for the test; mean and deviation of each channel, from 0 to 1."""

    train: LabelledImages
    test: LabelledImages
    mean: np.ndarray
    deviation: np.ndarray


@door(name=text, train=ANY, test=ANY, side=whole(1, 10_000))
def image_set(name: str, *, train: int, test: int, side: int = SIDE) -> ImageSet:
    """The first `train` and `test` images of a set; means of blocks of pixels for a smaller side.

    **Arguments:**

    - `name`: one of `IMAGE_SETS`.
    - `side`: height and width; a divisor of 32.
    """
    if name not in IMAGE_SETS:
        raise ValueError(f"name: received {name!r}, it must be one of {list(IMAGE_SETS)}")
    if SIDE % side:
        raise ValueError(f"side: received {side!r}, it must be a divisor of {SIDE}")
    whole = _whole(name, train, test)
    parts = {}
    for split, count in (("train", train), ("test", test)):
        images = whole[split]
        if not 1 <= count <= len(images.labels):
            raise ValueError(
                f"{split}: received {count!r}, {name} has from 1 to {len(images.labels)}"
            )
        parts[split] = LabelledImages(_smaller(images.pixels[:count], side), images.labels[:count])
    mean = np.array(_MEANS.get(name, (127.5,) * 3)) / 255
    deviation = np.array(_DEVIATIONS.get(name, (64.0,) * 3)) / 255
    return ImageSet(parts["train"], parts["test"], mean, deviation)


@door(name=text)
def image_set_missing(name: str) -> str | None:
    """Why a set is not at hand, in a sentence; None if it is."""
    if name not in IMAGE_SETS:
        raise ValueError(f"name: received {name!r}, it must be one of {list(IMAGE_SETS)}")
    return None if name == "waves" else cifar_missing(IMAGE_SETS[name])


def _whole(name: str, train: int, test: int) -> dict[str, LabelledImages]:
    if name == "waves":
        return {
            "train": synthetic_images(train, seed=0), "test": synthetic_images(test, seed=1)
        }  # fmt: skip
    return _read(IMAGE_SETS[name])


_read = functools.lru_cache(maxsize=1)(cifar)  # many cells ask for the same one


def _smaller(pixels: np.ndarray, side: int) -> np.ndarray:
    block = SIDE // side
    if block == 1:
        return pixels
    blocks = pixels.reshape(-1, side, block, side, block, pixels.shape[-1])
    return np.rint(blocks.mean(axis=(2, 4))).astype(np.uint8)
