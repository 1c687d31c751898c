"""Depth two on 2 × 2 matrices with one more entry: the derivatives of section E.2, (44)–(62).

From A = B = √w* I the flow keeps B = [[a₂₂, a₁₂], [a₂₁, a₁₁]] (Lemma E.2). The identities from (49)
on hold for every A with such a B, and are checked for random ones.
"""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import UPPER, paired_factors, product, velocity


def _free(rng: np.random.Generator) -> dict[str, Any]:
    factors, goal = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2))
    return {"factors": factors, "goal": goal}


def _paired(rng: np.random.Generator) -> dict[str, Any]:
    """Any A, any misfits with r₁₁ = r₂₂, and the targets that have them."""
    A = rng.normal(size=(2, 2))
    factors = paired_factors(A)
    r, across = rng.normal(size=2)
    errors = np.array([[r, across], [0.0, r]])
    return {"A": A, "errors": errors, "goal": product(factors) - errors}


def _moved(A: Array, goal: Array) -> tuple[Array, Array]:
    """A' and W' of the flow, by brute force."""
    factors = paired_factors(A)
    by_b, by_a = velocity(factors, UPPER, goal)
    return by_a, by_a @ factors[0] + A @ by_b


@statement(
    "depth/eq44",
    place="(44) and (45)",
    words="with w₁₁, w₁₂ and w₂₂ observed, a_ij' and b_ij' are sums of one or two products of an "
    "entry of the other factor and a misfit",
    draw=_free,
    tolerance=1e-12,
    mutations=[{"across": 1.1}, {"diagonal": 0.9}],
)
def equation_44(
    factors: Array, goal: Array, *, across: float = 1.0, diagonal: float = 1.0
) -> float:
    """The eight formulas against complex steps of the loss."""
    (b11, b12), (b21, b22) = factors[0]
    (a11, a12), (a21, a22) = factors[1]
    W = product(factors)
    r, s, q = diagonal * (goal - W)[0, 0], across * (goal - W)[0, 1], diagonal * (goal - W)[1, 1]
    formula = [
        [[a11 * r, a11 * s + a21 * q], [a12 * r, a12 * s + a22 * q]],
        [[b11 * r + b12 * s, b21 * r + b22 * s], [b12 * q, b22 * q]],
    ]
    exact = np.empty_like(factors)
    for where in np.ndindex(factors.shape):
        stepped = factors.astype(complex)
        stepped[where] += 1e-30j
        exact[where] = -np.imag(np.sum((product(stepped) - goal)[UPPER] ** 2) / 2) / 1e-30
    return residual(formula, exact)


@statement(
    "depth/eq49",
    place="(49)–(51)",
    words="with B = [[a₂₂, a₁₂], [a₂₁, a₁₁]] the product is [[a₁₁a₂₂ + a₁₂a₂₁, 2a₁₁a₁₂], "
    "[2a₂₁a₂₂, a₁₁a₂₂ + a₁₂a₂₁]], and its entries move by misfits times |A|² or its parts",
    draw=_paired,
    tolerance=1e-12,
    mutations=[{"twice": 2.2}, {"cross": 1.1}, {"whole": 0.9}],
)
def equation_49(
    A: Array, goal: Array, *, twice: float = 2.0, cross: float = 1.0, whole: float = 1.0
) -> float:
    """A', W and W' against the flow of both factors."""
    (a11, a12), (a21, a22) = A
    W = np.array([[a11 * a22 + a12 * a21, twice * a11 * a12], [twice * a21 * a22, 0.0]])
    W[1, 1] = W[0, 0]
    r, s = (goal - W)[0]
    by_a = [[a22 * r + a12 * s, a21 * r + a11 * s], [a12 * r, a11 * r]]
    g = cross * (a11 * a21 + a12 * a22)
    same = r * whole * np.sum(A**2) + s * g
    by_w = [[same, 2 * s * (a11**2 + a12**2) + 2 * r * g], [2 * r * g, same]]
    moved, changed = _moved(A, goal)
    return max(
        residual(W, product(paired_factors(A))), residual(by_a, moved), residual(by_w, changed)
    )


@statement(
    "depth/eq55",
    place="(55), in the proof of Lemma E.4",
    words="g = a₁₁a₂₁ + a₁₂a₂₂ moves by 2(w* − w₁₁)(a₁₁a₁₂ + a₂₁a₂₂) + (w*₁₂ − w₁₂)w₁₁",
    draw=_paired,
    tolerance=1e-12,
    mutations=[{"twice": 2.2}, {"across": 0.9}],
)
def equation_55(A: Array, goal: Array, *, twice: float = 2.0, across: float = 1.0) -> float:
    """A complex step of g along the flow."""
    moved, _ = _moved(A, goal)
    stepped = A + 1e-30j * moved
    exact = np.imag(stepped[0] @ stepped[1]) / 1e-30
    W = product(paired_factors(A))
    r, s = (goal - W)[0]
    formula = twice * r * (A[0, 0] * A[0, 1] + A[1, 0] * A[1, 1]) + across * s * W[0, 0]
    return residual(formula, exact, scale=float(np.sum(A**2) * np.abs(goal - W).max()))


