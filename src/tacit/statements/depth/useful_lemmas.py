"""The lemmas of appendix F on matrices and analytic functions: F.2 and F.5–F.7; (65) and (66)."""

from itertools import permutations
from typing import Any

import numpy as np

from tacit.statements import residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    BALANCED,
    flow_series,
    integrate_flow,
    is_balanced,
    loss,
    product,
    random_pattern,
)

_ANALYTIC = "f and g are real analytic"
_SEMIDEFINITE = "B is positive semidefinite"


@statement(
    "depth/lemmaF.2",
    place="Lemma F.2",
    words="the absolute value of a determinant is the product of the singular values",
    draw=lambda rng: {"A": rng.normal(size=(int(rng.integers(1, 6)),) * 2)},
    tolerance=1e-11,
    mutations=[{"power": 1.1}],
)
def lemma_f_2(A: Array, *, power: float = 1.0) -> float:
    """The determinant as a sum over permutations, the singular values by SVD."""
    size, total = len(A), 0.0
    for order in permutations(range(size)):
        swaps = sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        total += (-1) ** swaps * np.prod(A[np.arange(size), order])
    return residual(abs(total), np.prod(np.linalg.svd(A, compute_uv=False)) ** power)


def _any_start(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(1, 4))
    factors, goal = rng.normal(size=(2, size, size)), rng.normal(size=(size, size))
    return {"factors": factors, "goal": goal, "mask": random_pattern(rng, size)}


@statement(
    "depth/lemmaF.5",
    place="Lemma F.5",
    words="along depth-2 flow A, B and W are analytic in time: their power series at the start "
    "converge, and their sums are the flow",
    draw=_any_start,
    tolerance=1e-9,
    mutations=[{"drop": 14}, {"time": 1.1}],
)
def lemma_f_5(
    factors: Array, goal: Array, mask: Array, *, drop: int = 0, time: float = 1.0
) -> float:
    """Twenty-six terms at a third of the radius that the last of them show, against an integration.

    `drop` leaves out the last terms: what is left out must then be seen.
    """
    series = flow_series(factors, mask, goal, 26)
    sizes = [np.abs(one).max() ** (1 / k) for k, one in enumerate(series) if k > 16]  # chosen
    end = 1 / (3 * float(np.max(sizes)))  # chosen
    powers = (time * end) ** np.arange(27 - drop)
    found = np.tensordot(powers, np.stack(series)[: 27 - drop], axes=1)
    kept = np.tensordot(powers, _products(series)[: 27 - drop], axes=1)
    exact = integrate_flow(factors, mask, goal, [end])[-1]
    return max(residual(found, exact), residual(kept, product(exact)))


def _products(series: list[Array]) -> Array:
    """The series of W = AB, by Cauchy's product."""
    made = np.zeros((len(series), *series[0].shape[1:]))
    for i, one in enumerate(series):
        for k, other in enumerate(series[: len(series) - i]):
            made[i + k] += one[1] @ other[0]
    return made


def _poles(rng: np.random.Generator, flat: float = 0.0) -> dict[str, Any]:
    """A sum of fractions with two pairs of poles, and a time beyond the nearest of them."""
    poles = np.array([-0.8, 0.7]) * rng.uniform(0.8, 1.2, size=2)
    poles = poles + 1j * rng.uniform(0.5, 1.2, size=2)
    return {
        "poles": poles,
        "weights": rng.normal(size=2) + 1j * rng.normal(size=2),
        "flat": flat,
        "time": np.max(np.abs(poles)) * rng.uniform(1.2, 2.5),
    }


@statement(
    "depth/lemmaF.6",
    place="Lemma F.6",
    words="real analytic functions on t ≥ 0 whose derivatives at 0 all agree are equal: the "
    "derivatives determine the function, also where their power series does not converge",
    draw=_poles,
    tolerance=1e-8,
    hypotheses={_ANALYTIC: lambda flat: flat == 0},
    mutations=[{"pace": 1.1}],
    without={_ANALYTIC: lambda rng: _poles(rng, flat=rng.uniform(0.5, 2))},
)
def lemma_f_6(
    poles: Array, weights: Array, flat: float, time: float, *, pace: float = 1.0
) -> float:
    """g from the derivatives of f at 0 alone, continued beyond their series' disc by Padé.

    f is a sum of fractions. Without the hypothesis e^{−1/t} is added to it, whose derivatives at 0
    are all zero.
    """
    half = 2 * len(poles)
    terms = np.real(2 * weights @ -(poles[:, None] ** -(np.arange(2.0 * half) + 1)))
    rows = half + np.arange(half)[:, None] - np.arange(1, half + 1)
    below = np.append(1.0, np.linalg.solve(terms[rows], -terms[half:]))
    above = [below[: k + 1] @ terms[k::-1] for k in range(half)]
    at = pace * time
    found = np.polyval(above[::-1], at) / np.polyval(below[::-1], at)
    added = flat * np.exp(-1 / time)  # chosen: zero where f is analytic
    exact = 2 * np.real(np.sum(weights / (time - poles))) + added
    return residual(found, exact, scale=float(2 * np.sum(np.abs(weights / (time - poles)))))


