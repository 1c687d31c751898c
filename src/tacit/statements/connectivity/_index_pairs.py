"""Traces as sums over index pairs, as the paper writes them: [i_1; i_2][i_2; i_3] …

Each display is written out as a list of pairs (upper index, lower index). The sum of the product of
the J's over all indices can then be compared with products of matrices.
"""

import numpy as np

from tacit.statements._shared_numbers import Array

Pairs = list[tuple[str, str]]


def names(letter: str, count: int) -> list[str]:
    """The indices of a power: i1, i2, …"""
    return [f"{letter}{place}" for place in range(1, count + 1)]


def pairs_of(upper: list[str], lower: list[str]) -> Pairs:
    """A display of two rows as a list of its columns."""
    return list(zip(upper, lower, strict=True))


def sum_over_indices(J: Array, pairs: Pairs) -> float:
    """Σ over all indices of the product of J's entries at the pairs."""
    axes = {name: axis for axis, name in enumerate(sorted({n for pair in pairs for n in pair}))}
    operands = [part for up, low in pairs for part in (J, [axes[up], axes[low]])]
    return float(np.einsum(*operands, []))


def free_indices(pairs: Pairs) -> int:
    """How many different indices there are."""
    return len({name for pair in pairs for name in pair})


def small_matrix(rng: np.random.Generator, size: int) -> Array:
    """Entries between ½ and 3/2 of either sign."""
    return rng.uniform(0.5, 1.5, size=(size, size)) * rng.choice([-1.0, 1.0], size=(size, size))
