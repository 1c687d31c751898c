"""The first order of learning: (23)–(27), (32) and (33).

The change of W comes from a simulation of the flow with gradients by complex steps, which uses none
of the formulas that are checked.
"""

from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._shared import (
    LIMIT,
    coefficients,
    inverse_of,
    is_limit,
    limit_network,
    overlapping_network,
)

_NO_OUTPUT = "z₀ = wᵀBm = 0"
_REGULAR = "vᵀBu ≠ 1"


def _downhill(W: Array, w: Array, m: Array, target: float) -> Array:
    """Minus the gradient of ½(ẑ − wᵀ(I − W)⁻¹m)² by W, by complex steps."""

    def loss(matrix: Array) -> Any:
        return 0.5 * (target - w @ np.linalg.solve(np.eye(len(w)) - matrix, m)) ** 2

    return -complex_step(loss, W)


def _change(W0: Array, w: Array, m: Array, target: float, tau: float) -> Array:
    """W(τ) − W₀, by one step of the classical method of order four."""
    first = _downhill(W0, w, m, target)
    second = _downhill(W0 + tau / 2 * first, w, m, target)  # chosen, as all of the method
    third = _downhill(W0 + tau / 2 * second, w, m, target)  # chosen
    fourth = _downhill(W0 + tau * third, w, m, target)
    return tau / 6 * (first + 2 * second + 2 * third + fourth)


def _silent_network(rng: np.random.Generator) -> dict[str, Any]:
    """A random network whose output is zero at the start."""
    instance = _speaking_network(rng)
    state, w = inverse_of(instance["W0"]) @ instance["m"], instance["w"]
    return {**instance, "w": w - state * (state @ w) / (state @ state)}


def _speaking_network(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 5))
    W0 = rng.normal(size=(size, size))
    return {
        "W0": W0 * rng.uniform(0.2, 0.7) / np.linalg.norm(W0, 2),
        "w": rng.normal(size=size),
        "m": rng.normal(size=size),
        "target": float(rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0)),
    }


@statement(
    "connectivity/equation24",
    place="(23)–(26)",
    words="to first order in τ, ΔW = τW₁ = u₁v₁ᵀ with W₁ = ẑBᵀwmᵀBᵀ, u₁ = a₁Bᵀw, v₁ᵀ = a₁mᵀBᵀ "
    "and a₁² = τẑ",
    draw=_silent_network,
    tolerance=1e-6,
    hypotheses={_NO_OUTPUT: lambda W0, w, m: abs(w @ inverse_of(W0) @ m) < 1e-10},
    mutations=[{"amplitude": 1.01}, {"transposed": False}, {"power": 1.01}],
    without={_NO_OUTPUT: _speaking_network},
)
def equation_24(
    W0: Array, w: Array, m: Array, target: float, *,
    amplitude: float = 1.0, transposed: bool = True, power: float = 1.0,
) -> float:  # fmt: skip
    """The change along a simulated flow, expanded in τ: nothing at order 0, u₁v₁ᵀ/τ at order 1."""
    B = inverse_of(W0)
    side = B.T if transposed else B
    size = np.linalg.norm(B, 2)
    reach = 0.01 / (size**4 * (1 + (w @ w) * (m @ m)) * (1 + abs(target)))  # chosen
    found = coefficients(lambda tau: _change(W0, w, m, target, tau), reach, 1, degree=5)
    square = amplitude * np.sign(target) * abs(target) ** power  # of a₁, divided by τ
    first = square * np.outer(side @ w, m @ side)
    return max(
        residual(found[1], first),
        residual(found[1], target * np.outer(side @ w, m @ side)),
        residual(found[0], np.zeros_like(W0), scale=reach * float(np.max(np.abs(first)))),
    )


def _perturbed(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(1, 8))
    W0 = rng.normal(size=(size, size))
    return {
        "W0": W0 * rng.uniform(0.2, 0.8) / np.linalg.norm(W0, 2),
        "u": rng.normal(size=size) / np.sqrt(size),
        "v": rng.normal(size=size) / np.sqrt(size),
    }


@statement(
    "connectivity/equation27",
    place="(27)",
    words="(I − W₀ − uvᵀ)⁻¹ = B + Buvᵀ B/(1 − vᵀBu): the matrix inversion lemma",
    draw=_perturbed,
    tolerance=1e-9,
    hypotheses={_REGULAR: lambda W0, u, v: abs(1 - v @ inverse_of(W0) @ u) > 1e-3},
    mutations=[{"one": 1.01}, {"sign": 1.0}, {"factor": 1.01}],
)
def equation_27(
    W0: Array, u: Array, v: Array, *, one: float = 1.0, sign: float = -1.0, factor: float = 1.0
) -> float:
    """Linear systems with the whole matrix, for each unit vector, against the sum."""
    size = len(W0)
    whole = np.eye(size) - W0 - np.outer(u, v)
    columns = np.stack([np.linalg.solve(whole, unit) for unit in np.eye(size)], axis=1)
    B = inverse_of(W0)
    product = np.outer(B @ u, v @ B)
    return residual(columns, B + factor * product / (one + sign * (v @ B @ u)))


@statement(
    "connectivity/equation33",
    place="(32), (33)",
    words="W₁W₁ᵀ = ẑ²BᵀwmᵀBᵀBmwᵀB is of rank one, and its only eigenvalue s² = ẑ²β² is its trace",
    draw=limit_network,
    tolerance=1e-8,
    hypotheses={LIMIT: is_limit},
    mutations=[{"power": 2.02}, {"target_power": 2.02}, {"factor": 1.01}],
    without={LIMIT: overlapping_network},
)
def equation_33(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    power: float = 2.0, target_power: float = 2.0, factor: float = 1.0,
) -> float:  # fmt: skip
    """The first step of the flow by complex steps: its square, eigenvalues and trace."""
    B, beta = inverse_of(W0), 1 / (1 - g**2)
    change = _downhill(W0, w, m, target)
    square = change @ change.T
    scale = abs(target) ** target_power
    printed = factor * scale * np.outer(B.T @ w, w @ B) * (m @ B.T @ B @ m)
    values = np.linalg.eigvalsh(square)
    single = np.zeros(len(W0))
    single[-1] = scale * beta**power
    return max(
        residual(square, printed),
        residual(values, single),
        residual(np.trace(square), single[-1]),
    )
