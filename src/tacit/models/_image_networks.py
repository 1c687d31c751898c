"""Image networks by name."""

from typing import Any

from tacit._doors import door, key, text
from tacit._types import PRNGKeyArray
from tacit.models._resnet import BLOCKS, ResNet
from tacit.models._vgg import COUNTS, VGG

IMAGE_NETWORKS = {
    **{f"resnet{depth}": ("resnet", depth) for depth in BLOCKS},
    **{f"vgg{depth}": ("vgg", depth) for depth in COUNTS},
}
"""Family and depth of each network, by name."""


@door(name=text, key=key)
def image_network(name: str, *, key: PRNGKeyArray, **made: Any) -> ResNet | VGG:
    """A network of `IMAGE_NETWORKS` before training; `made` goes to `random` of its class."""
    if name not in IMAGE_NETWORKS:
        raise ValueError(f"name: received {name!r}, it must be one of {list(IMAGE_NETWORKS)}")
    family, depth = IMAGE_NETWORKS[name]
    kind: Any = {"resnet": ResNet, "vgg": VGG}[family]
    return kind.random(depth, key=key, **made)
