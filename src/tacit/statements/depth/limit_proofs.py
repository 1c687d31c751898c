"""Steps of the proofs of Theorems 3.1 and 3.3 and Proposition D.1: (4), (15)–(22), (25)–(31)."""

from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    family_member,
    initial_factors,
    integrate_flow,
    loss,
    velocity,
)

_COLUMN = np.array([[True, False], [True, False]])
_ZERO_LOSS = "the flow converges to zero loss"


def _column(rng: np.random.Generator, scale: float = 1.0) -> dict[str, Any]:
    target = np.zeros((2, 2))
    target[:, 0] = rng.uniform(0.5, 2, size=2) * rng.choice([-1.0, 1.0], size=2)
    angle = rng.uniform(0, 2 * np.pi)
    return {"factors": scale * rng.normal(size=(2, 2, 2)), "target": target,
            "u": np.array([np.cos(angle), np.sin(angle)])}  # fmt: skip


@statement(
    "depth/eq4",
    place="(4) and (15)–(17)",
    words="with the first column observed a_i' = r_i b₁ and b₁' = r₁a₁ + r₂a₂, so their parts "
    "along any fixed u move alike, and the squares of the parts across u by |b₁⊥|²' = Σ|a_i⊥|²'",
    draw=_column,
    tolerance=1e-12,
    mutations=[{"of_rows": 1.1}, {"of_column": 0.9}, {"across": 1.1}],
)
def equation_4(
    factors: Array, target: Array, u: Array, *,
    of_rows: float = 1.0, of_column: float = 1.0, across: float = 1.0,
) -> float:  # fmt: skip
    """Complex steps of the loss for the velocity, and of the squares along it."""
    moved = -complex_step(lambda theta: loss(theta, _COLUMN, target), factors)
    B, A = factors
    r = target[:, 0] - A @ B[:, 0]
    rows, column = of_rows * np.outer(r, B[:, 0]), of_column * r @ A
    stepped = factors + 1e-30j * moved
    squares = []
    for part in (stepped[0][:, 0], *stepped[1]):
        rest = part - (part @ u) * u
        squares.append(np.imag(rest @ rest) / 1e-30)
    return max(
        residual(rows, moved[1]),
        residual(column, moved[0][:, 0]),
        residual(rows @ u, moved[1] @ u),
        residual(column @ u, moved[0][:, 0] @ u, scale=float(np.abs(column).max())),
        residual(across * squares[0], squares[1] + squares[2], scale=float(np.abs(squares).max())),
    )


def _column_run(rng: np.random.Generator, time: float = 50.0) -> dict[str, Any]:
    while True:
        instance = _column(rng, scale=10 ** rng.uniform(-1, 0.2))
        factors, target = instance["factors"], instance["target"]
        end = integrate_flow(factors, _COLUMN, target, [time])[-1]
        if time < 1 or _is_fitted(end, target):
            return {"factors": factors, "target": target, "end": end}


def _is_fitted(end: Array, target: Array) -> bool:
    return bool(loss(end, _COLUMN, target) < 1e-18)


@statement(
    "depth/eq22",
    place="(18)–(22), in the proof of Theorem 3.1",
    words="at zero loss the parts along u = b₁(∞)/|b₁(∞)| are α_b² = (√(α₀² + 4w₁₁² + 4w₂₁²) − "
    "α₀)/2 and α_i = w_i1/α_b, with α₀ = α₁² + α₂² − α_b² of the start, and the squares across u "
    "sum up to those of the start, β₁ + β₂ − β_b",
    draw=_column_run,
    tolerance=1e-7,  # the flow stops at a loss of 1e-18
    hypotheses={_ZERO_LOSS: _is_fitted},
    mutations=[{"four": 4.4}, {"half": 0.45}, {"start": 1.1}, {"kept": 1.1}],
    without={_ZERO_LOSS: lambda rng: _column_run(rng, time=0.05)},
    instances=10,
)
def equation_22(
    factors: Array, target: Array, end: Array, *,
    four: float = 4.0, half: float = 0.5, start: float = 1.0, kept: float = 1.0,
) -> float:  # fmt: skip
    """The end of the flow of the matrices against its start."""
    u = end[0][:, 0] / np.linalg.norm(end[0][:, 0])
    values = target[:, 0]
    along = factors[1] @ u, factors[0][:, 0] @ u
    first = start * (np.sum(along[0] ** 2) - along[1] ** 2)
    column = np.sqrt(half * (np.sqrt(first**2 + four * np.sum(values**2)) - first))
    before = np.sum(factors[1] ** 2) - np.sum(factors[0][:, 0] ** 2)
    across = kept * (before - (np.sum(along[0] ** 2) - along[1] ** 2))
    parts = end[1] @ u
    rest = np.sum(end[1] ** 2) - np.sum(parts**2)
    size = float(np.sum(end**2))  # chosen
    return max(
        residual([*parts, end[0][:, 0] @ u], [*(values / column), column]),
        residual(np.sum(parts**2), column**2 + first, scale=size),
        residual(rest, across, scale=max(abs(float(rest)), 1e-6 * size)),
    )