def _congruence(rng: np.random.Generator, sign: float = 1.0) -> dict[str, Any]:
    size = int(rng.integers(2, 5))
    half = rng.normal(size=(size, int(rng.integers(1, size + 1))))
    B = half @ half.T
    if sign < 0:
        B = B - 0.5 * np.linalg.norm(B, 2) * np.eye(size)
    return {"A": rng.normal(size=(size, size)), "B": B}


@statement(
    "depth/lemmaF.7",
    place="Lemma F.7",
    words="if B is positive semidefinite, so are ABAᵀ and AᵀBA; where B has a kernel they have one",
    draw=_congruence,
    kind="inequality",
    tolerance=1e-12,
    hypotheses={_SEMIDEFINITE: lambda B: np.linalg.eigvalsh(B)[0] > -1e-10 * np.linalg.norm(B)},
    without={_SEMIDEFINITE: lambda rng: _congruence(rng, sign=-1.0)},
)
def lemma_f_7(A: Array, B: Array) -> float:
    """The smallest eigenvalues of both, relative to their largest entries."""
    return min(
        float(np.linalg.eigvalsh(made)[0] / np.abs(made).max())
        for made in (A @ B @ A.T, A.T @ B @ A)
    )


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _short_run(rng: np.random.Generator) -> dict[str, Any]:
    """A run of balanced factors at the nodes of a quadrature, and at its end."""
    size = int(rng.integers(1, 4))
    turns, mask = np.linalg.qr(rng.normal(size=(3, size, size)))[0], random_pattern(rng, size)
    S = np.array([2.0, 1.2, 0.6])[:size] * rng.uniform(0.9, 1.1, size=size)
    factors = np.stack([turns[1] * S @ turns[2].T, turns[0] * S @ turns[1].T])
    goal = product(factors) + 0.5 * rng.normal(size=mask.shape)
    end = 0.1
    times = np.append(end * (_NODES + 1) / 2, end)
    path = integrate_flow(factors, mask, goal, times)
    return {"factors": factors, "mask": mask, "goal": goal, "end": end, "path": path}


@statement(
    "depth/eq65",
    place="(65) and (66)",
    words="along depth-2 flow from balanced factors σ_r(t) = σ_r(0) exp(−2∫⟨∇ℓ, u_r v_rᵀ⟩), which "
    "is between σ_r(0) exp(∓2√2 ∫√ℓ)",
    draw=_short_run,
    tolerance=1e-7,
    hypotheses={BALANCED: is_balanced},
    mutations=[{"twice": 2.2}, {"root": 1.8}],
)
def equation_65(
    factors: Array, mask: Array, goal: Array, end: float, path: Array, *,
    twice: float = 2.0, root: float = 2.0,
) -> float:  # fmt: skip
    """Gauss quadrature along the flow of the matrices. The bounds are attained for 1 × 1 matrices.

    Singular values do not cross in these short runs, which start from separated ones.
    """
    rates, roots = [], []
    for at in path[:-1]:
        U, _, Vt = np.linalg.svd(product(at))
        gradient = np.where(mask, product(at) - goal, 0.0)
        rates.append(np.einsum("ir,ij,rj->r", U, gradient, Vt))
        roots.append(np.sqrt(loss(at, mask, goal)))
    first = np.linalg.svd(product(factors), compute_uv=False)
    last = np.linalg.svd(product(path[-1]), compute_uv=False)
    weights = end * _WEIGHTS / 2
    found = residual(last, first * np.exp(-twice * weights @ np.array(rates)))
    span = np.exp(twice * np.sqrt(root) * (weights @ np.array(roots)))
    outside = -min(slack(first / span, last), slack(last, first * span))
    return max(found, outside)
