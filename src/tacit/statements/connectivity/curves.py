"""The learning curve of a linear network to third order: (12)–(15)."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.statements.connectivity._shared import (
    LIMIT,
    coefficients,
    flow_series,
    is_limit,
    limit_network,
    overlapping_network,
)
from tacit.theory.connectivity import (
    change_norm,
    gradient_norm,
    learning_time,
    output_series,
    singular_value_series,
    traces,
)


def _gaussian_with_vectors(rng: np.random.Generator) -> dict[str, Any]:
    size, g = 512, float(rng.uniform(0.2, 0.5))
    vectors = rng.normal(size=(2, size, 1200)) / np.sqrt(size)
    return {"W0": gaussian_matrix(rng, size, g), "g": g, "w": vectors[0], "m": vectors[1]}


@statement(
    "connectivity/equation12",
    place="(12), (28), (31)",
    words="for W₀ of independent N(0, g²/N) entries and N → ∞, wᵀBBᵀw and mᵀBᵀBm are "
    "β = 1/(1 − g²), and wᵀBm and mᵀBᵀBBᵀw vanish",
    draw=_gaussian_with_vectors,
    tolerance=5.0,
    hypotheses={"g < 1": lambda g: g < 1},
    mutations=[{"power": 1.1}, {"power": 0.9}],
    instances=8,
)
def equation_12(W0: Array, g: float, w: Array, m: Array, *, power: float = 1.0) -> float:
    """Means over 1,200 pairs of vectors at N = 512, in standard deviations.

    The spread due to the vectors is known. That of Tr BBᵀ is at most √(g²/N) times the norm of its
    gradient 2 BBᵀB (Poincaré's inequality for Gaussian entries).
    """
    size, count = w.shape
    B = np.linalg.inv(np.eye(size) - W0)
    right, left, cross = B.T @ w, B @ m, B @ B.T @ (B @ m)
    beta = traces(g).BBt if power == 1 else (1 - g**2) ** -power
    gram = B @ B.T
    sixth = np.sum((gram @ B) ** 2) / size  # chosen, like all that belongs to the deviations
    square = np.sum(gram**2) / size  # chosen: Tr BBᵀBBᵀ/N
    spread = 4 * g**2 * sixth / size**2  # chosen
    of_forms = np.sqrt(2 * square / (size * count) + spread)  # chosen
    of_first = np.sqrt(np.trace(gram) / size**2 / count)  # chosen
    found = [
        abs(np.mean(np.sum(right**2, axis=0)) - beta) / of_forms,
        abs(np.mean(np.sum(left**2, axis=0)) - beta) / of_forms,
        abs(np.mean(np.sum(w * left, axis=0))) / of_first,
        abs(np.mean(np.sum(w * cross, axis=0))) / np.sqrt(sixth / size / count),
    ]
    return residual(np.array(found), np.zeros(4), scale=1.0)


@statement(
    "connectivity/equation13",
    place="(11), (13), (30), (34)",
    words="to first order z = ẑβ²τ, so that learning would end at τ = 1/β², with ‖dW/dτ‖ = |ẑ|β "
    "and ‖ΔW‖ = |ẑ|/β",
    draw=limit_network,
    tolerance=1e-9,
    hypotheses={LIMIT: is_limit},
    mutations=[{"power": 2.02}, {"norm_power": 1.02}],
    without={LIMIT: overlapping_network},
)
def equation_13(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    power: float = 2.0, norm_power: float = 1.0,
) -> float:  # fmt: skip
    """The first coefficients of the flow, and the norm of the matrix."""
    series = flow_series(W0, w, m, target, 1)
    beta = 1 / (1 - g**2)
    found = max(
        residual(series.z, [0, target * beta**power]),
        residual(np.linalg.norm(series.W[1]), abs(target) * beta**norm_power),
    )
    if (power, norm_power) == (2.0, 1.0):
        found = max(found, residual(series.z[1], target / learning_time(g)))
        found = max(found, residual(np.linalg.norm(series.W[1]), gradient_norm(g, target)))
        change = np.linalg.norm(series.W[1]) * learning_time(g)
        found = max(found, residual(change, change_norm(g, target)))
    return found


def _change(series: Array, tau: float) -> Array:
    """(W(τ) − W₀)/τ."""
    return np.einsum("kij,k->ij", series[1:], tau ** np.arange(len(series) - 1.0))


@statement(
    "connectivity/equation14",
    place="(14), (80), (81)",
    words="the two largest singular values of ΔW are (14) to third order: s₁ begins linearly, s₂ "
    "with ẑ³τ̃³/12",
    draw=limit_network,
    tolerance=1e-7,
    hypotheses={LIMIT: is_limit},
    mutations=[{"third": 3.51}, {"second": 12.1}],
    without={LIMIT: overlapping_network},
)
def equation_14(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    third: float = 3.5, second: float = 12.0,
) -> float:  # fmt: skip
    """Singular values of the flow's series to order 12, expanded in τ in turn.

    They are fitted up to 0.03 of the natural time 1/β²max(1, |ẑ|√β). There the second one is below
    1e-4 of the first and still known to many digits.
    """
    size, beta = abs(target), 1 / (1 - g**2)
    radius = 0.03 / (beta**2 * max(1.0, size * np.sqrt(beta)))  # chosen
    series = flow_series(W0, w, m, target, 12).W

    def scaled(tau: float) -> Array:
        values = np.linalg.svd(_change(series, tau), compute_uv=False)[:2]
        return values / [1.0, (tau / radius) ** 2]

    found = coefficients(scaled, radius, 2, degree=9)
    scale = beta ** np.array([2.0, 4.0, 6.0])
    first = size / beta * scale * [1, -0.5, (1 + third * size**2 * beta) / 6]
    units = radius ** np.arange(3)
    expected_second = size**3 * beta**6 / second
    worst = max(
        residual(found[:, 0] * units, first * units, scale=float(first[2] * units[2])),
        residual(found[0, 1] / radius**2, expected_second),
    )
    if (third, second) == (3.5, 12.0):
        library = singular_value_series(radius, target, g)
        polynomial = [first @ radius ** np.arange(1.0, 4.0), expected_second * radius**3]
        worst = max(worst, residual(library[0], polynomial[0]), residual(library[1], polynomial[1]))
    return worst


@statement(
    "connectivity/equation15",
    place="(15), (63)",
    words="the output is ẑ(τ̃ − τ̃²/2 + (1 + 8ẑ²β)τ̃³/6) to third order in τ̃ = β²τ",
    draw=limit_network,
    tolerance=1e-9,
    hypotheses={LIMIT: is_limit},
    mutations=[{"eight": 7.9}, {"beta_power": 1.02}, {"second": -0.495}],
    without={LIMIT: overlapping_network},
)
def equation_15(
    W0: Array, w: Array, m: Array, g: float, target: float, *,
    eight: float = 8.0, beta_power: float = 1.0, second: float = -0.5,
) -> float:  # fmt: skip
    """The coefficients of the flow's output against (15) and the library's polynomial."""
    beta, z = 1 / (1 - g**2), flow_series(W0, w, m, target, 3).z
    third = (1 + eight * target**2 * beta**beta_power) / 6
    expected = target * np.array([0, beta**2, second * beta**4, third * beta**6])
    found = residual(z, expected)
    if (eight, beta_power, second) == (8.0, 1.0, -0.5):
        tau = np.array([0.3, 1.0])
        found = max(found, residual(output_series(tau, target, g), np.polyval(z[::-1], tau)))
    return found
