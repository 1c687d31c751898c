"""Identities along depth-two flow: (53), (71), and the lemmas of Appendix F."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, complex_step, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    BALANCED,
    balanced_factors,
    integrate_flow,
    is_balanced,
    jacobian,
    loss,
    product,
    random_pattern,
    velocity,
)

_POSITIVE = "det A(0) > 0"


def _any_factors(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 4))
    factors, goal = rng.normal(size=(2, size, size)), rng.normal(size=(size, size))
    return {"factors": factors, "goal": goal, "mask": random_pattern(rng, size)}


@statement(
    "depth/eq53",
    place="(53) and (71)",
    words="along depth-2 flow the loss changes by −Tr(∇ℓ BᵀB ∇ℓᵀ) − Tr(∇ℓᵀ AAᵀ ∇ℓ), which is also "
    "(F − y)ᵀ J θ' with the Jacobian J of the observed entries F: it never grows",
    draw=_any_factors,
    tolerance=1e-12,
    mutations=[{"second": 0.9}],
    errata=[
        Erratum(
            place="proof of Lemma E.3, positiveness of a₁₂",
            as_printed="the loss is non-decreasing",
            as_corrected="it is non-increasing, which the display that follows uses",
            constants={"sense": 1.0},
            gravity="misprint",
            right_in="after (53), and the display that follows",
        ),
        Erratum(
            place="proof of Lemma E.11, first display",
            as_printed="the loss changes by −(F − y)ᵀ J θ'",
            as_corrected="by (F − y)ᵀ J θ', as in (71), which is −|Jᵀ(F − y)|² as θ' = −Jᵀ(F − y)",
            constants={"chain": -1.0},
            gravity="misprint",
            right_in="(71), and the second line of the display",
            glyph="the minus sign of the first line",
        ),
    ],
)
def equation_53(
    factors: Array, goal: Array, mask: Array, *,
    sense: float = -1.0, chain: float = 1.0, second: float = 1.0,
) -> float:  # fmt: skip
    """A complex step of the loss along its negative gradient, which is by complex steps too."""
    speed = -complex_step(lambda theta: loss(theta, mask, goal), factors)
    rate = np.imag(loss(factors + 1e-30j * speed, mask, goal)) / 1e-30
    B, A = factors
    errors = np.where(mask, A @ B - goal, 0.0)
    traces = np.trace(errors @ B.T @ B @ errors.T) + second * np.trace(errors.T @ A @ A.T @ errors)
    along = jacobian(factors)[mask.ravel()] @ speed.ravel()
    return max(residual(sense * traces, rate), residual(chain * errors[mask] @ along, rate))


def _balanced_run(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 4))
    return _run_flow(balanced_factors(rng, size), random_pattern(rng, size), rng)


def _unbalanced_run(rng: np.random.Generator) -> dict[str, Any]:
    """A small and B large: det A can change its sign before B has moved."""
    factors = np.stack([2 * rng.normal(size=(2, 2)), 0.2 * rng.normal(size=(2, 2))])
    factors[1, 0] *= np.sign(np.linalg.det(factors[1]))
    return _run_flow(factors, random_pattern(rng, 2), rng)


def _run_flow(factors: Array, mask: Array, rng: np.random.Generator) -> dict[str, Any]:
    goal = 2 * rng.normal(size=mask.shape)
    # A short run: where the goal's determinant is negative, the flow from balanced factors ends at
    # a saddle, and rounding errors would lead away from it.
    path = integrate_flow(factors, mask, goal, [0.1, 0.3, 0.6, 1.0])
    return {"factors": factors, "mask": mask, "goal": goal, "path": path}


@statement(
    "depth/lemmaF.1",
    place="Lemma F.1, (76)",
    words="for balanced factors the singular values of AB move by σ_r' = −2σ_r⟨∇ℓ(AB), u_r v_rᵀ⟩",
    draw=_balanced_run,
    tolerance=1e-9,
    hypotheses={BALANCED: is_balanced},
    mutations=[{"factor": 1.0}, {"power": 2.0}],
    without={BALANCED: _unbalanced_run},
)
def lemma_f_1(
    factors: Array, mask: Array, goal: Array, *, factor: float = 2.0, power: float = 1.0
) -> float:
    """The first-order change u_rᵀ W' v_r, with W' from the flow of the factors."""
    B, A = factors
    moved = velocity(factors, mask, goal)
    U, values, Vt = np.linalg.svd(A @ B)
    found = np.einsum("ir,ij,rj->r", U, moved[1] @ B + A @ moved[0], Vt)
    gradient = np.where(mask, A @ B - goal, 0.0)
    formula = -factor * values**power * np.einsum("ir,ij,rj->r", U, gradient, Vt)
    return residual(found, formula)


@statement(
    "depth/lemmaF.3",
    place="Lemma F.3",
    words="along depth-2 flow from balanced factors det A stays positive if it starts positive",
    draw=_balanced_run,
    kind="inequality",
    tolerance=1e-9,
    hypotheses={
        BALANCED: is_balanced,
        _POSITIVE: lambda factors: np.linalg.det(factors[1]) > 0,
    },
    without={BALANCED: _unbalanced_run},
    errata=[
        Erratum(
            as_printed="det A(t) > 0 for every start with det A(0) > 0",
            as_corrected="for balanced starts, as in Lemma F.1, from which it follows, and in "
            "all its uses; with a small A and a large B, det A can change its sign",
            without=BALANCED,
            gravity="false statement",
            right_in="Lemma F.1, whose hypothesis it needs",
        )
    ],
)
def lemma_f_3(path: Array) -> float:
    """det A relative to the size of A, along the flow of the matrices."""
    A = path[:, 1]
    size = np.linalg.norm(A, axis=(1, 2)) ** A.shape[-1]
    return float(np.min(np.linalg.det(A) / size))


@statement(
    "depth/lemmaF.4",
    place="Lemma F.4",
    words="along depth-2 flow from balanced factors σ_r(W) = σ_r(A)² = σ_r(B)² at all times, and "
    "det W = det(A)² = det(B)² if det A and det B start positive",
    draw=_balanced_run,
    tolerance=1e-8,
    hypotheses={BALANCED: is_balanced},
    mutations=[{"power": 1.9}, {"of_determinants": 2.1}],
    without={BALANCED: _unbalanced_run},
)
def lemma_f_4(path: Array, *, power: float = 2.0, of_determinants: float = 2.0) -> float:
    """Singular values and determinants along the flow, whose factors start with positive ones."""
    values = np.linalg.svd(path, compute_uv=False) ** power
    products = np.linalg.svd([product(at) for at in path], compute_uv=False)
    whole = np.linalg.det([product(at) for at in path])
    parts = np.abs(np.linalg.det(path)) ** of_determinants
    return max(
        residual(values[:, 0], products),
        residual(values[:, 1], products),
        residual(parts[:, 0], whole),
        residual(parts[:, 1], whole),
    )