def _start_and_end(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "depth": int(rng.integers(2, 6)), "scale": rng.uniform(0.3, 1.5),
        "ratio": 1 + 10 ** rng.uniform(-0.5, 1.0), "blocks": int(rng.integers(2, 5)),
        "block_size": int(rng.integers(1, 4)), "target": rng.uniform(0.5, 2),
        "outside": rng.uniform(-0.4, 0.4),
    }  # fmt: skip


@statement(
    "depth/eq25",
    place="(25)–(27), in the proof of Theorem 3.3; (31)",
    words="a product M(w*, w*, c) has λ₁ + (n − 1)λ₂ = dw*; the start (7) has λ₁/λ₂ = "
    "(m + d − 1)/(m − 1) and λ₁^{2−L} − λ₂^{2−L} = (α/m)^{2−L}((m + d − 1)^{2−L} − (m − 1)^{2−L})",
    draw=_start_and_end,
    tolerance=1e-10,
    mutations=[{"sum_": 1.1}, {"one": 1.1}, {"power": 2.2}],
)
def equation_25(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, target: float,
    outside: float, *, sum_: float = 1.0, one: float = 1.0, power: float = 2.0,
) -> float:  # fmt: skip
    """Eigenvalues of both matrices."""
    n, L, m, d = blocks, depth, ratio, blocks * block_size
    made = family_member((target, target, outside * target), n, block_size)
    values = np.linalg.eigvalsh(made)
    kept = values[np.argsort(np.abs(values))[d - n :]]  # the others are zero
    begin = np.linalg.eigvalsh(initial_factors(1, scale, m, d)[0])
    first, second = begin[-1], begin[0]
    e = power - L
    formula = (scale / m) ** e * ((m + d - one) ** e - (m - one) ** e)
    return max(
        residual(np.sum(kept), sum_ * d * target),
        residual(first / second, (m + d - one) / (m - one)),
        residual(first ** (2.0 - L) - second ** (2.0 - L), formula) if L > 2 else 0.0,
    )


def _eigenvalues(rng: np.random.Generator) -> dict[str, Any]:
    """λ₁ and λ₂, often nearly equal: there Jensen's inequality is attained."""
    first = rng.uniform(0.3, 1.5)
    second = first * (1 - rng.choice([1e-5, 0.5]) * rng.uniform())
    return {**_start_and_end(rng), "values": np.array([first, second])}


@statement(
    "depth/eq28",
    place="(28)–(30), in the proof of Proposition D.1",
    words="γ = (λ₁^L + (n − 1)λ₂^L)/n − sw* moves by −Kγ with K = (L/n)(λ₁^{2L−2} + "
    "(n − 1)λ₂^{2L−2}) ≥ L(γ + sw*)^{(2L−2)/L}, so it keeps its sign and goes to zero",
    draw=_eigenvalues,
    kind="inequality",
    tolerance=1e-9,
    mutations=[{"rate": 1.1}, {"lower": 1.1}, {"power": 2.2}],
)
def equation_28(
    depth: int, blocks: int, block_size: int, target: float, values: Array, *,
    rate: float = 1.0, lower: float = 1.0, power: float = 2.0,
) -> float:  # fmt: skip
    """γ along the flow of matrices of the family with these eigenvalues, by their velocity.

    The matrices have eigenvalues λ₁, λ₂ and a third, which does not count.
    """
    n, s, L = blocks, block_size, depth
    d = n * s
    constant = np.full((d, d), 1 / d)
    on_blocks = np.kron(np.eye(n), np.full((s, s), 1 / s))
    one = values[0] * constant + values[1] * (on_blocks - constant)
    one = one + 0.3 * (np.eye(d) - on_blocks)  # chosen
    factors = np.stack([one] * L)
    mask = on_blocks > 0
    moved = velocity(factors, mask, np.full((d, d), target))[0]
    speeds = np.array([np.trace(moved @ constant), np.trace(moved @ (on_blocks - constant))])
    counts = np.array([1, n - 1])
    speeds[1] /= n - 1
    gamma = counts @ values**L / n - s * target
    change = L * counts @ (values ** (L - 1) * speeds) / n
    K = rate * L / n * counts @ values ** (2.0 * L - 2)
    if residual(change, -K * gamma, scale=max(abs(float(K * gamma)), 1e-3)) > 1e-9:
        return -1.0
    return slack(lower * L * (gamma + s * target) ** ((2 * L - power) / L), K)
