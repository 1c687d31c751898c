"""Traces of products of B = (I − J)⁻¹ and its transpose for a large Gaussian J: (92)–(95)."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.statements.connectivity._shared import inverse_of
from tacit.theory.connectivity import traces

_SIZE = 400
_STABLE = {"g < 1": lambda g: g < 1}


def _gaussian_matrix(rng: np.random.Generator) -> dict[str, Any]:
    g = float(rng.uniform(0.1, 0.8))
    return {"J": gaussian_matrix(rng, _SIZE, g), "g": g}


def _gap(trace: float, gradient: Array, g: float, limits: list[float]) -> float:
    """The distance of a trace from N times each limit, in bounds on its standard deviation.

    By Poincaré's inequality for Gaussian entries, the standard deviation is at most √(g²/N) times
    the norm of the gradient of the trace with respect to J.
    """
    size = len(gradient)
    spread = g / np.sqrt(size) * np.linalg.norm(gradient)
    return residual((trace - size * np.array(limits)) / spread, np.zeros(len(limits)), scale=1.0)


@statement(
    "connectivity/equation92",
    place="(92), (98)",
    words="Tr B/N = 1 for B = (I − J)⁻¹, J of independent N(0, g²/N) entries and N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"limit": 1.03}, {"limit": 0.97}],
    instances=10,
)
def equation_92(J: Array, g: float, *, limit: float = 1.0) -> float:
    """At N = 400, in standard deviations."""
    B = inverse_of(J)
    limits = [limit, *([traces(g).B] if limit == 1 else [])]
    return _gap(np.trace(B), B @ B, g, limits)


@statement(
    "connectivity/equation93",
    place="(93)",
    words="Tr BBᵀ/N = β = 1/(1 − g²) for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 1.1}, {"power": 0.9}],
    instances=10,
)
def equation_93(J: Array, g: float, *, power: float = 1.0) -> float:
    """At N = 400, in standard deviations."""
    B = inverse_of(J)
    limits = [(1 - g**2) ** -power, *([traces(g).BBt] if power == 1 else [])]
    gradient = 2 * B @ (B.T @ B)  # chosen, as part of the deviation
    return _gap(np.sum(B**2), gradient, g, limits)


@statement(
    "connectivity/equation94",
    place="(94)",
    words="Tr BBBᵀ/N = β² for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 1.8}, {"power": 2.2}],
    instances=10,
)
def equation_94(J: Array, g: float, *, power: float = 2.0) -> float:
    """At N = 400, in standard deviations."""
    B = inverse_of(J)
    square, right, left = B @ B, B @ B.T, B.T @ B
    limits = [(1 - g**2) ** -power, *([traces(g).BBBt] if power == 2 else [])]
    gradient = square @ left + right @ (square + left)
    return _gap(np.sum(square * B), gradient, g, limits)


@statement(
    "connectivity/equation95",
    place="(95)",
    words="Tr BBᵀBBᵀ/N = β⁴ for N → ∞",
    draw=_gaussian_matrix,
    tolerance=5.0,
    hypotheses=_STABLE,
    mutations=[{"power": 3.6}, {"power": 4.4}],
    instances=10,
)
def equation_95(J: Array, g: float, *, power: float = 4.0) -> float:
    """At N = 400, in standard deviations."""
    B = inverse_of(J)
    gram = B @ B.T
    limits = [(1 - g**2) ** -power, *([traces(g).BBtBBt] if power == 4 else [])]
    gradient = 4 * gram @ gram @ B  # chosen, as part of the deviation
    return _gap(np.sum(gram**2), gradient, g, limits)
