"""The singular values of ΔW at third order: (71)–(79)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
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

_ALIKE = "w and m have the same moments"


def _unlike(rng: np.random.Generator) -> dict[str, Any]:
    instance = limit_network(rng)
    return {**instance, "target": abs(instance["target"]), "time": float(rng.uniform(0.05, 0.5))}


def _overlapping(rng: np.random.Generator) -> dict[str, Any]:
    return {**_unlike(rng), **overlapping_network(rng), "target": 1.0}


def _early_network(rng: np.random.Generator) -> dict[str, Any]:
    instance = limit_network(rng, alike=True)
    return {**instance, "target": abs(instance["target"]), "time": float(rng.uniform(0.05, 0.5))}


def _same_moments(W0: Array, w: Array, m: Array) -> bool:
    inverse = inverse_of(W0)
    U, values, Vt = np.linalg.svd(inverse)
    powers = values[:, None] ** (2.0 * np.arange(6))
    return residual((U.T @ w) ** 2 @ powers, (Vt @ m) ** 2 @ powers) < 1e-9


@statement(
    "connectivity/equation71",
    place="(71), (76), (77)",
    words="the squared singular values of UVᵀ are the eigenvalues of P = [p q; q r]² = "
    "[p² + q², q(p + r); q(p + r), q² + r²], whose determinant is (pr − q²)²",
    draw=_early_network,
    tolerance=1e-9,
    hypotheses={LIMIT: is_limit, _ALIKE: _same_moments},
    mutations=[{"outer": 2}, {"inner": 1}],
    without={_ALIKE: _unlike},
    errata=[
        Erratum(
            place="(71)",
            as_printed="P = [p q; q r]² = [p² + q², q(p + r); q(p + r), q² + r²]², squared again",
            as_corrected="no square outside the last matrix, which is already the square",
            constants={"outer": 2},
            gravity="misprint",
            right_in="the first form in (71); (76), (77)",
            glyph="the exponent outside the last matrix",
        )
    ],
)
def equation_71(
    W0: Array, w: Array, m: Array, g: float, target: float, time: float, *,
    outer: int = 1, inner: int = 2,
) -> float:  # fmt: skip
    """The product VᵀV UᵀU and the singular values of UVᵀ against both forms."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)  # chosen: true for the factors of any β and τ
    U, V = (side.real for side in third_factors(B, w, m, beta, target)(time / beta**2))  # chosen
    P = V.T @ V @ U.T @ U
    (p, q), (_, r) = U.T @ U
    square = np.array([[p**2 + q**2, q * (p + r)], [q * (p + r), q**2 + r**2]])
    singular = np.linalg.svd(U @ V.T, compute_uv=False)[:2]
    # Symmetric functions, because the eigenvalues of P differ by orders of magnitude.
    return max(
        residual(P, np.linalg.matrix_power(square, outer)),
        residual(P, np.linalg.matrix_power(np.array([[p, q], [q, r]]), inner)),
        residual(np.trace(P), np.sum(singular**2)),
        residual((p * r - q**2) ** 2, np.prod(singular**2)),
    )


@statement(
    "connectivity/equation72",
    place="(72)–(75)",
    words="to third order p = u₃ᵀu₃ = v₃ᵀv₃ = a²β + (b² + 2ac)γ with b² = τ³ẑ³β²/4, q = bb̂γ and "
    "r = b̂²γ; s² = (Tr P ± √((Tr P)² − 4|P|))/2",
    draw=_unlike,
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
    scale = float(abs(p[3]) * reach**3)
    U, V = (side.real for side in factors(time / beta**2))
    P = V.T @ V @ U.T @ U
    root = np.sqrt(np.trace(P) ** 2 - determinants * np.linalg.det(P))
    squares = np.linalg.svd(U @ V.T, compute_uv=False)[:2] ** 2
    return max(
        *(residual(found[:, side] * units, expected * units, scale=scale) for side in (0, 1)),
        residual((np.trace(P) + root) / 2, squares[0]),
        residual((np.trace(P) - root) / 2, squares[1]),
    )


def _very_early_network(rng: np.random.Generator) -> dict[str, Any]:
    instance = _early_network(rng)
    beta = 1 / (1 - instance["g"] ** 2)
    natural = 1 / max(1.0, instance["target"] * np.sqrt(beta))
    return {**instance, "time": float(rng.uniform(0.02, 0.05)) * natural}


def _late_network(rng: np.random.Generator) -> dict[str, Any]:
    return {**_very_early_network(rng), "time": float(rng.uniform(1.0, 1.5))}


@statement(
    "connectivity/equation78",
    place="(78), (79)",
    words="for small τ the squared singular values of UVᵀ are Tr P − |P|/Tr P and |P|/Tr P",
    draw=_very_early_network,
    tolerance=1e-4,  # the relative error of both is |P|/(Tr P)², of fourth order in τ
    hypotheses={LIMIT: is_limit, "τ is small": lambda time: time < 0.1},
    mutations=[{"first": 1.01}, {"second": 1.01}, {"power": 1.001}],
    without={"τ is small": _late_network},
)
def equation_78(
    W0: Array, w: Array, m: Array, g: float, target: float, time: float, *,
    first: float = 1.0, second: float = 1.0, power: float = 1.0,
) -> float:  # fmt: skip
    """Singular values of the product UVᵀ: their excess over Tr P for s₊, s₋² itself for s₋."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    U, V = (side.real for side in third_factors(B, w, m, beta, target)(time / beta**2))
    P = V.T @ V @ U.T @ U
    # The determinant from a QR decomposition: the two products are nearly singular.
    root = np.prod(np.abs([np.diag(np.linalg.qr(side)[1]) for side in (U, V)]))
    ratio = root**2 / np.trace(P) ** power
    high, low = np.linalg.svd(U @ V.T, compute_uv=False)[:2] ** 2
    return max(residual(np.trace(P) - high, first * ratio), residual(low, second * ratio))
