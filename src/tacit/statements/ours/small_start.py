"""What gradient flow from a small start finds below the threshold: Gauss quadrature."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.ours._shared import BELOW, draw_teacher, exact_moments, jacobi, moment_of

_SMALL = "the start is small"
_FURTHER = 5  # lags beyond the fitted ones


def _small_start(rng: np.random.Generator, scale: float = 1e-4) -> dict[str, Any]:
    """A teacher, and a student of width 4 near zero with a symmetric A and C = Bᵀ."""
    rule = int(rng.integers(1, 3))
    A = scale * rng.normal(size=(4, 4))
    return {
        **draw_teacher(rng, rule + int(rng.integers(1, 3))),
        "rule": rule,
        "A": (A + A.T) / 2,
        "B": scale * rng.normal(size=4),
    }


def _responses(A: Array, B: Array, length: int) -> tuple[Array, Array]:
    """A^j B and Bᵀ A^j B for j < length."""
    states = [B]
    for _ in range(length - 1):
        states.append(A @ states[-1])
    return np.stack(states), np.stack(states) @ B


def _end_of_flow(A: Array, B: Array, target: Array) -> tuple[Array, Array]:
    """The end of gradient flow on half the squared error of the first lags."""
    width, length = len(B), len(target)

    def motion(_: float, state: Array) -> Array:
        matrix, vector = state[: width**2].reshape(width, width), state[width**2 :]
        states, response = _responses(matrix, vector, length)
        error = response - target
        change = np.zeros((width, width))
        for j in range(1, length):
            change += error[j] * states[:j].T @ states[:j][::-1]
        return -np.concatenate([change.ravel(), 2 * error @ states])

    start = np.concatenate([A.ravel(), B])
    last = solve_ivp(motion, (0, 1e6), start, method="LSODA", rtol=1e-8, atol=1e-12).y[:, -1]
    return last[: width**2].reshape(width, width), last[width**2 :]


@statement(
    "ours/gauss-flow",
    place="lowdim/fig4, the limit of flow from a small start",
    words="from a start of size ε, gradient flow of a balanced student on 2n < 2d̂ lags ends at the "
    "Gauss rule with n nodes of the teacher's measure, up to O(ε²): later lags are the rule's",
    draw=_small_start,
    tolerance=1e-5,
    hypotheses={
        BELOW: lambda nodes, rule: rule < len(nodes),
        _SMALL: lambda A, B: max(np.abs(A).max(), np.abs(B).max()) < 1e-3,
    },
    mutations=[{"nodes_more": 1}],
    loose={"2 * error @ states": "the rate of B against that of A does not move the limit"},
    without={_SMALL: lambda rng: _small_start(rng, 0.3)},
    instances=10,
)
def gauss_flow(
    nodes: Array, weights: Array, rule: int, A: Array, B: Array, *, nodes_more: int = 0
) -> float:
    """The flow of all parameters by LSODA; the rule by Lanczos' method on the teacher's atoms.

    The start has size 1e-4, and the tolerance is a thousand times its square.
    """
    mass = float(np.sum(weights))
    target = np.array([float(moment) for moment in exact_moments(nodes, weights, 2 * rule)])
    A, B = _end_of_flow(A, B, target)
    J = jacobi(nodes, weights, rule + nodes_more)
    expected = [moment_of(J, mass, lag) for lag in range(2 * rule + _FURTHER)]
    return residual(_responses(A, B, len(expected))[1], expected, scale=mass)
