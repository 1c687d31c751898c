"""The output that remains once W₀ is shuffled: (82)–(91)."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.statements.connectivity._shared import (
    LIMIT,
    coefficients,
    fit_radius,
    flow_series,
    inverse_of,
    is_limit,
    limit_network,
    output_of_change,
    third_factors,
)
from tacit.theory.connectivity import shuffled_loss, shuffled_output_series

_APART = "the shuffled inverse is independent of W₀, w and m, with mean I"


def _left_and_right(B: Array, w: Array, m: Array) -> tuple[Array, Array]:
    """The vectors on either side of a shuffled inverse, to third order."""
    left = [w, B @ m, B @ B.T @ w, B @ B.T @ B @ m]
    right = [m, B.T @ w, B.T @ B @ m, B.T @ B @ B.T @ w]
    return np.stack(left, axis=1), np.stack(right, axis=1)


def _shuffled_products(beta: float) -> Array:
    """Their scalar products for N → ∞, with NaN for those that only enter at higher order."""
    b, free = beta**2, np.nan
    return np.array([[0, 1, 0, b], [1, 0, b, 0], [0, b, 0, free], [b, 0, free, 0]])


def _shuffled(rng: np.random.Generator) -> dict[str, Any]:
    """A limit network, and an inverse with the scalar products of an independent one."""
    instance = limit_network(rng)
    W0, w, m = instance["W0"], instance["w"], instance["m"]
    B = inverse_of(W0)
    left, right = _left_and_right(B, w, m)
    wanted = _shuffled_products(1 / (1 - instance["g"] ** 2))
    wanted = np.where(np.isnan(wanted), rng.normal(size=wanted.shape), wanted)
    any_inverse = np.eye(len(W0)) + 0.3 * rng.normal(size=W0.shape)
    misses = wanted - left.T @ any_inverse @ right
    fitted = any_inverse + np.linalg.pinv(left.T) @ misses @ np.linalg.pinv(right)
    return {**instance, "shuffled": fitted}


def _unshuffled(rng: np.random.Generator) -> dict[str, Any]:
    instance = limit_network(rng)
    return {**instance, "shuffled": inverse_of(instance["W0"])}


def _is_apart(W0: Array, w: Array, m: Array, g: float, shuffled: Array) -> bool:
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    left, right = _left_and_right(B, w, m)
    gap = left.T @ shuffled @ right - _shuffled_products(beta)
    return bool(np.nanmax(np.abs(gap)) < 1e-8 * beta**4)


@statement(
    "connectivity/equation84",
    place="(82), (84)",
    words="after first-order learning until τ₁* = 1/β², shuffling W₀ leaves z = ẑ/β² and the loss "
    "L₀ g⁴(2 − g²)²",
    draw=_shuffled,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit, _APART: _is_apart},
    mutations=[{"fourth": 3.98}, {"two": 2.01}],
    without={_APART: _unshuffled},
)
def equation_84(
    W0: Array, w: Array, m: Array, g: float, target: float, shuffled: Array, *,
    fourth: float = 4.0, two: float = 2.0,
) -> float:  # fmt: skip
    """The output of the shuffled network with all of τ₁*W₁, and its loss divided by L₀."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    change = target / beta**2 * np.outer(B.T @ w, B @ m)
    z = w @ np.linalg.solve(np.eye(len(W0)) - shuffled @ change, shuffled @ m)
    loss = (target - z) ** 2 / target**2
    found = max(residual(z, target / beta**2), residual(loss, g**fourth * (two - g**2) ** 2))
    if (fourth, two) == (4.0, 2.0):
        found = max(found, residual(loss, shuffled_loss(g)))
    return found


def _gaussian_and_shuffled(rng: np.random.Generator) -> dict[str, Any]:
    size, g = 400, float(rng.uniform(0.2, 0.5))
    W0 = gaussian_matrix(rng, size, g)
    return {"W0": W0, "g": g, "W0s": rng.permutation(W0.ravel()).reshape(size, size)}


