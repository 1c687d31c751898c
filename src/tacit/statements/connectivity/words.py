"""Expected traces of words in J and Jᵀ, by counting: (99)–(107), (113) and (120)–(128)."""

from typing import Any

import numpy as np
from numpy.linalg import matrix_power

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._index_pairs import (
    free_indices,
    names,
    pairs_of,
    small_matrix,
    sum_over_indices,
)
from tacit.statements.connectivity._matchings import matching_counts

_TERMS = 80  # of each sum: g² ≤ 0.5 to this power is below rounding


def _power(rng: np.random.Generator) -> dict[str, Any]:
    return {"K": int(2 * rng.integers(1, 5)), "g": float(rng.uniform(0.1, 0.9))}


@statement(
    "connectivity/equation100",
    place="(99), (100)",
    words="E Tr J^K = g^K (1 + O(1/N)) for even K: each of these terms adds g^K/N to Tr B/N",
    draw=_power,
    tolerance=1e-12,
    hypotheses={"K is even": lambda K: K % 2 == 0},
    mutations=[{"slope": 0.5, "least": -1.0}, {"count": 2.0}],
    errata=[
        Erratum(
            place="(100)",
            as_printed="only setting all indices equal forms pairs, so that E Tr J^K/N is of the "
            "order N^{1−K/2}",
            as_corrected="it is g^K/N to leading order for every even K: i_{a+K/2} = i_a pairs "
            "all factors too and leaves K/2 indices free. (98) is still 1 + O(1/N)",
            constants={"slope": 0.5, "least": -1.0},
            gravity="gap in a proof",
        )
    ],
)
def equation_100(
    K: int, g: float, *, slope: float = 0.0, least: float = 1.0, count: float = 1.0
) -> float:
    """A count of all pairings: the exponent of 1/N, and the coefficient of the leading term.

    The claim is N^{−(slope · K + least)} as an order of magnitude.
    """
    classes = matching_counts((False,) * K)
    exponent = 1 + K / 2 - max(classes)
    return max(
        residual(min(exponent, slope * K + least), slope * K + least, scale=1.0),
        residual(classes[K // 2] * g**K, count * g**K),
    )


def _two_powers(rng: np.random.Generator) -> dict[str, Any]:
    gap = int(2 * rng.integers(1, 4))
    K = int(rng.integers(1, (8 - gap) // 2 + 1))
    return {"J": small_matrix(rng, 2 + (gap == 2)), "K": K, "L": K + gap}


@statement(
    "connectivity/equation104",
    place="(103)–(106)",
    words="Tr J^K J^TL is the sum over the index pairs (104); i_K = j_2 makes the two in the "
    "middle equal, and for L > K, K constraints pair 2K factors and leave Tr J^T(L−K) around i_1",
    draw=_two_powers,
    tolerance=1e-11,
    hypotheses={"L − K is even and positive": lambda K, L: L > K and (L - K) % 2 == 0},
    mutations=[{"left_from": 0}, {"constraints_less": 1}, {"times": 3}, {"least": 1.1}],
    errata=[
        Erratum(
            place="(106)",
            as_printed="K − 1 constraints form the pairs, and those left over begin with "
            "[j_{K+1}; i_1]",
            as_corrected="K constraints, of which the last is j_{K+1} = i_1, and those left over "
            "begin with [j_{K+2}; i_1]: L − K of them. K − 1 is right for L = K",
            constants={"left_from": 0, "constraints_less": 1},
            gravity="gap in a proof",
        ),
        Erratum(
            place="below (106)",
            as_printed="for L > K the pairs left over need L − K constraints, so that "
            "E Tr(J^K J^TL)/N is of the order N^{−((L−K)/2−1)}",
            as_corrected="it is of the order 1/N for every even L − K, as in (100). (107) is right",
            constants={"slope": 1.0, "least": -1.0},
            gravity="gap in a proof",
        ),
    ],
)
def equation_104(
    J: Array, K: int, L: int, *,
    times: int = 2, left_from: int = 1, constraints_less: int = 0,
    slope: float = 0.0, least: float = 1.0,
) -> float:  # fmt: skip
    """Sums over all indices against traces; a count of all pairings for the order in N.

    With x_a = Σ_b J_ab² and so on, the constraints give Σ_a x_a (J^{L−K})_aa.
    """
    i, j = names("i", K), names("j", L)
    whole = pairs_of(i + j[1:] + i[:1], i[1:] + j[:1] + j)
    middle = pairs_of(i + i[-1:] + j[2:] + i[:1], i[1:] + j[:1] * 2 + i[-1:] + j[2:])
    left = j[K + left_from :]
    paired = pairs_of(i, i[1:] + j[:1])
    rest = pairs_of(left + i[:1], i[:1] + left)
    square = np.abs(J) ** times
    chained = matrix_power(square, K) @ np.ones(len(J))
    classes = matching_counts((False,) * K + (True,) * L)
    order = slope * ((L - K) // 2) + least
    return max(
        residual(sum_over_indices(J, whole), np.trace(matrix_power(J, K) @ matrix_power(J.T, L))),
        residual(
            sum_over_indices(J, middle),
            np.trace((matrix_power(J, K - 1) * square.sum(axis=1)) @ matrix_power(J.T, L - 1)),
        ),
        residual(
            sum_over_indices(J, paired * 2 + rest),
            np.sum(chained * np.diag(matrix_power(J, L - K))),
        ),
        residual(free_indices(paired + rest), K + L - (K - constraints_less)),
        residual(min(1 + (K + L) / 2 - max(classes), order), order, scale=1.0),
    )


def _word(rng: np.random.Generator) -> dict[str, Any]:
    half = int(rng.integers(1, 6))
    i = int(rng.integers(0, half + 1))
    j = int(rng.integers(0, half + 1))
    return {"powers": np.array([i, j, half - i, half - j]), "g": float(rng.uniform(0.1, 0.9))}


def _unequal_word(rng: np.random.Generator) -> dict[str, Any]:
    instance = _word(rng)
    return {**instance, "powers": instance["powers"] + [2, 0, 0, 0]}


@statement(
    "connectivity/equation113",
    place="(107), (113), (120)",
    words="E Tr(J^i J^Tj J^k J^Tl)/N = g^{2(i+k)} (1 + min(i, j, k, l)) for i + k = j + l, N → ∞",
    draw=_word,
    tolerance=1e-12,
    hypotheses={"i + k = j + l": lambda powers: powers[0] + powers[2] == powers[1] + powers[3]},
    mutations=[{"more": 2}, {"of_all": "max"}],
    without={"i + k = j + l": _unequal_word},
)
def equation_113(powers: np.ndarray, g: float, *, more: int = 1, of_all: str = "min") -> float:
    """A count of all pairings: those with one more free index than there are pairs survive."""
    i, j, k, l = (int(power) for power in powers)  # noqa: E741
    classes = matching_counts((False,) * i + (True,) * j + (False,) * k + (True,) * l)
    half = (i + j + k + l) // 2
    expected = more + (min(i, j, k, l) if of_all == "min" else max(i, j, k, l))
    return residual(classes[half + 1] * g ** (2 * half), expected * g ** (2 * (i + k)))


def _strength(rng: np.random.Generator) -> dict[str, Any]:
    return {"i": int(rng.integers(0, 9)), "g": float(rng.uniform(0.2, 0.7))}


@statement(
    "connectivity/equation127",
    place="(121)–(128)",
    words="Σ_{j,k,l≥0} g^{2(i+k)} δ_{i+k,j+l} c_{ijkl} = (i + 1)g^{2i}/(1 − g²)² = a + b + 2c with "
    "the parts (123)–(125), and the sum over i is β⁴",
    draw=_strength,
    tolerance=1e-11,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"first": 1}, {"power": 2.02}],
    errata=[
        Erratum(
            place="(121), (127), (128) and their repetition in (130), (136), (137)",
            as_printed="the sums over powers of J start at 1",
            as_corrected="they start at 0: the closed forms are those of such sums",
            constants={"first": 1},
            gravity="misprint",
            right_in="the second sum of (128), which starts at i = 0",
        ),
        Erratum(
            place="(123), (132)",
            as_printed="the part a is (i + 1) Σ_{j≥i} (i + 1) (Σ_{j≥i} g^{2j})²",
            as_corrected="it is (i + 1)(Σ_{j≥i} g^{2j})²; as printed the sum over j diverges "
            "(80 terms are checked)",
            constants={"repeated": True},
            gravity="misprint",
            right_in="the first and the last form in (123)",
        ),
        Erratum(
            place="(125), (134)",
            as_printed="the part c is Σ_{j≥i} Σ_{l<i} g^{2l}(l + 1)",
            as_corrected="it is Σ_{j≥i} Σ_{l<i} g^{2(j+l)}(l + 1); as printed the sum over j "
            "diverges (80 terms are checked)",
            constants={"lacking": True},
            gravity="misprint",
            right_in="the first and the last form in (125)",
        ),
    ],
)
def equation_127(
    i: int, g: float, *,
    first: int = 0, power: float = 2.0, repeated: bool = False, lacking: bool = False,
) -> float:  # fmt: skip
    """Plain sums over j and l, for each part of the plane, against the closed forms."""
    j, l = np.meshgrid(*[np.arange(first, _TERMS)] * 2, indexing="ij")  # noqa: E741
    k = j + l - i
    counted = 1 + np.minimum(np.minimum(i, k), np.minimum(j, l))
    terms = np.where(k >= first, counted * g ** (2.0 * (j + l)), 0.0)
    whole = (i + 1) * g ** (2 * i) / (1 - g**2) ** power
    tail = g ** (2.0 * np.arange(i, _TERMS))
    low = np.arange(i)
    below = np.sum(g ** (2.0 * low) * (low + 1))
    a = (i + 1) * np.sum(tail) ** 2 * ((i + 1) * len(tail) if repeated else 1)
    c = below * (len(tail) if lacking else np.sum(tail))
    x, scale = g ** (2 * i), g ** (2 * i) / (1 - g**2) ** 3
    closed_a = (i + 1) * g ** (4 * i) / (1 - g**2) ** 2
    closed_b = scale * (i * (1 + x) * (1 - g**2) - (1 - x) * (1 + g**2))
    closed_c = scale * (1 - x - x * i * (1 - g**2))
    high_j, high_l = j >= i, l >= i
    indices = np.arange(_TERMS)
    return max(
        residual(np.sum(terms), whole),
        residual(np.sum(terms[high_j & high_l]), closed_a) if first == 0 else 0.0,
        residual(np.sum(terms[~high_j & ~high_l]), closed_b, scale=whole) if first == 0 else 0.0,
        residual(np.sum(terms[high_j & ~high_l]), closed_c, scale=whole) if first == 0 else 0.0,
        residual([a, c], [closed_a, closed_c]),
        residual(np.sum((indices + 1) * g ** (2.0 * indices)), (1 - g**2) ** -2.0),
    )
