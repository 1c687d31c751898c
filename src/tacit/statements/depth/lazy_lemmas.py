"""Lemmas behind Theorem 4.3: the Jacobian of the observed entries, and flow near its start."""

from typing import Any

import numpy as np
from scipy.integrate import quad

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    integrate_flow,
    jacobian,
    loss,
    product,
    random_pattern,
    velocity,
)

_NEAR = "‖θ − θ(0)‖ ≤ σ_min/(2√d)"


def _observed(factors: Array, mask: Array) -> Array:
    """J: the observed entries' derivatives by both factors, by complex steps."""
    return jacobian(factors)[mask.ravel()]


def _extremes(factors: Array, mask: Array) -> tuple[float, float]:
    """σ_min and σ_max of J."""
    values = np.linalg.svd(_observed(factors, mask), compute_uv=False)
    return float(values[-1]), float(values[0])


def _two_points(rng: np.random.Generator) -> dict[str, Any]:
    """Two points, half of the time with every entry observed, and one or up to three rows."""
    size = int(rng.integers(1, 4))
    mask = np.ones((size, size), bool) if rng.random() < 0.5 else random_pattern(rng, size)
    goal = rng.normal(size=(size, size))
    return {"factors": rng.normal(size=(2, size, size)), "mask": mask, "goal": goal,
            "others": rng.normal(size=(2, size, size))}  # fmt: skip


@statement(
    "depth/eq72",
    place="(67)–(70) and (72)",
    words="with Θ = [A; Bᵀ] and X̄_n = ½[[0, X_n], [X_nᵀ, 0]] the observed entries are ⟨ΘΘᵀ, X̄_n⟩, "
    "their derivatives 2X̄_nΘ, and the loss moves by 2(F − y)ᵀ[vec X̄_nΘ]ᵀ vec Θ'",
    draw=_two_points,
    tolerance=1e-12,
    mutations=[{"half": 0.55}, {"chain": 1.8}],
    errata=[
        Erratum(
            place="(72) (as our text reads it: a factor may be lost)",
            as_printed="the rows of the Jacobian are vec(X̄_nΘ)ᵀ",
            as_corrected="2 vec(X̄_nΘ)ᵀ, as in (70) and in the proof of Lemma E.9",
            constants={"twice": 1.0},
            gravity="misprint",
            right_in="(70), and the proof of Lemma E.9",
            glyph="a factor 2, which may be lost",
        )
    ],
)
def equation_72(
    factors: Array, mask: Array, goal: Array, *,
    half: float = 0.5, twice: float = 2.0, chain: float = 2.0,
) -> float:  # fmt: skip
    """Entries of the product, complex steps of them, and the squared velocity of the flow."""
    B, A = factors
    size = len(A)
    theta = np.concatenate([A, B.T])
    moved = velocity(factors, mask, goal)
    along = np.concatenate([moved[1], moved[0].T])
    entries, rows, rates = [], [], []
    for i, j in np.argwhere(mask):
        X = np.zeros((size, size))
        X[i, j] = 1.0
        paired = half * np.block([[np.zeros_like(X), X], [X.T, np.zeros_like(X)]])
        entries.append(np.sum(theta @ theta.T * paired))
        slopes = twice * paired @ theta
        rows.append(np.concatenate([slopes[size:].T.ravel(), slopes[:size].ravel()]))
        rates.append(chain * np.sum(paired @ theta * along))
    errors = (product(factors) - goal)[mask]
    return max(
        residual(entries, product(factors)[mask]),
        residual(rows, _observed(factors, mask)),
        residual(errors @ rates, -np.sum(moved**2)),
        residual(np.sum((entries - goal[mask]) ** 2) / 2, loss(factors, mask, goal)),
    )


@statement(
    "depth/lemmaE.9",
    place="Lemma E.9, (73)",
    words="the Jacobian of the observed entries is √d-Lipschitz, also in the Frobenius norm, "
    "where this is an equality if every entry is observed",
    draw=_two_points,
    kind="inequality",
    tolerance=1e-12,
    mutations=[{"power": 0.45}, {"factor": 0.95}],
)
def lemma_e_9(
    factors: Array, mask: Array, others: Array, *, power: float = 0.5, factor: float = 1.0
) -> float:
    """Both Jacobians by complex steps. For the spectral norm one would do in place of √d."""
    change = _observed(factors, mask) - _observed(others, mask)
    bound = factor * len(mask) ** power * np.linalg.norm(factors - others)
    return min(slack(np.linalg.norm(change), bound), slack(np.linalg.norm(change, 2), bound))


def _neighbours(rng: np.random.Generator, most: float = 1.0) -> dict[str, Any]:
    """A point on the surface of a ball; with one row and column one that meets a bound."""
    size = int(rng.choice([1, 1, 2, 3]))
    factors, mask = rng.normal(size=(2, size, size)), random_pattern(rng, size)
    way = rng.choice([-1.0, 1.0]) * factors if size == 1 else rng.normal(size=factors.shape)
    radius = most * _extremes(factors, mask)[0] / (2 * np.sqrt(size))
    others = factors + radius * way / np.linalg.norm(way)
    return {"factors": factors, "mask": mask, "others": others}


def _is_near(factors: Array, mask: Array, others: Array) -> bool:
    least, _ = _extremes(factors, mask)
    radius = least / (2 * np.sqrt(len(mask)))
    return bool(np.linalg.norm(others - factors) <= radius * (1 + 1e-9))


