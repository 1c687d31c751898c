"""The mean of B and the traces of BBᵀ and BBBᵀ, as sums over powers of J: (108) and (109)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements.connectivity._matchings import matching_counts

_COUNTED = 4  # powers up to this one are counted, pairing by pairing
_TERMS = 90  # of each sum: g² ≤ 0.65 to this power is below rounding
_STABLE = {"g < 1": lambda g: g < 1}


def _strength(rng: np.random.Generator) -> dict[str, Any]:
    return {"g": float(rng.uniform(0.2, 0.8))}


def _leading(power: int, turned: int) -> int:
    """E Tr(J^power J^Tturned)/N at N → ∞, divided by g^{power + turned}, by counting pairings."""
    if (power + turned) % 2 or power + turned == 0:
        return int(power + turned == 0)
    counts = matching_counts((False,) * power + (True,) * turned)
    return counts[(power + turned) // 2 + 1]


def _from_one(place: str, lost: str, right_in: str) -> Erratum:
    return Erratum(
        place=place,
        as_printed="the sums over powers of J start at 1",
        as_corrected=f"they start at 0: {lost}",
        constants={"first": 1},
        gravity="misprint",
        right_in=right_in,
    )


@statement(
    "connectivity/equation108",
    place="(108)",
    words="Σ_{K,L≥0} E Tr(J^K J^TL)/N = Σ_{K≥0} g^{2K} + O(1/N) = 1/(1 − g²)",
    draw=_strength,
    tolerance=1e-9,
    hypotheses=_STABLE,
    mutations=[{"first": 1}, {"power": 1.01}, {"exponent": 2.02}, {"diagonal": False}],
    errata=[_from_one("(108)", "the term K = L = 0 is I, and g²/(1 − g²) is not β", "(101)")],
)
def equation_108(
    g: float, *,
    first: int = 0, power: float = 1.0, exponent: float = 2.0, diagonal: bool = True,
) -> float:  # fmt: skip
    """Counts of pairings for K, L ≤ 4, then the sum over all powers.

    A count is of one power of N, so that what the leading one leaves out is of the order 1/N.
    """
    counted = np.array(
        [[_leading(K, L) for L in range(_COUNTED + 1)] for K in range(_COUNTED + 1)], float
    )
    delta = np.eye(_COUNTED + 1) if diagonal else np.ones_like(counted)
    terms = g ** (exponent * np.arange(first, _TERMS))
    return max(residual(counted, delta), residual(np.sum(terms), (1 - g**2) ** -power))


@statement(
    "connectivity/equation109",
    place="(109)",
    words="Σ_{K,L,M≥0} E Tr(J^K J^L J^TM)/N = Σ_M g^{2M} Σ_{K,L≥0} δ_{K+L,M} = Σ_M (M + 1)g^{2M} "
    "= 1/(1 − g²)² for N → ∞",
    draw=_strength,
    tolerance=1e-9,
    hypotheses=_STABLE,
    mutations=[{"first": 1}, {"power": 2.02}, {"more": 1.01}, {"exponent": 2.02}],
    errata=[
        _from_one(
            "(109), first two lines",
            "so do the sums below, where M + 1 counts K = 0",
            "the third line of (109)",
        )
    ],
)
def equation_109(
    g: float, *, first: int = 0, power: float = 2.0, more: float = 1.0, exponent: float = 2.0
) -> float:
    """Counts of pairings for the first powers, the number of K and L, and the sums over M."""
    counted = 0.0
    for M in range(_COUNTED + 1):
        pairs = sum(
            _leading(K + L, M) for K in range(first, M + 1) for L in range(first, M + 1 - K)
        )
        counted = max(counted, residual(pairs, M + more))
    powers = np.arange(_TERMS)
    total = np.sum((powers + more) * g ** (exponent * powers))
    return max(counted, residual(total, (1 - g**2) ** -power))


@statement(
    "connectivity/mean-of-B",
    place="section S4.5, the mean of B under the braces",
    words="E[B_ii] = 1 + g²/((1 − g²)N) + O(1/N²): each even power of J adds g^K/N",
    draw=_strength,
    tolerance=1e-9,
    hypotheses=_STABLE,
    mutations=[{"power": 2.02}, {"factor": 1.01}, {"count": 1.01}],
    errata=[
        Erratum(
            place="(83), (87)",
            as_printed="E[B_ij] = δ_ij (1 + 1/N)",
            as_corrected="δ_ij (1 + O(1/N)): the term is g²/((1 − g²)N). Only its order matters "
            "there",
            constants={"ones": True},
            gravity="misprint",
            right_in="(98), which has O(1/N)",
            glyph="an O before 1/N, which may be lost",
        )
    ],
)
def mean_of_B(
    g: float, *, power: float = 2.0, factor: float = 1.0, count: float = 1.0, ones: bool = False
) -> float:
    """Counts of pairings that leave K/2 indices free, for K ≤ 8, and the sum over even K."""
    counted = [matching_counts((False,) * K)[K // 2] for K in range(2, 2 * _COUNTED + 1, 2)]
    total = np.sum(g ** (power * np.arange(1, _TERMS)))
    closed = 1.0 if ones else factor * g**2 / (1 - g**2)
    return max(residual(counted, [count] * _COUNTED), residual(total, closed))
