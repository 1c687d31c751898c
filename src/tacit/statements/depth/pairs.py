"""Depth two, one observation in each row and column: Propositions 4.1 and E.1."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import product
from tacit.theory.depth import disconnected_limit

_ZERO_LOSS = "the flow converges to zero loss"


def _pairs_run(
    rng: np.random.Generator, columns: Array, scale: float, time: float
) -> dict[str, Any]:
    """The flow of A and B, with R = ∫(w_ij − w*_ij)dt for each observed pair of row and column."""
    size = len(columns)
    values = rng.uniform(0.5, 2, size=size) * rng.choice([-1.0, 1.0], size=size)
    begin = scale * rng.normal(size=(2, size, size))  # B, then A

    def slope(_: float, state: Array) -> Array:
        B, A = state[:-size].reshape(begin.shape)
        errors = np.sum(A * B[:, columns].T, axis=1) - values
        moved = np.zeros_like(begin)
        moved[0][:, columns] = -(errors[:, None] * A).T
        moved[1] = -errors[:, None] * B[:, columns].T
        return np.concatenate([moved.ravel(), errors])

    state = np.concatenate([begin.ravel(), np.zeros(size)])
    smallest = np.concatenate([np.full(begin.size, 1e-13 * scale), np.full(size, 1e-13)])
    run = solve_ivp(slope, (0, time), state, method="DOP853", rtol=1e-11, atol=smallest)
    end = run.y[:, -1]
    return {
        "columns": columns,
        "values": values,
        "start": begin,
        "end": end[:-size].reshape(begin.shape),
        "integral": end[-size:],
    }


def _pairs_fit(end: Array, columns: Array, values: Array) -> bool:
    return bool(np.max(np.abs(product(end)[np.arange(len(columns)), columns] - values)) < 1e-9)


def _diagonal_run(rng: np.random.Generator) -> dict[str, Any]:
    columns = np.arange(int(rng.integers(2, 4)))
    return _pairs_run(rng, columns, 10 ** rng.uniform(-1, 0.3), 80.0)


def _diagonal_stopped(rng: np.random.Generator) -> dict[str, Any]:
    return _pairs_run(rng, np.arange(2), 10 ** rng.uniform(-1, 0.3), 0.2)


@statement(
    "depth/proposition4.1",
    place="Proposition 4.1",
    words="with the diagonal observed and zero loss in the limit, a_i(∞) = a_i cosh r − b_i sinh r "
    "and b_i(∞) = b_i cosh r − a_i sinh r, with r from P_i = ⟨a_i, b_i⟩ and Q_i = |a_i|² + |b_i|² "
    "of the start: e^{2r} = (P + Q/2)/(w* + √(w*² − P² + Q²/4))",
    draw=_diagonal_run,
    tolerance=1e-8,
    hypotheses={_ZERO_LOSS: _pairs_fit},
    mutations=[{"sign": 1.0}, {"half": 0.55}, {"share": 1.0}],
    without={_ZERO_LOSS: _diagonal_stopped},
)
def proposition_4_1(
    values: Array, start: Array, end: Array, *,
    sign: float = -1.0, half: float = 0.5, share: float = 0.5,
) -> float:  # fmt: skip
    """The flow of the matrices at a late time against the printed and the library's limits."""
    B, A = start
    P, Q = np.sum(A * B.T, axis=1), np.sum(A**2 + B.T**2, axis=1)
    root = np.sqrt(values**2 - P**2 + (share * Q) ** 2)
    r = (half * np.log((P + share * Q) / (values + root)))[:, None]
    rows = A * np.cosh(r) + sign * B.T * np.sinh(r)
    columns = B.T * np.cosh(r) + sign * A * np.sinh(r)
    known = disconnected_limit(A, B, np.eye(len(A)) > 0, np.diag(values))
    return max(
        residual(np.stack([columns.T, rows]), end), residual(np.stack([known.B, known.A]), end)
    )


def _permuted_run(rng: np.random.Generator) -> dict[str, Any]:
    columns = rng.permutation(int(rng.integers(2, 5)))
    scale = 10 ** rng.uniform(-9, 0)
    return _pairs_run(rng, columns, scale, 80.0 - 4 * np.log(scale))


@statement(
    "depth/propositionE.1",
    place="Proposition E.1, (41)",
    words="the same for any pattern with one observation in each row and column, from starts of "
    "any size; r is the integral of w_ij − w*_ij over all times",
    draw=_permuted_run,
    tolerance=1e-8,
    hypotheses={_ZERO_LOSS: _pairs_fit},
    mutations=[{"stable": False}, {"sign": 1.0}],
    errata=[
        Erratum(
            place="section E.1, definition of the residuals",
            as_printed="r_ij := w*_ij − w_ij, whose integral is the r of the solution",
            as_corrected="r_ij := w_ij − w*_ij: with the other sign a cosh r − b sinh r moves away "
            "from the target",
            constants={"residuals": -1.0},
            gravity="misprint",
            right_in="(34), which has the minus sign",
            glyph="the star of the first w, which the scan does not show",
        )
    ],
)
def proposition_e_1(
    columns: Array, values: Array, start: Array, end: Array, integral: Array, *,
    residuals: float = 1.0, stable: bool = True, sign: float = -1.0,
) -> float:  # fmt: skip
    """The flow of the matrices and the integral of its residuals, from starts down to 1e-9.

    e^{2r} is used as printed where w* > 0. Where w* < 0 it is (√… − w*)/(Q/2 − P), which is equal,
    with both differences as squared lengths: the printed form (`stable=False`) loses all digits at
    small starts.
    """
    B, A = start
    b = B[:, columns].T
    plus, minus = np.sum((A + b) ** 2, axis=1) / 2, np.sum((A - b) ** 2, axis=1) / 2
    root = np.sqrt(values**2 + plus * minus)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        printed = plus / (values + root)
        r = np.log(np.where((values > 0) | (not stable), printed, (root - values) / minus)) / 2
        rows = A * np.cosh(r)[:, None] + sign * b * np.sinh(r)[:, None]
        others = b * np.cosh(r)[:, None] + sign * A * np.sinh(r)[:, None]
    mask = np.eye(len(A))[:, columns].T > 0
    goal = np.where(mask, values[:, None], 0.0)
    known = disconnected_limit(A, B, mask, goal)
    return max(
        residual(rows, end[1]),
        residual(others, end[0][:, columns].T),
        residual(np.stack([known.B, known.A]), end),
        residual(r, residuals * integral),
    )


@statement(
    "depth/eq42",
    place="(42), in the proof of Proposition E.1",
    words="at zero loss each observed value is P cosh 2r − (Q/2) sinh 2r, with P and Q of the "
    "start and r the integral of w_ij − w*_ij",
    draw=lambda rng: _pairs_run(rng, np.arange(2), 10 ** rng.uniform(-0.5, 0.3), 40.0),
    tolerance=1e-8,
    hypotheses={_ZERO_LOSS: _pairs_fit},
    mutations=[{"half": 0.55}, {"twice": 1.8}],
    instances=10,
)
def equation_42(
    values: Array, start: Array, integral: Array, *, half: float = 0.5, twice: float = 2.0
) -> float:
    """The integral of the residuals along the flow, put into the formula."""
    B, A = start
    P, Q = np.sum(A * B.T, axis=1), np.sum(A**2 + B.T**2, axis=1)
    made = P * np.cosh(twice * integral) - half * Q * np.sinh(twice * integral)
    return residual(made, values)
