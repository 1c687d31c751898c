"""The spectrum of (I − W₀)ᵀ(I − W₀) for a large Gaussian W₀, as nodes and weights.

Its resolvent M(ζ) = ∫ ρ(t) dt / (t − ζ) solves the cubic equation (not in the paper)

    (1 − g²) M = 1 + ζ M (1 + g² M)²,

whose expansion at ζ = 0 gives the moments β, β⁴, β⁶(3β − 2), … of BBᵀ, and whose imaginary part on
the real axis gives the density πρ.
"""

from typing import NamedTuple, SupportsFloat

import numpy as np
from jaxtyping import Float

from tacit._doors import door, number, whole
from tacit.theory.connectivity._checks import checked_strength


class LimitSpectrum(NamedTuple):
    """Squared singular values t of I − W₀ and their weights, which add up to 1."""

    nodes: Float[np.ndarray, " nodes"]
    weights: Float[np.ndarray, " nodes"]


@door(g=number(0, below=1), nodes=whole(1, 10_000))
def limit_spectrum(g: SupportsFloat, *, nodes: int = 200) -> LimitSpectrum:
    """A quadrature for averages over the squared singular values of I − W₀, N → ∞.

    In ln t = c + h cos θ the density has the square-root edges of a semicircle, so that the
    trapezoidal rule in θ converges geometrically. At g = 0 there is one node, t = 1.
    """
    strength = checked_strength(g)
    if not isinstance(nodes, int | np.integer) or nodes < 1:
        raise ValueError(f"nodes: received {nodes!r}, it must be an integer, at least 1")
    if strength**2 < np.finfo(np.float64).eps:  # the nodes are 1 to rounding
        return LimitSpectrum(np.ones(1), np.ones(1))
    low, high = (np.log(edge) for edge in spectrum_edges(strength))
    angles = np.pi * np.arange(1, nodes + 1) / (nodes + 1)
    half = (high - low) / 2
    t = np.exp((high + low) / 2 + half * np.cos(angles))
    weights = np.pi / (nodes + 1) * half * np.sin(angles) * t * _density(t, strength)
    return LimitSpectrum(t, weights / weights.sum())


def spectrum_edges(g: float) -> tuple[float, float]:
    """The smallest and the largest squared singular value of I − W₀, N → ∞, 0 < g < 1.

    ζ(M) from the cubic is stationary there: (1 − g²)·2g² M² − (1 + 3g² M) = 0.
    """
    square = g**2
    stationary = np.roots([2 * square * (1 - square), -3 * square, -1.0])
    found = ((1 - square) * stationary - 1) / (stationary * (1 + square * stationary) ** 2)
    return float(found.min()), float(found.max())


def _density(t: np.ndarray, g: float) -> np.ndarray:
    """ρ(t) from the complex root u = g²M of t u³ + 2t u² + (t − 1 + g²) u + g² = 0."""
    square = g**2
    # One companion matrix a node: the roots of all cubics in one call.
    companion = np.zeros((len(t), 3, 3))
    companion[:, 1, 0] = companion[:, 2, 1] = 1.0
    companion[:, 0, 2] = -square / t
    companion[:, 1, 2] = -(t - 1 + square) / t
    companion[:, 2, 2] = -2.0
    return np.linalg.eigvals(companion).imag.max(axis=1) / (np.pi * square)
