"""Balanced teachers made of rational numbers: their lags are exact."""

from fractions import Fraction

import numpy as np

from tacit._doors import SEEDS, door, number, whole

_GRAIN = 1000  # atoms and weights are multiples of 1/1000: their moments stay short fractions


@door(order=whole(1, 100_000), ends=whole(0, 2), jitter=number(0, below=1), seed=whole(0, SEEDS))
def rational_teacher(
    order: int, ends: int, *, jitter: float, seed: int
) -> tuple[list[Fraction], list[Fraction]]:
    """Atoms in [−1, 1], `ends` of them on its ends, and weights between 1/3 and 3 of each other.

    They are the eigenvalues of a balanced teacher and the squares of its entries of B. Even places
    are moved by at most `jitter` of their spacing, so that no two atoms come close and none that
    lies inside comes close to an end.
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
