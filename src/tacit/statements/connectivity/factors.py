"""ΔW as a product of a few vectors, order by order: (35)–(53)."""

from collections.abc import Callable

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._shared import (
    LIMIT,
    coefficients,
    fit_radius,
    flow_series,
    inverse_of,
    is_limit,
    limit_network,
    overlapping_network,
    third_factors,
)

_RIGHT_ROW = "wᵀB in place of wᵀBᵀ, as in (35) and (47)"


def _second(
    B: Array, w: Array, m: Array, beta: float, target: float, transposed: bool, *,
    half: float = 0.5, cross: float = 0.5, power: float = 1.0,
) -> Callable[[float], tuple[Array, Array]]:  # fmt: skip
    """u₂ and v₂ of (37) as functions of τ. Where τẑ < 0 they are complex; all products are real."""
    row = B @ w if transposed else B.T @ w

    def factors(tau: float) -> tuple[Array, Array]:
        a = np.sqrt(complex(tau * target - half * tau**2 * target * beta**2))
        b = cross * tau**2 * target**2 * beta**power / a
        return B.T @ (a * w + b * B @ m), B @ (a * m + b * row)

    return factors


@statement(
    "connectivity/equation36",
    place="(35)–(38)",
    words="to second order ΔW is of rank one: u₂v₂ᵀ with u₂ = Bᵀ(a₂w + b₂Bm), "
    "v₂ᵀ = (a₂mᵀ + b₂wᵀB)Bᵀ, a₂² = τẑ − τ²ẑβ²/2 and a₂b₂ = τ²ẑ²β/2",
    draw=limit_network,
    tolerance=1e-8,
    hypotheses={LIMIT: is_limit},
    mutations=[{"transposed": True}, {"half": 0.505}, {"cross": 0.505}, {"power": 1.01}],
    without={LIMIT: overlapping_network},
    errata=[
        Erratum(
            place="(36), third line, and (37)",
            as_printed="v₂ᵀ = (a₂mᵀ + b₂wᵀBᵀ)Bᵀ",
            as_corrected=_RIGHT_ROW,
            constants={"transposed": True},
            gravity="misprint",
            right_in="(35), the second line of (36), (47)",
        )
    ],
)
def equation_36(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    transposed: bool = False, half: float = 0.5, cross: float = 0.5, power: float = 1.0,
) -> float:  # fmt: skip
    """The coefficients of the product against those of the flow."""
    factors = _second(
        inverse_of(W0), w, m, 1 / (1 - g**2), target, transposed,
        half=half, cross=cross, power=power,
    )  # fmt: skip
    reach = fit_radius(g, target)
    found = coefficients(lambda tau: np.outer(*factors(tau)).real, reach, 2)
    series = flow_series(W0, w, m, target, 2).W[1:]
    return max(residual(found[1], series[0]), residual(found[2], series[1]))


@statement(
    "connectivity/equation41",
    place="(39)–(41)",
    words="at second order wᵀBu₂ = v₂ᵀBm = a₂β, v₂ᵀBu₂ = 2a₂b₂β⁴ and z = a₂²β²",
    draw=limit_network,
    tolerance=1e-8,
    hypotheses={LIMIT: is_limit},
    mutations=[{"transposed": True}, {"gamma_power": 4.02}, {"beta_power": 1.01}],
    without={LIMIT: overlapping_network},
    errata=[
        Erratum(
            place="(41)",
            as_printed="v₂ᵀBu₂ = (a₂mᵀ + b₂wᵀBᵀ)BᵀBBᵀ(a₂w + b₂Bm) = 2a₂b₂γ",
            as_corrected=_RIGHT_ROW + "; then both terms are γ, as stated",
            constants={"transposed": True},
            gravity="misprint",
            right_in="(35), (47); its second line",
        )
    ],
)
def equation_41(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    transposed: bool = False, gamma_power: float = 4.0, beta_power: float = 1.0,
) -> float:  # fmt: skip
    """Scalar products of the vectors, and the output of the flow, as polynomials in τ."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    factors = _second(B, w, m, beta, target, transposed)

    def products(tau: float) -> Array:
        u, v = factors(tau)
        return np.array([v @ B @ u, (w @ B @ u) * (v @ B @ m)]).real

    reach = fit_radius(g, target)
    u, v = factors(reach)
    a = np.sqrt(complex(reach * target - reach**2 / 2 * target * beta**2))
    found = coefficients(products, reach, 2)
    twice = target**2 * beta ** (1 + gamma_power)
    output = np.array([0, target * beta**2, -target * beta**4 / 2])
    return max(
        residual([w @ B @ u, v @ B @ m], [a * beta**beta_power] * 2),
        residual(found[2, 0], twice),
        residual(found[:2, 0], np.zeros(2), scale=abs(target)),
        residual(found[:, 1], output),
        residual(flow_series(W0, w, m, target, 2).z, output),
    )


@statement(
    "connectivity/equation43",
    place="(42)–(53)",
    words="to third order ΔW = τW₁ + τ²W₂/2 + τ³W₃/6 is of rank two: u₃v₃ᵀ + û₃v̂₃ᵀ with the "
    "vectors (44)–(47) and the coefficients (48)–(52)",
    draw=limit_network,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit},
    mutations=[{"transposed": True}, {"last": 2}, {"hat": 12.1}, {"three": 3.03}, {"two": 2.02}],
    without={LIMIT: overlapping_network},
    errata=[
        Erratum(
            place="(43), first line",
            as_printed="the term of third order is τ³W₂/6",
            as_corrected="it is τ³W₃/6, as in the lines below",
            constants={"last": 2},
            gravity="misprint",
            right_in="the second line of (43), by (42)",
            glyph="the index of W in τ³W₂/6",
        ),
        Erratum(
            place="(43), last line but one, and (45)",
            as_printed="v₃ᵀ = (a₃mᵀ + b₃wᵀBᵀ + c₃mᵀBᵀB)Bᵀ",
            as_corrected=_RIGHT_ROW,
            constants={"transposed": True},
            gravity="misprint",
            right_in="(42), the second line of (43), (47)",
        ),
    ],
)
def equation_43(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    transposed: bool = False, last: int = 3, hat: float = 12.0, three: float = 3.0,
    two: float = 2.0,
) -> float:  # fmt: skip
    """The coefficients of the product and (42) against those of the flow, order by order."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    factors = third_factors(B, w, m, beta, target, transposed=transposed, hat=hat)

    def product(tau: float) -> Array:
        U, V = factors(tau)
        return (U @ V.T).real

    found = coefficients(product, fit_radius(g, target), 3)
    series = flow_series(W0, w, m, target, 3).W
    derivatives = {1: series[1], 2: 2 * series[2], 3: 6 * series[3]}
    expected = [derivatives[1], derivatives[2] / 2, derivatives[last] / 6]
    z, wm, mixed = target, np.outer(w, m), np.outer(w, w @ B) + np.outer(B @ m, m)
    inner = beta**2 * wm - three * z * beta * mixed + two * z**2 * np.outer(B @ m, w @ B)
    inner = inner + z**2 * (wm @ B.T @ B + B @ B.T @ wm)
    third = z * beta**2 * B.T @ inner @ B.T
    orders = [residual(found[k], expected[k - 1]) for k in (1, 2, 3)]
    return max(*orders, residual(derivatives[3], third))
