"""The limit of large networks: the spectrum of BBᵀ, and where the series in τ stops converging."""

import itertools
from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.theory.connectivity import exact_g0, large_n, learning_curve, limit_spectrum


@cache
def _planar(word: tuple[bool, ...]) -> int:
    """Count the non-crossing pairings of J with Jᵀ (True) in a word: the limit of E Tr(word)/N."""
    if not word:
        return 1
    return sum(
        _planar(word[1:place]) * _planar(word[place + 1 :])
        for place in range(1, len(word), 2)
        if word[place] != word[0]
    )


@cache
def _count_words(moment: int, half: int) -> int:
    """The coefficient of g^{2·half} in Tr (BBᵀ)^moment/N, by counting all words of that degree."""

    def splits() -> list[tuple[int, ...]]:
        whole = itertools.product(range(half + 1), repeat=moment)
        return [split for split in whole if sum(split) == half]

    total = 0
    for plain, gap_after_a_turn in itertools.product(splits(), repeat=2):
        pairs = zip(plain, gap_after_a_turn, strict=True)
        total += _planar(sum(((False,) * a + (True,) * b for a, b in pairs), ()))
    return total


def _strength_and_order(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "g": float(rng.uniform(0.1, 0.8)),
        "moment": int(rng.integers(1, 5)),
        "half": int(rng.integers(0, 5)),
    }


@statement(
    "ours/limit-moments",
    place="theory.connectivity.limit_spectrum",
    words="the moments of BBᵀ for N → ∞ are β, β⁴, β⁶(3β − 2) and β⁸(2β − 1)(6β − 5)",
    draw=_strength_and_order,
    tolerance=1e-9,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"three": 3.1, "two": 2.1}, {"six": 6.1}],
    loose={"np.pi / (nodes + 1)": "the weights of the quadrature are normalised afterwards"},
)
def limit_moments(
    g: float, moment: int, half: int, *, three: float = 3.0, two: float = 2.0, six: float = 6.0
) -> float:
    """A coefficient of each in powers of g² against a count of planar pairings; the quadrature."""
    powers = {  # of β, with their factors
        1: {1: 1.0},
        2: {4: 1.0},
        3: {7: three, 6: -two},
        4: {10: 2 * six, 9: -(10 + six), 8: 5.0},
    }[moment]
    coefficient = sum(f * comb(p + half - 1, half) for p, f in powers.items())
    beta = 1 / (1 - g**2)
    closed = sum(f * beta**p for p, f in powers.items())
    nodes, weights = limit_spectrum(g)
    return max(
        residual(_count_words(moment, half), coefficient),
        residual(weights @ nodes**-moment, closed),
    )


def _resolvent(rng: np.random.Generator) -> dict[str, Any]:
    g = float(rng.uniform(0.2, 0.8))
    return {"J": gaussian_matrix(rng, 256, g), "g": g, "zeta": float(-rng.uniform(0.05, 1.0))}


@statement(
    "ours/limit-spectrum",
    place="theory.connectivity.limit_spectrum",
    words="the resolvent M(ζ) = Tr((I − W₀)ᵀ(I − W₀) − ζ)⁻¹/N solves "
    "(1 − g²)M = 1 + ζM(1 + g²M)² for N → ∞",
    draw=_resolvent,
    tolerance=5.0,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"power": 1.8}, {"inner": 1.2}],
    instances=10,
)
def resolvent_of_the_limit(
    J: Array, g: float, zeta: float, *, power: float = 2.0, inner: float = 1.0
) -> float:
    """The resolvent of a Gaussian matrix at N = 256, in standard deviations.

    The standard deviation is at most √(g²/N) times the norm of the gradient (Poincaré's
    inequality). The root is found by bisection; the library's quadrature must agree to ten digits.
    """
    size = len(J)
    A = np.eye(size) - J
    R = np.linalg.inv(A.T @ A - zeta * np.eye(size))
    spread = g / np.sqrt(size) * np.linalg.norm(2 * A @ R @ R)  # chosen, as the deviation

    def cubic(M: float) -> float:
        return 1 + zeta * M * (1 + inner * g**2 * M) ** power - (1 - g**2) * M

    limit = brentq(cubic, 0.0, 1 / (1 - g**2), xtol=1e-14)
    nodes, weights = limit_spectrum(g)
    quadrature = np.sum(weights / (nodes - zeta))
    if (power, inner) == (2.0, 1.0) and residual(quadrature, limit) > 1e-10:
        return np.inf
    return residual((np.trace(R) - size * limit) / spread, 0.0, scale=1.0)


