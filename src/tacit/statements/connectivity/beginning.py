"""The flow of a linear network, and its case without initial connectivity: (6), (10), (68)."""

from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._shared import (
    ORTHOGONAL,
    ORTHONORMAL,
    flow_series,
    orthonormal_vectors,
)
from tacit.theory.connectivity import change_series


def _any_network(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(1, 7))
    W = rng.normal(size=(size, size))
    return {
        "W": 0.7 * W / np.linalg.norm(W, 2),
        "w": rng.normal(size=size),
        "m": rng.normal(size=size),
        "target": float(rng.normal()),
        "steps": 240,
    }


@statement(
    "connectivity/equation6",
    place="(5), (6)",
    words="the state settles where the output is wᵀ(I − W)⁻¹m, and minus the gradient of ½(ẑ − z)² "
    "by W is (ẑ − z)(I − Wᵀ)⁻¹ w mᵀ (I − Wᵀ)⁻¹",
    draw=_any_network,
    tolerance=1e-10,
    hypotheses={"W is stable": lambda W: np.max(np.linalg.eigvals(W).real) < 1},
    mutations=[{"sign": -1.0}, {"transposed": False}],
)
def equation_6(
    W: Array, w: Array, m: Array, target: float, steps: int, *,
    sign: float = 1.0, transposed: bool = True,
) -> float:  # fmt: skip
    """Complex steps through the Euler recursion (17), run until it settles."""

    def loss(matrix: Array) -> Any:
        state = m * 0.0 + matrix[0] * 0.0
        for _ in range(steps):
            state = 0.5 * state + 0.5 * (matrix @ state + m)
        return 0.5 * (target - w @ state) ** 2

    B = np.linalg.inv(np.eye(len(W)) - W)
    side = B.T if transposed else B
    formula = sign * (target - w @ B @ m) * np.outer(side @ w, m @ side)
    return residual(-complex_step(loss, W), formula)


def _oblique(rng: np.random.Generator) -> dict[str, Any]:
    instance = orthonormal_vectors(rng)
    return {**instance, "m": 0.98 * instance["m"] + np.sqrt(1 - 0.98**2) * instance["w"]}


@statement(
    "connectivity/equation10",
    place="(8)–(10), (65)–(67)",
    words="without initial connectivity W₁ = ẑwmᵀ, ΔW = [w m] A [w m]ᵀ, and (10) are the entries "
    "of A to third order in τ",
    draw=orthonormal_vectors,
    tolerance=1e-12,
    hypotheses=ORTHONORMAL,
    mutations=[{"third": 2.02}, {"half": 0.505}, {"lower": 0.335}],
    without={ORTHOGONAL: _oblique},
)
def equation_10(
    w: Array,
    m: Array,
    target: float,
    *,
    half: float = 0.5,
    third: float = 2.0,
    lower: float = 1 / 3,
) -> float:
    """Coefficients of the flow of the whole matrix against (10) and the library's polynomial."""
    size = len(w)
    series = flow_series(np.zeros((size, size)), w, m, target, 3).W[1:]
    z = target
    diagonal = [0, half * z**2, -half * z**2]
    upper = [z, -z / 2, z / 6 * (1 + third * z**2)]
    frame = np.stack([w, m], axis=1)
    printed = np.array([[diagonal, upper], [[0, 0, lower * z**3], diagonal]])
    expected = np.einsum("ia,abk,jb->kij", frame, printed, frame)
    found = residual(series, expected)
    if (half, third, lower) == (0.5, 2.0, 1 / 3):
        tau = np.array([0.3, 0.7])
        values = np.einsum("kij,tk->tij", series, tau[:, None] ** np.arange(1, 4))
        library = frame @ change_series(tau, target) @ frame.T
        found = max(found, residual(values, library))
    return found


def _two_by_two(rng: np.random.Generator) -> dict[str, Any]:
    A = rng.normal(size=(2, 2))
    return {**orthonormal_vectors(rng), "A": A * rng.uniform(0.2, 0.8) / np.linalg.norm(A, 2)}


def _oblique_two_by_two(rng: np.random.Generator) -> dict[str, Any]:
    return {**_two_by_two(rng), **_oblique(rng)}


@statement(
    "connectivity/equation68",
    place="(68)–(70)",
    words="without initial connectivity the flow is dA/dτ = (ẑ − z)(I + Cᵀ)[1; 0][0 1](I + Cᵀ) "
    "with C = A(I − A)⁻¹, and the output is z = C₁₂",
    draw=_two_by_two,
    tolerance=1e-10,
    hypotheses=ORTHONORMAL,
    mutations=[{"one": 1.01}, {"inner": 1.01}, {"factor": 1.01}, {"transposed": False}],
    without={ORTHOGONAL: _oblique_two_by_two},
)
def equation_68(
    w: Array, m: Array, target: float, A: Array, *,
    one: float = 1.0, inner: float = 1.0, factor: float = 1.0, transposed: bool = True,
) -> float:  # fmt: skip
    """Complex steps through the loss of the whole network at W = [w m] A [w m]ᵀ."""
    frame, unit = np.stack([w, m], axis=1), np.eye(len(w))

    def output(matrix: Array) -> Any:
        return w @ np.linalg.solve(unit - matrix, m)

    W = frame @ A @ frame.T
    downhill = -complex_step(lambda matrix: 0.5 * (target - output(matrix)) ** 2, W)
    C = factor * A @ np.linalg.inv(np.eye(2) - inner * A)
    side = one * np.eye(2) + (C.T if transposed else C)
    rate = (target - C[0, 1]) * np.outer(side[:, 0], side[1])
    return max(residual(downhill, frame @ rate @ frame.T), residual(output(W), C[0, 1]))
