"""Rational teachers and the ranges of their later lag: what the cells of lowdim/threshold do."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.sweep import Batch
from tacit.theory.lowdim import moment_range

if TYPE_CHECKING:
    from tacit.experiments.lowdim.threshold import ThresholdConfig

_GRAIN = 1000  # atoms and weights are multiples of 1/1000: their moments stay short fractions


def rational_teacher(
    order: int, ends: int, seed: int, jitter: float
) -> tuple[list[Fraction], list[Fraction]]:
    """Atoms in [−1, 1], `ends` of them on its ends, and weights between 1/3 and 3 of each other.

    Even places are moved by at most `jitter` of their spacing, so that no two atoms come close and
    none that lies inside comes close to an end.
    """
    rng = np.random.default_rng([order, ends, seed])
    fixed = min(order, ends)
    # `order` of order + 2 − fixed even places: the high end is taken first, then the low one
    places = np.linspace(-1, 1, order + 2 - fixed)
    spacing = places[1] - places[0]
    places = places[(0 if fixed == 2 else 1) : (None if fixed else -1)]
    moved = places + jitter * spacing * rng.uniform(-1, 1, order)
    moved = np.where(np.abs(places) == 1, places, moved)
    nodes = [Fraction(round(_GRAIN * x), _GRAIN) for x in moved]
    masses = [int(m) for m in rng.integers(_GRAIN // 2, 3 * _GRAIN // 2, order, endpoint=True)]
    return nodes, [Fraction(mass, sum(masses)) for mass in masses]


def ranges(batch: Batch, config: "ThresholdConfig") -> Mapping[str, Any]:
    """The range of the later lag for each teacher and length, from exact and rounded moments."""
    order, ends = batch.one("order"), batch.one("ends")
    columns: dict[str, list[float]] = {
        name: [] for name in ("low", "high", "truth", "width", "width_rounded")
    }
    for cell in batch.cells:
        nodes, weights = rational_teacher(order, ends, cell["seed"], config.jitter)
        moments = [
            sum((w * x**j for w, x in zip(weights, nodes, strict=True)), Fraction(0))
            for j in (*range(cell["length"]), config.lag)
        ]
        exact = moment_range(moments[:-1], config.lag, tolerance=0)
        rounded = moment_range([float(m) for m in moments[:-1]], config.lag)
        columns["low"].append(exact.low)
        columns["high"].append(exact.high)
        columns["truth"].append(float(moments[-1]))
        columns["width"].append(exact.width)
        columns["width_rounded"].append(rounded.width)
    return {name: np.array(values) for name, values in columns.items()} | {
        "outcome": ["converged"] * len(batch)
    }
