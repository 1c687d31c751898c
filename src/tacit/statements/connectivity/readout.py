"""The readout at third order, the case g = 0, and the matrix of singular values: (54)–(79)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._shared import (
    LIMIT,
    ORTHONORMAL,
    coefficients,
    fit_radius,
    flow_series,
    inverse_of,
    is_limit,
    limit_network,
    orthonormal_vectors,
    overlapping_network,
    third_factors,
)

_ALIKE = "w and m have the same moments"


@statement(
    "connectivity/equation59",
    place="(55)–(60)",
    words="to third order I₂ − VᵀBU = [1 − x, −y; −y, 1] with x = 2a₃b₃β⁴ and y = a₃b̂₃β⁴, and "
    "[1 + x, y; y, 1] is its inverse",
    draw=limit_network,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit},
    mutations=[{"lower_left": "x"}, {"two": 2.02}],
    loose={"tau**2 * beta**4 / 6": "the third term of a₃² enters y at the fourth order only"},
    without={LIMIT: overlapping_network},
    errata=[
        Erratum(
            place="(59)",
            as_printed="the lower left entry is −x",
            as_corrected="it is −y = −v̂₃ᵀBu₃, by (57); (60) is right",
            constants={"lower_left": "x"},
            gravity="misprint",
            right_in="(57), (60)",
            glyph="the letter x in the lower left corner",
        )
    ],
)
def equation_59(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    lower_left: str = "y", two: float = 2.0,
) -> float:  # fmt: skip
    """Both matrices as polynomials in τ: their terms of order τ² and τ³."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    factors, reach = third_factors(B, w, m, beta, target), fit_radius(g, target)

    def matrices(tau: float) -> Array:
        U, V = factors(tau)
        core = np.eye(2) - V.T @ B @ U
        return np.stack([core, np.linalg.inv(core)]).real

    def xy(tau: float) -> Array:
        (a, small) = (np.sqrt(complex(tau * target)) * s for s in _scales(tau, target, beta))
        x = two * (tau**2 - tau**3 * beta**2) * target**2 * beta / 2 * beta**4
        return np.array([x, (a * small).real * beta**4])

    found = coefficients(matrices, reach, 3)
    x, y = coefficients(xy, reach, 3).T
    low = x if lower_left == "x" else y
    none = np.zeros(4)
    core = np.moveaxis(np.array([[-x, -y], [-low, none]]), -1, 0)
    inverse = np.moveaxis(np.array([[x, y], [y, none]]), -1, 0)
    units = (reach ** np.arange(4.0))[:, None, None]
    scale = float(np.max(np.abs(x * units[:, 0, 0])))
    identity = np.zeros((4, 2, 2))
    identity[0] = np.eye(2)
    return max(
        residual(found[:, 0] * units, (identity + core) * units, scale=scale),
        residual(found[:, 1] * units, (identity + inverse) * units, scale=scale),
    )


def _scales(tau: float, target: float, beta: float) -> tuple[complex, complex]:
    """a₃ and b̂₃ divided by √(τẑ): (48) and (52)."""
    a = np.sqrt(complex(1 - tau * beta**2 / 2 + tau**2 * beta**4 / 6))
    return a, complex(tau * target * beta / np.sqrt(12))


@statement(
    "connectivity/equation64",
    place="(64)",
    words="without initial connectivity the coefficients in ΔW are τẑ − τ²ẑ/2 + τ³(ẑ + 2ẑ³)/6 "
    "of wmᵀ, (τ² − τ³)ẑ²/2 of wwᵀ + mmᵀ and τ³ẑ³/3 of mwᵀ",
    draw=orthonormal_vectors,
    tolerance=1e-12,
    hypotheses=ORTHONORMAL,
    mutations=[{"linear": 1 / 2}, {"cubic": 0.34}],
    errata=[
        Erratum(
            as_printed="the third-order coefficient of wmᵀ is τ³ẑ/2",
            as_corrected="it is τ³(ẑ + 2ẑ³)/6, as in (66): wmᵀ occurs in three places of (43)",
            constants={"linear": 1 / 2, "cubic": 0.0},
            gravity="misprint",
            right_in="(43) with B = I, (66)",
        )
    ],
)
def equation_64(
    w: Array, m: Array, target: float, *, linear: float = 1 / 6, cubic: float = 1 / 3
) -> float:
    """Each coefficient of the flow of the whole matrix."""
    z, wm = target, np.outer(w, m)
    both = np.outer(w, w) + np.outer(m, m)
    expected = [
        z * wm,
        -z / 2 * wm + z**2 / 2 * both,
        (linear * z + cubic * z**3) * wm - z**2 / 2 * both + z**3 / 3 * wm.T,
    ]
    series = flow_series(np.zeros_like(wm), w, m, target, 3).W[1:]
    return max(residual(series[k], expected[k]) for k in range(3))


@statement(
    "connectivity/equation61",
    place="(54), (61), (62)",
    words="at third order z = wᵀBU(I₂ − VᵀBU)⁻¹VᵀBm, with wᵀBu₃ = v₃ᵀBm = a₃β + c₃β⁴ and "
    "wᵀBû₃ = v̂₃ᵀBm = 0",
    draw=limit_network,
    tolerance=1e-8,
    hypotheses={LIMIT: is_limit},
    mutations=[{"power": 1.01}, {"gamma_power": 4.04}, {"one": 1.01}],
    without={LIMIT: overlapping_network},
)
def equation_61(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    power: float = 1.0, gamma_power: float = 4.0, one: float = 1.0,
) -> float:  # fmt: skip
    """Products of the vectors at one time, and the output of the network with W₀ + UVᵀ."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    tau = 5 * fit_radius(g, target)  # chosen
    U, V = third_factors(B, w, m, beta, target)(tau)
    series = tau - tau**2 / 2 * beta**2 + tau**3 / 6 * beta**4
    a = np.sqrt(complex(target * series))
    c = tau**3 / 6 * target**3 * beta**2 / a
    expected = np.array([a * beta**power + c * beta**gamma_power, 0])
    output = w @ np.linalg.solve(np.eye(len(w)) - W0 - (U @ V.T).real, m)
    core = one * np.eye(2) - V.T @ B @ U
    return max(
        residual([w @ B @ U, V.T @ B @ m], [expected, expected]),
        residual(output, (w @ B @ U @ np.linalg.solve(core, V.T @ B @ m)).real),
    )


def _unlike(rng: np.random.Generator) -> dict[str, Any]:
    instance = limit_network(rng)
    return {**instance, "target": abs(instance["target"])}


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
    without={_ALIKE: lambda rng: {**_early_network(rng), **_unlike(rng)}},
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
    B, beta = inverse_of(W0), 1 / (1 - g**2)  # chosen: true for the factors of any β and τ
    U, V = (side.real for side in third_factors(B, w, m, beta, target)(time / beta**2))  # chosen
    P = V.T @ V @ U.T @ U
    # The determinant from a QR decomposition: the two products are nearly singular.
    root = np.prod(np.abs([np.diag(np.linalg.qr(side)[1]) for side in (U, V)]))
    ratio = root**2 / np.trace(P) ** power
    high, low = np.linalg.svd(U @ V.T, compute_uv=False)[:2] ** 2
    return max(residual(np.trace(P) - high, first * ratio), residual(low, second * ratio))
