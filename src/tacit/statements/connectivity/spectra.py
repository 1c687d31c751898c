"""The singular values of ΔW at third order, from products of a few vectors: (72)–(75)."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._shared import (
    LIMIT,
    coefficients,
    fit_radius,
    inverse_of,
    is_limit,
    limit_network,
    overlapping_network,
    third_factors,
)


def _at_a_time(rng: np.random.Generator) -> dict[str, Any]:
    instance = limit_network(rng)
    return {**instance, "target": abs(instance["target"]), "time": float(rng.uniform(0.05, 0.5))}


def _overlapping(rng: np.random.Generator) -> dict[str, Any]:
    return {**_at_a_time(rng), **overlapping_network(rng), "target": 1.0}


@statement(
    "connectivity/equation72",
    place="(72)–(75)",
    words="to third order p = u₃ᵀu₃ = v₃ᵀv₃ = a²β + (b² + 2ac)γ with b² = τ³ẑ³β²/4, q = bb̂γ and "
    "r = b̂²γ; s² = (Tr P ± √((Tr P)² − 4|P|))/2",
    draw=_at_a_time,
    tolerance=1e-6,
    hypotheses={LIMIT: is_limit},
    mutations=[{"four": 4.04}, {"two": 2.02}, {"gamma_power": 4.04}, {"determinants": 4.04}],
    without={LIMIT: _overlapping},
)
def equation_72(
    W0: Array, w: Array, m: Array, g: float, target: float, time: float, *,
    four: float = 4.0, two: float = 2.0, gamma_power: float = 4.0, determinants: float = 4.0,
) -> float:  # fmt: skip
    """Products of the vectors as polynomials in τ, and the singular values of UVᵀ."""
    B, beta, z = inverse_of(W0), 1 / (1 - g**2), target
    factors, reach = third_factors(B, w, m, beta, z), fit_radius(g, z)
    gamma = beta**gamma_power

    def grams(tau: float) -> Array:
        return np.stack([(side.T @ side).real for side in factors(tau)])

    found = coefficients(grams, reach, 3)
    cube = z**3 * beta**2
    p = [0, z * beta, -z * beta**3 / 2, z * beta**5 / 6 + (cube / four + two * cube / 6) * gamma]
    off, last = cube / np.sqrt(4 * 12) * gamma, cube / 12 * gamma
    expected = np.zeros((4, 2, 2))
    expected[:, 0, 0] = p
    expected[3, 0, 1] = expected[3, 1, 0] = off
    expected[3, 1, 1] = last
    units = (reach ** np.arange(4.0))[:, None, None]
    scale = float(abs(p[3]) * reach**3)  # chosen
    U, V = (side.real for side in factors(time / beta**2))  # chosen: true at any time
    P = V.T @ V @ U.T @ U
    root = np.sqrt(np.trace(P) ** 2 - determinants * np.linalg.det(P))
    squares = np.linalg.svd(U @ V.T, compute_uv=False)[:2] ** 2
    return max(
        *(residual(found[:, side] * units, expected * units, scale=scale) for side in (0, 1)),
        residual((np.trace(P) + root) / 2, squares[0]),
        residual((np.trace(P) - root) / 2, squares[1]),
    )
