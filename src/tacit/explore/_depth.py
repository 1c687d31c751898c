"""Deep matrix completion: where gradient flow ends, over scale, coupling, depth and size."""

from typing import Any

import numpy as np

from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel, Points, Shade
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider, powers
from tacit.theory.depth import limit_effective_rank, limit_singular_values

_SCALES = np.geomspace(1e-6, 1, 61)
_DEPTHS = (2, 3, 4, 6, 8)


def answer(*, scale: float, ratio: float, depth: int, blocks: int, block_size: int) -> Answer:
    """The limit's singular values, and its effective rank over the scale of the start."""
    size = blocks * block_size
    family: dict[str, Any] = {"ratio": ratio, "blocks": blocks, "block_size": block_size}
    first, others = map(float, limit_singular_values(depth=depth, scale=scale, **family))
    rank = float(limit_effective_rank(depth=depth, scale=scale, **family))
    values = np.zeros(size)
    values[0], values[1:blocks] = first, others
    shown = np.arange(1, min(size, 2 * blocks) + 1)
    spectrum = Panel(
        "The singular values of the limit",
        Axis("index i"),
        Axis("σᵢ", limits=(0, None)),
        [Line(shown, values[: len(shown)], marker="o")],
    )
    depths = sorted({*_DEPTHS, depth})
    shades = dict(zip(depths, Shade.family(len(depths)), strict=True))
    curves = [
        Line(
            _SCALES,
            limit_effective_rank(depth=one, scale=_SCALES, **family),
            label=f"L = {one}",
            colour=shades[one],
            width=3 if one == depth else 1.2,
        )
        for one in depths
    ]
    ranks = Panel(
        "The effective rank of the limit",
        Axis("scale α of the start", scale="log"),
        Axis("effective rank", limits=(0.9, blocks + 0.1)),
        [
            *curves,
            HorizontalRule(1, label="rank one"),
            Points([scale], [rank], label="here", colour="ink", size=9),
        ],
    )
    rest = "" if block_size == 1 else f", the other {size - blocks} are zero"
    words = (
        f"σ₁ = {number(first, 4)}, the next {blocks - 1} are {number(others, 4)}{rest}: effective "
        f"rank {number(rank)}. Filling in the unseen entries with the same value would have rank "
        f"1, filling them in with zeros rank {blocks}."
    )
    call = (
        f"tacit.theory.depth.limit_singular_values(depth={depth}, scale={scale:g}, "
        f"ratio={ratio:g}, blocks={blocks}, block_size={block_size})"
    )
    return Answer(words, call, Figure("", [spectrum, ranks]))


DEPTH = Section(
    "depth",
    "Deep matrix completion",
    "n diagonal blocks of size s are observed, all with the value 1. L square factors start at α "
    "on the diagonal and α/m beside it. Which of all completions does gradient flow choose?",
    (
        Slider("scale", "scale α of the start", powers(1e-6, 1, 61), 0.1),
        Slider(
            "ratio",
            "ratio m, diagonal to the rest",
            (1.01, 1.1, 1.3, 1.6, *powers(2, 2e4, 33)),
            11.2,
        ),
        Slider("depth", "depth L", tuple(range(2, 11)), 3),
        Slider("blocks", "blocks n", tuple(range(2, 21)), 3),
        Slider("block_size", "block size s", tuple(range(1, 11)), 2),
    ),
    answer,
)