def _misfits(rng: np.random.Generator) -> dict[str, Any]:
    """Any A and any misfits, with a μ up to the largest that is allowed."""
    A = rng.normal(size=(2, 2))
    errors = np.triu(rng.normal(size=(2, 2)))
    return {"A": A, "errors": errors, "goal": product(paired_factors(A)) - errors,
            "share": rng.uniform(0.2, 1.0)}  # fmt: skip


def _loss_rate(A: Array, goal: Array) -> float:
    """The derivative of the loss along the flow: minus the square of the velocity."""
    return -float(np.sum(velocity(paired_factors(A), UPPER, goal) ** 2))


@statement(
    "depth/eq59",
    place="(59)",
    words="the loss moves by −(r₁₁² + r₂₂²)‖A‖² − 2r₁₂²(a₁₁² + a₁₂²) − 2r₁₂(r₁₁ + r₂₂)g, "
    "g = a₁₁a₂₁ + a₁₂a₂₂",
    draw=_misfits,
    tolerance=1e-12,
    mutations=[{"own": 1.1}, {"across": 2.2}, {"cross": 1.8}],
    errata=[
        Erratum(
            place="the display of L₁ before (59), lower right entry (as our text reads it: the "
            "index may be misread)",
            as_printed="r₂₂²(a₂₁² + a₂₂²)",
            as_corrected="r₂₂²(a₁₁² + a₁₂²), as the display of L̃₁ before (62) has it; only so do "
            "L₁ and L₂ add up to (59)",
            constants={"lower": 1},
            gravity="misprint",
            right_in="the display of L̃₁ before (62)",
            glyph="the first index of a, twice",
        )
    ],
)
def equation_59(
    A: Array, errors: Array, goal: Array, *,
    own: float = 1.0, across: float = 2.0, cross: float = 2.0, lower: int = 0,
) -> float:  # fmt: skip
    """The velocity of both factors; the traces of L₁ and L₂ entry by entry as well."""
    r, s, q = errors[0, 0], errors[0, 1], errors[1, 1]
    above, below = np.sum(A**2, axis=1)
    g = A[0] @ A[1]
    formula = (
        own * (r**2 + q**2) * (above + below) + across * s**2 * above + cross * s * (r + q) * g
    )
    first = r**2 * below + 2 * r * s * g + s**2 * above + q**2 * (below if lower else above)
    second = r**2 * above + s**2 * above + 2 * s * q * g + q**2 * below
    exact = _loss_rate(A, goal)
    return max(residual(-formula, exact), residual(-first - second, exact))


@statement(
    "depth/eq62",
    place="(60)–(62)",
    words="for every μ ≤ det(B)²/(a₂₁² + a₂₂²) the matrix BᵀB − μe₂e₂ᵀ is positive semidefinite, "
    "and the loss falls by (r₁₁² + r₂₂²)(a₁₁² + a₁₂²) + r₁₂²μ plus two squares; (60) has μ = 0",
    draw=_misfits,
    tolerance=1e-11,
    mutations=[{"most": 1.1}, {"most": 0.9}, {"by_mu": 1.1}, {"along": 0.9}],
)
def equation_62(
    A: Array, errors: Array, goal: Array, share: float, *,
    most: float = 1.0, by_mu: float = 1.0, along: float = 1.0,
) -> float:  # fmt: skip
    """The exact remainders of both inequalities; the largest μ makes an eigenvalue zero."""
    B = paired_factors(A)[0]
    largest = most * np.linalg.det(B) ** 2 / np.sum(A[1] ** 2)
    kept, exact = B.T @ B, _loss_rate(A, goal)
    size = np.trace(kept)
    found = abs(np.linalg.eigvalsh(kept - np.diag([0, largest]))[0]) / size
    r, s, q = errors[0, 0], errors[0, 1], errors[1, 1]
    second = np.sum((s * A[0] + q * A[1]) ** 2)
    for mu in (0.0, share * largest):
        first = errors[0] @ (kept - np.diag([0, mu])) @ errors[0]
        bound = along * (r**2 + q**2) * np.sum(A[0] ** 2) + by_mu * s**2 * mu
        found = max(found, residual(-bound - first - second, exact), -first / size)
    return float(found)
