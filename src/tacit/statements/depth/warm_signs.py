"""Depth two on 2 × 2 matrices with one more entry: Lemmas E.1–E.4 and E.7, behind Theorem 4.2."""

from typing import Any

import numpy as np

from tacit.statements import residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    UPPER,
    flow_series,
    integrate_flow,
    loss,
    paired_factors,
)

_EQUAL = "w*₁₁ = w*₂₂"
_START = "A = B = √w* I at the start"
_BELOW = "w₁₂ ≤ w*₁₂ along the run"


def _goal(target: float, across: float, other: float | None = None) -> Array:
    return np.array([[target, across], [0.0, target if other is None else other]])


def _equal_diagonal(rng: np.random.Generator) -> dict[str, Any]:
    target = rng.uniform(0.5, 2)
    return {"start": target, "goal": _goal(target, rng.uniform(0.1, 2) * target)}


def _unequal_diagonal(rng: np.random.Generator) -> dict[str, Any]:
    instance = _equal_diagonal(rng)
    instance["goal"][1, 1] *= rng.uniform(1.2, 2)
    return instance


@statement(
    "depth/lemmaE.1",
    place="Lemma E.1, (46) and (47)",
    words="at A = B = √w* I, with equal diagonal targets, all derivatives in time agree in pairs: "
    "a₁₁ and b₂₂, a₁₂ and b₁₂, a₂₁ and b₂₁, a₂₂ and b₁₁, and so w₁₁ and w₂₂",
    draw=_equal_diagonal,
    tolerance=1e-12,
    hypotheses={_EQUAL: lambda goal: goal[0, 0] == goal[1, 1]},
    mutations=[{"ratio": 1.1}, {"of_products": 0.9}],
    without={_EQUAL: _unequal_diagonal},
)
def lemma_e_1(start: float, goal: Array, *, ratio: float = 1.0, of_products: float = 1.0) -> float:
    """Ten derivatives of the flow of both matrices, each by the recursion of its power series."""
    series = flow_series(np.sqrt(start) * np.stack([np.eye(2)] * 2), UPPER, goal, 10)
    found = 0.0
    for order, (B, A) in enumerate(series):
        W = np.sum([series[k][1] @ series[order - k][0] for k in range(order + 1)], axis=0)
        size = float(np.abs(series[order]).max())
        found = max(
            found,
            residual(ratio * B, paired_factors(A)[0], scale=size),
            residual(of_products * W[0, 0], W[1, 1], scale=float(np.abs(W).max())),
        )
    return found


def _warm(rng: np.random.Generator, across: float | None = None, turn: float = 0.0) -> Any:
    """A run with its start; the new entry is from a fiftieth of the diagonal up to twice it."""
    target = rng.uniform(0.5, 2)
    across = 10 ** rng.uniform(-1.7, 0.3) if across is None else across
    A = np.sqrt(target) * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return _warm_run(target, _goal(target, across * target), paired_factors(A))


def _warm_run(target: float, goal: Array, begin: Array) -> dict[str, Any]:
    times = np.array([0.02, 0.1, 0.4, 1.0, 3.0]) / target
    path = np.concatenate([begin[None], integrate_flow(begin, UPPER, goal, times)])
    return {"target": target, "goal": goal, "path": path}


def _is_warm(target: float, path: Array) -> bool:
    return residual(path[0], np.sqrt(target) * np.stack([np.eye(2)] * 2)) < 1e-12


def _warm_unequal(rng: np.random.Generator) -> dict[str, Any]:
    target = rng.uniform(0.5, 2)
    begin = np.sqrt(target) * np.stack([np.eye(2)] * 2)
    return _warm_run(target, _goal(target, 0.5 * target, 1.5 * target), begin)