@statement(
    "depth/lemmaE.10",
    place="Lemma E.10",
    words="within σ_min/(2√d) of a point the Jacobian's singular values are at least σ_min/2 and "
    "at most 3σ_max/2, with the σ's of that point",
    draw=_neighbours,
    kind="inequality",
    tolerance=1e-8,
    hypotheses={_NEAR: _is_near},
    mutations=[{"half": 0.55}, {"three": 2.7}],
    without={_NEAR: lambda rng: _neighbours(rng, most=1.2)},
)
def lemma_e_10(
    factors: Array, mask: Array, others: Array, *, half: float = 0.5, three: float = 3.0
) -> float:
    """Jacobians by complex steps; with one row and one column both bounds are attained."""
    least, most = _extremes(factors, mask)
    low, high = _extremes(others, mask)
    return min(slack(half * least, low), slack(high, three * most / 2))


def _near_run(rng: np.random.Generator) -> dict[str, Any]:
    """A run within the ball, with one row and column nearly to its surface, inwards or outwards."""
    size = int(rng.choice([1, 1, 2, 3]))
    if size == 1:
        factors = rng.uniform(0.5, 1.5) * np.ones((2, 1, 1))
        mask, share = np.ones((1, 1), bool), rng.choice([0.5, 1.5])
        goal = share**2 * product(factors)
        times = np.array([0.1, 1.0, 9.0 / share**2]) / np.sum(factors**2)
    else:
        factors = np.stack([np.eye(size)] * 2) + 0.2 * rng.normal(size=(2, size, size))
        mask, goal = random_pattern(rng, size), product(factors)
        goal = goal + 0.02 / size * rng.normal(size=goal.shape)
        times = np.array([0.1, 0.5, 2.0]) / _extremes(factors, mask)[0] ** 2
    path = integrate_flow(factors, mask, goal, times)
    return {"factors": factors, "mask": mask, "goal": goal, "times": times, "path": path}


def _stays_near(factors: Array, mask: Array, path: Array) -> bool:
    return all(_is_near(factors, mask, at) for at in path)


def _far_run(rng: np.random.Generator) -> dict[str, Any]:
    """Far inwards, to a small value: the loss then decays more slowly than allowed."""
    factors, mask = rng.uniform(0.5, 1.5) * np.ones((2, 1, 1)), np.ones((1, 1), bool)
    goal = 0.01 * product(factors)
    times = np.array([0.5, 4.0, 16.0]) / np.sum(factors**2)
    return {"factors": factors, "mask": mask, "goal": goal, "times": times,
            "path": integrate_flow(factors, mask, goal, times)}  # fmt: skip


@statement(
    "depth/lemmaE.11",
    place="Lemma E.11, (74)",
    words="while the factors are within σ_min/(2√d) of their start, L' ≤ −½σ_min² L, and so "
    "L(t) ≤ L(0) e^{−σ_min²t/2}",
    draw=_near_run,
    kind="inequality",
    tolerance=1e-8,
    hypotheses={_NEAR: _stays_near},
    mutations=[{"rate": 0.55}],
    without={_NEAR: _far_run},
)
def lemma_e_11(
    factors: Array, mask: Array, goal: Array, times: Array, path: Array, *, rate: float = 0.5
) -> float:
    """The flow of the matrices, with J by complex steps; the rate is met on the ball's surface."""
    least, _ = _extremes(factors, mask)
    losses = np.array([loss(at, mask, goal) for at in path])
    falls = [np.sum(velocity(at, mask, goal) ** 2) for at in path]
    allowed = rate * least**2
    bound = loss(factors, mask, goal) * np.exp(-allowed * times)
    return min(slack(losses, bound), slack(allowed * losses, falls))


@statement(
    "depth/lemmaE.12",
    place="Lemma E.12, (75)",
    words="while the factors are within σ_min/(2√d) of their start their speed is at most "
    "(3/2)σ_max‖F − y‖, and they move by at most 6√2 σ_max √L(0)/σ_min²",
    draw=_near_run,
    kind="inequality",
    tolerance=1e-8,
    hypotheses={_NEAR: _stays_near},
    mutations=[{"speed": 1.4}, {"total": 6.6}, {"quarter": 0.225}],
)
def lemma_e_12(
    factors: Array, mask: Array, goal: Array, path: Array, *,
    speed: float = 1.5, total: float = 6.0, quarter: float = 0.25,
) -> float:  # fmt: skip
    """The flow of the matrices, and the integral of the proof by quadrature.

    The speed is met on the ball's surface. The distance is a fifth of its bound at most, so that
    bound is compared with speed × integral, which it must equal.
    """
    least, most = _extremes(factors, mask)
    begin = loss(factors, mask, goal)
    bound = total * np.sqrt(2 * begin) * most / least**2
    decay, _ = quad(lambda time: np.exp(-quarter * least**2 * time), 0, 400 / least**2, limit=200)
    if residual(bound, speed * most * np.sqrt(2 * begin) * decay) > 1e-7:
        return -1.0
    speeds = [np.linalg.norm(velocity(at, mask, goal)) for at in path]
    allowed = [speed * most * np.sqrt(2 * loss(at, mask, goal)) for at in path]
    moved = [np.linalg.norm(at - factors) for at in path]
    return min(slack(speeds, allowed), slack(moved, bound))
