"""The readout at third order, and the case g = 0: (54)–(62), (64)."""

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


@statement(
    "connectivity/equation59",
    place="(55)–(60)",
    words="to third order I₂ − VᵀBU = [1 − x, −y; −y, 1] with x = 2a₃b₃β⁴ and y = a₃b̂₃β⁴, and "
    "[1 + x, y; y, 1] is its inverse",
    draw=limit_network,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit},
    mutations=[{"lower_left": "x"}, {"two": 2.02}],
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
    a = np.sqrt(complex(tau * target)) * _scales(tau, target, beta)[0]
    c = tau**3 / 6 * target**3 * beta**2 / a
    expected = np.array([a * beta**power + c * beta**gamma_power, 0])
    output = w @ np.linalg.solve(np.eye(len(w)) - W0 - (U @ V.T).real, m)
    core = one * np.eye(2) - V.T @ B @ U
    return max(
        residual([w @ B @ U, V.T @ B @ m], [expected, expected]),
        residual(output, (w @ B @ U @ np.linalg.solve(core, V.T @ B @ m)).real),
    )
