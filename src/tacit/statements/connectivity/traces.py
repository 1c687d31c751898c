"""Traces of products of B = (I − J)⁻¹ and its transpose for a large Gaussian J: (92)–(95)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.statements.connectivity._shared import inverse_of
from tacit.theory.connectivity import traces

_TERMS = 48  # of each sum: g² ≤ 0.3 to this power is below rounding
_STABLE = {"g < 1": lambda g: g < 1}


def _gaussian_matrix(rng: np.random.Generator) -> dict[str, Any]:
    g = float(rng.uniform(0.3, 0.55))
    return {"J": gaussian_matrix(rng, 256, g), "g": g}


def _gap(trace: float, gradient: Array, g: float, limits: list[float]) -> float:
    """The distance of a trace from N times each limit, in bounds on its standard deviation.

    By Poincaré's inequality for Gaussian entries, the standard deviation is at most √(g²/N) times
    the norm of the gradient of the trace with respect to J.
    """
    size = len(gradient)
    spread = g / np.sqrt(size) * np.linalg.norm(gradient)
    return residual((trace - size * np.array(limits)) / spread, np.zeros(len(limits)), scale=1.0)


def _from_one(place: str, lost: str, right_in: str) -> Erratum:
    return Erratum(
        place=place,
        as_printed="the sums over powers of J start at 1",
        as_corrected=f"they start at 0: {lost} (checked at N = 256, in standard deviations)",
        constants={"first": 1},
        gravity="misprint",
        right_in=right_in,
    )


@statement(
    "connectivity/equation92",
    place="(92), (98)",
    words="Tr B/N = 1 for B = (I − J)⁻¹, J of independent N(0, g²/N) entries and N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 0.2}],
    instances=10,
)
def equation_92(J: Array, g: float, *, power: float = 0.0) -> float:
    """At N = 256, in standard deviations."""
    B = inverse_of(J)
    limits = [(1 - g**2) ** -power, *([traces(g).B] if power == 0 else [])]
    return _gap(np.trace(B), B @ B, g, limits)


@statement(
    "connectivity/equation93",
    place="(93)",
    words="Tr BBᵀ/N = β = Σ_{K≥0} g^{2K} for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 1.5}, {"first": 1}],
    errata=[_from_one("(108)", "the term K = L = 0 is I, and g²/(1 − g²) is not β", "(101)")],
    instances=10,
)
def equation_93(J: Array, g: float, *, power: float = 1.0, first: int = 0) -> float:
    """At N = 256, in standard deviations; the sum in (107) as well."""
    B = inverse_of(J)
    total = float(np.sum(g ** (2.0 * np.arange(first, _TERMS))))
    limits = [(1 - g**2) ** -power, total, *([traces(g).BBt] if power == 1 else [])]
    return _gap(np.trace(B @ B.T), 2 * B @ B.T @ B, g, limits)


@statement(
    "connectivity/equation94",
    place="(94)",
    words="Tr BBBᵀ/N = β² = Σ_M (M + 1) g^{2M} for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 1.5}, {"power": 2.5}, {"first": 1}],
    errata=[
        _from_one(
            "(109), first two lines",
            "the lines below do, where M + 1 counts K = 0 too",
            "the third line of (109)",
        )
    ],
    instances=10,
)
def equation_94(J: Array, g: float, *, power: float = 2.0, first: int = 0) -> float:
    """At N = 256, in standard deviations; the threefold sum as well."""
    B = inverse_of(J)
    T = B.T
    powers = np.arange(first, _TERMS)
    K, L, M = np.meshgrid(powers, powers, powers, indexing="ij")
    total = float(np.sum(np.where(K + L == M, g ** (2.0 * M), 0.0)))
    limits = [(1 - g**2) ** -power, total, *([traces(g).BBBt] if power == 2 else [])]
    gradient = B @ B @ T @ B + B @ T @ B @ B + B @ T @ T @ B
    return _gap(np.trace(B @ B @ T), gradient, g, limits)


@statement(
    "connectivity/equation95",
    place="(95)",
    words="Tr BBᵀBBᵀ/N = β⁴ for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 3.0}, {"power": 5.0}],
    instances=10,
)
def equation_95(J: Array, g: float, *, power: float = 4.0) -> float:
    """At N = 256, in standard deviations."""
    B = inverse_of(J)
    gram = B @ B.T
    limits = [(1 - g**2) ** -power, *([traces(g).BBtBBt] if power == 4 else [])]
    return _gap(np.sum(gram**2), 4 * gram @ gram @ B, g, limits)