@statement(
    "depth/lemmaE.2",
    place="Lemma E.2, (48), and the conservation law (52)",
    words="along the flow a₁₁ = b₂₂, a₁₂ = b₁₂, a₂₁ = b₂₁, a₂₂ = b₁₁ and w₁₁ = w₂₂, and "
    "a₁₁² + a₂₁² = a₁₂² + a₂₂², as A and B are balanced at the start",
    draw=_warm,
    tolerance=1e-9,
    hypotheses={_EQUAL: lambda goal: goal[0, 0] == goal[1, 1], _START: _is_warm},
    mutations=[{"ratio": 1.1}, {"of_products": 0.9}, {"of_columns": 1.1}],
    without={_EQUAL: _warm_unequal},
)
def lemma_e_2(
    path: Array, *, ratio: float = 1.0, of_products: float = 1.0, of_columns: float = 1.0
) -> float:
    """Every entry of both matrices along the flow of the matrices."""
    B, A = path[:, 0], path[:, 1]
    paired = np.stack([paired_factors(one)[0] for one in A])
    W = A @ B
    columns = np.sum(A**2, axis=1)
    return max(
        residual(ratio * B, paired),
        residual(of_products * W[:, 0, 0], W[:, 1, 1]),
        residual(of_columns * columns[:, 0], columns[:, 1]),
    )


@statement(
    "depth/lemmaE.3",
    place="Lemma E.3, (54)",
    words="along the flow the loss stays below its start, a₁₁, a₂₂, w₁₁ and w₂₂ stay positive and "
    "a₁₂ does not become negative",
    draw=_warm,
    kind="inequality",
    tolerance=1e-9,
    hypotheses={_START: _is_warm},
    mutations=[{"least": 0.01}, {"most": 0.9}],
    without={_START: lambda rng: _warm(rng, turn=rng.uniform(0.1, 0.6))},
)
def lemma_e_3(
    target: float, goal: Array, path: Array, *, least: float = 0.0, most: float = 1.0
) -> float:
    """The flow of the matrices. Without the start (43), a₁₂ may begin below zero and stay there."""
    A, W = path[:, 1], path[:, 1] @ path[:, 0]
    positive = np.stack([A[:, 0, 0], A[:, 1, 1], A[:, 0, 1]]) / np.sqrt(target)
    losses = np.array([loss(at, UPPER, goal) for at in path])
    return min(
        float(np.min(positive)) - least,
        float(np.min(W[:, [0, 1], [0, 1]])) / target,
        slack(losses, most * losses[0]),
    )


@statement(
    "depth/lemmaE.4",
    place="Lemma E.4",
    words="as long as w₁₂ ≤ w*₁₂, a₁₁a₂₁ + a₁₂a₂₂ is not negative",
    draw=_warm,
    kind="inequality",
    tolerance=1e-9,
    hypotheses={
        _START: _is_warm,
        _BELOW: lambda goal, path: np.all((path[:, 1] @ path[:, 0])[:, 0, 1] <= goal[0, 1] + 1e-9),
    },
    mutations=[{"least": 0.01}],
    without={_BELOW: lambda rng: _warm(rng, across=-rng.uniform(0.2, 1))},
)
def lemma_e_4(target: float, path: Array, *, least: float = 0.0) -> float:
    """The flow of the matrices; it is zero at the start and grows from there."""
    A = path[:, 1]
    return float(np.min(np.sum(A[:, 0] * A[:, 1], axis=1))) / target - least


@statement(
    "depth/lemmaE.7",
    place="Lemma E.7, (63)",
    words="along the flow a₁₁² + a₁₂² ≥ w*, a₂₁² + a₂₂² ≤ w* and det(B)²/(a₂₁² + a₂₂²) ≥ w*, as "
    "‖A‖⁴ = ‖W‖² + 2 det(A)² and ‖W‖² ≥ 2w*²",
    draw=_warm,
    kind="inequality",
    tolerance=1e-9,
    hypotheses={_START: _is_warm},
    mutations=[{"least": 1.05}, {"below": 0.95}, {"twice": 2.2}, {"whole": 2.1}],
)
def lemma_e_7(
    target: float, path: Array, *,
    least: float = 1.0, below: float = 1.0, twice: float = 2.0, whole: float = 2.0,
) -> float:  # fmt: skip
    """The flow of the matrices; all bounds are attained at its start."""
    B, A = path[:, 0], path[:, 1]
    rows = np.sum(A**2, axis=2)
    squared = np.sum((A @ B) ** 2, axis=(1, 2))
    power = np.sum(A**2, axis=(1, 2)) ** 2
    if residual(power, squared + twice * np.linalg.det(A) ** 2) > 1e-9:
        return -1.0
    return min(
        slack(least * target, rows[:, 0]),
        slack(rows[:, 1], below * target),
        slack(least * target, np.linalg.det(B) ** 2 / rows[:, 1]),
        slack(whole * target**2, squared),
    )