def _large_network(rng: np.random.Generator) -> dict[str, Any]:
    g = float(rng.uniform(0.3, 0.5))
    return {"J": gaussian_matrix(rng, 256, g), "g": g, "target": float(rng.uniform(0.5, 1.5))}


@statement(
    "ours/large-n",
    place="theory.connectivity.large_n",
    words="with each node of the limit spectrum taken twice, w on one copy and m on the other, "
    "the system of 2N-vectors gives the whole learning curve of a Gaussian network for N → ∞",
    draw=_large_network,
    tolerance=0.1,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"strength": 1.15}, {"strength": 0.8}],
    instances=5,
)
def large_network(J: Array, g: float, target: float, *, strength: float = 1.0) -> float:
    """The singular values of a Gaussian matrix at N = 256 in place of the nodes.

    w and m are spread evenly over them, as Gaussian vectors are on average. What remains are
    fluctuations of traces. Those of the learning time, about (Tr BBᵀ/N)⁻², have a standard
    deviation of at most 2% by Poincaré's inequality. The tolerance is five times that.
    """
    size = len(J)
    values = np.linalg.svd(np.eye(size) - J, compute_uv=False)
    even, none = np.full(size, size**-0.5), np.zeros(size)
    network = learning_curve(
        np.diag(1 - np.concatenate([values, values])),
        np.concatenate([even, none]), np.concatenate([none, even]), targets=target,
    )  # fmt: skip
    limit = large_n(strength * g, targets=target)
    end = network.learning_time()
    times = np.linspace(0.2, 1.2, 6) * end
    return max(
        residual(end, limit.learning_time()),
        residual(network.output(times), limit.output(times)),
        residual(network.singular_values(times)[:, 0], limit.singular_values(times)[:, 0]),
    )


@statement(
    "ours/radius",
    place="theory.connectivity.LearningCurve.radius_of_convergence",
    words="without initial connectivity the series of the learning curve in τ converges up to the "
    "nearest branch point, where z diverges: |τ| = 0.697, 0.421, 0.240 for ẑ = ½, 1, 2",
    draw=lambda rng: {"target": float(rng.uniform(0.3, 3.0))},
    tolerance=1e-6,
    mutations=[{"scale": 1.12}, {"scale": 0.97}],
    instances=10,
)
def radius(target: float, *, scale: float = 1.0) -> float:
    """The flow around circles in the complex plane of τ, 1% inside the radius and 1% outside.

    Inside, σ must return to its value. Outside it must not, because the circle goes around branch
    points. The three numbers are checked as well.
    """

    def speed(arc: Array) -> Array:
        D = 1 - arc * np.tanh(arc)
        return (target * D - np.tanh(arc)) / D**3

    def follow(slope: Callable[[float], complex], end: float, start: complex) -> complex:
        """σ after dσ/dt = slope(t) dσ/dτ."""
        found = solve_ivp(
            lambda t, arc: slope(t) * speed(arc), (0, end), [start], method="DOP853",
            rtol=1e-10, atol=1e-12,
        )  # fmt: skip
        return complex(found.y[0, -1])

    def gap_after_a_turn(length: float) -> float:
        """How much σ at τ = length changes after a turn around zero."""
        first = follow(lambda t: length, 1.0, 0j)
        return abs(follow(lambda t: 1j * length * np.exp(1j * t), 2 * np.pi, first) - first)

    length = scale * exact_g0(target).radius_of_convergence()
    known = [exact_g0(z).radius_of_convergence() for z in (0.5, 1.0, 2.0)]
    rounded = residual(np.round(known, 3), [0.697, 0.421, 0.240])
    return max(
        gap_after_a_turn(0.99 * length), float(gap_after_a_turn(1.01 * length) < 0.01), rounded
    )