@statement(
    "connectivity/equation87",
    place="(83), (87)",
    words="once the entries of W₀ are shuffled, Tr(BˢBᵀ)/N = 1 and Tr(BBᵀBˢBᵀ)/N = β² for N → ∞: "
    "Bˢ acts as the identity",
    draw=_gaussian_and_shuffled,
    tolerance=5.0,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"power": 1.8}, {"first_power": 0.05}],
    instances=10,
)
def equation_87(
    W0: Array, g: float, W0s: Array, *, power: float = 2.0, first_power: float = 0.0
) -> float:
    """Traces at N = 400, in standard deviations.

    The standard deviation is at most √(g²/N) times the norm of the gradient with respect to both
    matrices (Poincaré's inequality, with the two taken as independent).
    """
    size, beta = len(W0), 1 / (1 - g**2)
    B, S = np.linalg.inv(np.eye(size) - W0), np.linalg.inv(np.eye(size) - W0s)
    T = B.T
    limits = [beta**first_power, beta**power]
    found = [np.trace(S @ T), np.trace(B @ T @ S @ T)]
    gradients = [
        (S @ T @ S, B @ S.T @ B),
        (S @ T @ B @ T @ S, B @ T @ S @ T @ B + (T @ B @ T @ S @ T + T @ S @ T @ B @ T).T),
    ]
    spreads = [g / np.sqrt(size) * np.linalg.norm(np.stack(pair)) for pair in gradients]
    gaps = [(f - size * limit) / s for f, limit, s in zip(found, limits, spreads, strict=True)]
    return residual(np.array(gaps), np.zeros(2), scale=1.0)


@statement(
    "connectivity/equation91",
    place="(85), (91)",
    words="after learning until τ, shuffling W₀ leaves "
    "z = (ẑ/β²)(τ̃ − τ̃²/2 + (1 + 2ẑ²(1 + 3/β))τ̃³/6) to third order",
    draw=_shuffled,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit, _APART: _is_apart},
    mutations=[{"two": 2.02}, {"three": 3.03}],
    without={_APART: _unshuffled},
)
def equation_91(
    W0: Array, w: Array, m: Array, g: float, target: float, shuffled: Array, *,
    two: float = 2.0, three: float = 3.0,
) -> float:  # fmt: skip
    """Coefficients of the shuffled network's output, with ΔW from the flow itself."""
    beta = 1 / (1 - g**2)
    z = output_of_change(shuffled, flow_series(W0, w, m, target, 3).W, w, m)
    third = (1 + two * target**2 * (1 + three / beta)) / 6
    found = residual(z, target * np.array([0, 1, -(beta**2) / 2, third * beta**4]))
    if (two, three) == (2.0, 3.0):
        tau = np.array([0.3, 1.0])
        series = shuffled_output_series(tau, target, g)
        found = max(found, residual(series, np.polyval(z[::-1], tau)))
    return found


@statement(
    "connectivity/equation86",
    place="(86), (88)–(90)",
    words="once W₀ is shuffled, to third order v₃ᵀBˢu₃ = 2a₃b₃β², v₃ᵀBˢû₃ = v̂₃ᵀBˢu₃ = a₃b̂₃β² and "
    "v̂₃ᵀBˢû₃ = 0; wᵀBˢu₃ = v₃ᵀBˢm = a₃ + c₃β², and both vanish for û₃, v̂₃",
    draw=_shuffled,
    tolerance=1e-6,
    hypotheses={LIMIT: is_limit, _APART: _is_apart},
    mutations=[{"two": 2.02}, {"power": 2.02}, {"mixed_power": 2.02}, {"row_power": 2.02}],
    without={_APART: _unshuffled},
)
def equation_86(
    W0: Array, w: Array, m: Array, g: float, target: float, shuffled: Array, *,
    two: float = 2.0, power: float = 2.0, mixed_power: float = 2.0, row_power: float = 2.0,
) -> float:  # fmt: skip
    """VᵀBˢU as a polynomial in τ; wᵀBˢU and VᵀBˢm at one time."""
    beta, reach = 1 / (1 - g**2), fit_radius(g, target)
    factors = third_factors(inverse_of(W0), w, m, beta, target)

    def core(tau: float) -> Array:
        U, V = factors(tau)
        return (V.T @ shuffled @ U).real

    found = coefficients(core, reach, 3)
    x = two * target**2 * beta ** (1 + power) / 2 * np.array([0, 0, 1, -(beta**2)])
    # a₃b̂₃ = τ²ẑ²β/√12 · √(1 − τβ²/2 + …)
    y = target**2 * beta ** (1 + mixed_power) / np.sqrt(12) * np.array([0, 0, 1, -(beta**2) / 4])
    expected = np.moveaxis(np.array([[x, y], [y, np.zeros(4)]]), -1, 0)
    units = (reach ** np.arange(4.0))[:, None, None]
    tau = 5 * reach  # chosen
    U, V = factors(tau)
    a = np.sqrt(
        complex(tau * target - tau**2 / 2 * target * beta**2 + tau**3 / 6 * target * beta**4)
    )
    rows = np.array([a + tau**3 / 6 * target**3 * beta**2 / a * beta**row_power, 0])
    return max(
        residual(found * units, expected * units, scale=float(abs(x[3] * reach**3))),
        residual([w @ shuffled @ U, V.T @ shuffled @ m], [rows, rows]),
    )
