"""Depth two on 2 × 2 matrices: decoupled and coupled examples of section 3.1, and Theorem 3.1."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import integrate_flow, loss, product
from tacit.theory.depth import alignment_bound, disconnected_limit

_POSITIVE = "w*_ii > 0"
_ZERO_START = "A(0) = 0"
_ZERO_LOSS = "the flow converges to zero loss"
_NONZERO = "no observed value is 0"
_COLUMN = np.array([[True, False], [True, False]])


def _signs(rng: np.random.Generator, count: int) -> Array:
    return rng.choice([-1.0, 1.0], size=count)


def _scaled_identity(rng: np.random.Generator) -> dict[str, Any]:
    diagonal = rng.uniform(0.5, 2, size=int(rng.integers(2, 4)))
    return {"scale": 10 ** rng.uniform(-2, 0), "diagonal": diagonal}


def _one_negative(rng: np.random.Generator) -> dict[str, Any]:
    instance = _scaled_identity(rng)
    instance["diagonal"][rng.integers(len(instance["diagonal"]))] *= -1
    return instance


@statement(
    "depth/section3.1",
    place="section 3.1, decoupled dynamics",
    words="depth-2 flow on an observed diagonal of positive values from A(0) = B(0) = αI ends "
    "at the diagonal matrix of these values, which has full rank",
    draw=_scaled_identity,
    tolerance=1e-8,
    hypotheses={_POSITIVE: lambda diagonal: bool(np.all(diagonal > 0))},
    without={_POSITIVE: _one_negative},
    errata=[
        Erratum(
            as_printed="with A(0) = B(0) = αI the limit is diag(w*₁₁, w*₂₂), with no condition on "
            "signs",
            as_corrected="this needs both to be positive; where w*_ii < 0 the flow keeps a_i = "
            "b_i, so that w_ii = |a_i|² falls to the saddle 0",
            without=_POSITIVE,
            gravity="false statement",
            right_in="Proposition 4.1, which assumes that the loss goes to zero",
        )
    ],
)
def section_3_1(scale: float, diagonal: Array) -> float:
    """The flow of the matrices at a late time, and the library's limit, against the diagonal."""
    size = len(diagonal)
    mask, target = np.eye(size) > 0, np.diag(diagonal)
    begin = scale * np.eye(size)
    end = product(integrate_flow(np.stack([begin, begin]), mask, target, [40.0])[-1])
    known = disconnected_limit(begin, begin, mask, target).product
    return max(residual(end, target), residual(known, target))


def _from_zero(rng: np.random.Generator) -> dict[str, Any]:
    target = np.zeros((2, 2))
    target[:, 0] = rng.uniform(0.5, 2, size=2) * _signs(rng, 2)
    factors = np.stack([rng.normal(size=(2, 2)), np.zeros((2, 2))])
    return {"factors": factors, "target": target}


def _from_nonzero(rng: np.random.Generator) -> dict[str, Any]:
    instance = _from_zero(rng)
    instance["factors"][1] = 0.1 * rng.normal(size=(2, 2))
    return instance


@statement(
    "depth/section3.1-zero",
    place="section 3.1, coupled dynamics",
    words="with the first column observed, a start with A(0) = 0 keeps the 2 × 2 product at rank "
    "one at all times, whatever B(0) is",
    draw=_from_zero,
    tolerance=1e-9,
    hypotheses={_ZERO_START: lambda factors: not np.any(factors[1])},
    without={_ZERO_START: _from_nonzero},
)
def section_3_1_zero(factors: Array, target: Array) -> float:
    """The ratio of the second to the first singular value along the flow of the matrices."""
    path = integrate_flow(factors, _COLUMN, target, [0.1, 0.5, 2.0, 10.0])
    values = np.linalg.svd([product(found) for found in path], compute_uv=False)
    return float(np.max(values[:, 1] / values[:, 0]))


def _run_on_a_column(
    rng: np.random.Generator, factors: Array, values: Array, time: float
) -> dict[str, Any]:
    target = np.zeros((2, 2))
    target[:, 0] = values
    end = integrate_flow(factors, _COLUMN, target, [time])[-1]
    return {"factors": factors, "values": values, "end": end, "target": target}


def _column_start(rng: np.random.Generator) -> tuple[Array, Array]:
    """Random starts, and starts near the edge of the bound.

    The latter have one empty row of A and one small row orthogonal to b(0). The small row has a
    small value to learn, so that b hardly turns towards it.
    """
    values = rng.uniform(0.5, 2, size=2) * _signs(rng, 2)
    factors = 10 ** rng.uniform(-1.5, 0) * rng.normal(size=(2, 2, 2))
    if rng.random() < 0.5:
        values *= [0.1, 1.0]
        b = rng.uniform(0.3, 4) * np.exp(1j * rng.uniform(0, 2 * np.pi))
        b = np.array([b.real, b.imag])
        factors[0][:, 0] = b
        factors[1] = 0
        factors[1][0] = 10 ** rng.uniform(-2, -1) * np.array([-b[1], b[0]])
    return factors, values


def _aligned(rng: np.random.Generator) -> dict[str, Any]:
    while True:
        instance = _run_on_a_column(rng, *_column_start(rng), time=120.0)
        if _is_fitted(instance["end"], instance["target"]):
            return instance


def _not_yet_aligned(rng: np.random.Generator) -> dict[str, Any]:
    """A run that stops at once, from a start so small that the bound is far below one."""
    factors, values = 1e-2 * rng.normal(size=(2, 2, 2)), rng.uniform(0.5, 2, size=2)
    return _run_on_a_column(rng, factors, values, time=0.01)


def _is_fitted(end: Array, target: Array) -> bool:
    return bool(loss(end, _COLUMN, target) < 1e-18)


@statement(
    "depth/theorem3.1",
    place="Theorem 3.1",
    words="with the first column observed, the squared part of the row a_i(∞) orthogonal to "
    "b₁(∞), over |a_i(∞)|², is at most ‖A(0)‖²_F (√(|b₁(0)|⁴ + 4w₁₁² + 4w₂₁²) + "
    "|b₁(0)|²)/(2w_i1²)",
    draw=_aligned,
    kind="inequality",
    tolerance=1e-6,  # the flow stops at a loss of 1e-18; the bound is attained at a share of 1e-4
    hypotheses={_ZERO_LOSS: _is_fitted, _NONZERO: lambda values: bool(np.all(values != 0))},
    mutations=[{"outside": 2.2}, {"under_root": 3.0}, {"factor": 0.9}],
    without={_ZERO_LOSS: _not_yet_aligned},
    loose={
        "np.sqrt(column**2": "where |b₁(0)|⁴ counts, the starts come less near to the bound",
    },
)
def theorem_3_1(
    factors: Array, values: Array, end: Array, *,
    outside: float = 2.0, under_root: float = 4.0, factor: float = 1.0,
) -> float:  # fmt: skip
    """The end of the flow of the matrices against the formula and the library's bound.

    The bound is nearly attained: half of the starts have one small row orthogonal to b₁(0).
    """
    B, A = end
    u = B[:, 0] / np.linalg.norm(B[:, 0])
    across = A - np.outer(A @ u, u)
    found = np.sum(across**2, axis=1) / np.sum(A**2, axis=1)
    column = np.sum(factors[0][:, 0] ** 2)
    level = np.sqrt(column**2 + under_root * np.sum(values**2)) + column
    bound = factor * np.sum(factors[1] ** 2) * level / (values**2 * outside)
    known = alignment_bound(factors[1], factors[0][:, 0], values)
    return min(slack(found, bound), slack(found, factor * known))
