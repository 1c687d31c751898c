"""What the first lags determine about later ones: Lemma 7, Theorem 8 and its proof."""

from typing import Any

import numpy as np
from scipy.optimize import linprog

from tacit.statements import residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.lowdim._shared import balanced_system, response, spread_nodes
from tacit.theory.lowdim import (
    extrapolation_bound,
    moment_range,
    nonextrapolating_student,
    prony,
)

_LONG = "k > 2d̂"
_BALANCED = "the student is balanced"


def _teacher(rng: np.random.Generator, *, most: int = 3) -> dict[str, Any]:
    order = int(rng.integers(1, most + 1))
    return {
        "nodes": spread_nodes(rng, order, 0.3, 0.9),
        "weights": rng.uniform(0.2, 1, size=order),
    }


def _lags(nodes: Array, weights: Array, count: int) -> Array:
    return nodes ** np.arange(count)[:, None] @ weights


def _later_lag(
    rng: np.random.Generator, *, length_less: int = 0, least: float = 0.0
) -> dict[str, Any]:
    instance = _teacher(rng)
    length = 2 * len(instance["nodes"]) + 1 - length_less
    return {**instance, "length": length, "lag": length + int(rng.integers(0, 8)), "least": least}


def _range_by_programme(target: Array, lag: int, nodes: Array, least: float) -> float:
    """The range of lag `lag` over students with eigenvalues on a fine grid: two linear programmes.

    The k lags are matched as Chebyshev moments, which span the same space and are well scaled.
    """
    grid = np.concatenate([np.cos(np.pi * np.arange(201) / 200), nodes])  # chosen
    rows = np.polynomial.chebyshev.chebvander(grid, len(target) - 1).T
    to_chebyshev = np.zeros((len(target), len(target)))
    for j in range(len(target)):
        coefficients = np.polynomial.chebyshev.cheb2poly(np.eye(j + 1)[j])
        to_chebyshev[j, : len(coefficients)] = coefficients
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * grid**lag, A_eq=rows, b_eq=to_chebyshev @ target, bounds=(least, None),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        if not found.success:
            raise RuntimeError(f"linear programme: {found.message}")
        ends.append(sign * found.fun)
    return float(ends[1] - ends[0])


@statement(
    "lowdim/lemma7",
    place="Lemma 7 (Lemma C.8)",
    words="a balanced student, of any width, that fits k > 2d̂ lags of a balanced teacher of "
    "order d̂ agrees with it at all later lags",
    draw=_later_lag,
    tolerance=1e-5,  # the programmes match lags to 1e-10; later lags magnify that
    hypotheses={
        _LONG: lambda nodes, length: length > 2 * len(nodes),
        _BALANCED: lambda least: least >= 0,
    },
    without={
        _LONG: lambda rng: _later_lag(rng, length_less=1),
        _BALANCED: lambda rng: _later_lag(rng, least=-0.1),
    },
)
def lemma_7(nodes: Array, weights: Array, length: int, lag: int, least: float) -> float:
    """The range of a later lag over all measures with the first k moments, by linear programmes.

    The weights B_i² of a balanced student on its eigenvalues form a positive measure. The weights
    C_iB_i of an unbalanced one (`least` < 0) do not. The library's range, in exact arithmetic, is
    over positive measures.
    """
    target = _lags(nodes, weights, length)
    width = _range_by_programme(target, lag, nodes, least)
    return max(width, moment_range(target, lag).width) / float(np.sum(weights))


@statement(
    "lowdim/lemma7-recovery",
    place="Lemma 7 (Lemma C.8), by the moment theorem it uses",
    words="the first 2d̂ + 1 lags of a balanced teacher of order d̂ determine its eigenvalues "
    "and B̂_i²",
    draw=_teacher,
    tolerance=1e-7,  # rounding of the lags, which nodes 0.3 apart magnify
    mutations=[{"power": 1}, {"sign": -1.0}],
)
def lemma_7_recovery(nodes: Array, weights: Array, *, power: int = 2, sign: float = 1.0) -> float:
    """The library's recovery from the recursion of a teacher in a random basis."""
    order = len(nodes)
    A, B = balanced_system(np.random.default_rng(0), nodes, weights, order)
    found = prony(response(A, B, B.T, 2 * order + 1), order, tolerance=1e-13)
    values, vectors = np.linalg.eigh(A)
    loads = (vectors.T @ B[:, 0]) ** power
    return max(residual(found.nodes, sign * values), residual(found.weights, loads))


def _division(nodes: Array, lag: int) -> tuple[Array, Array, Array]:
    """x^lag = g P + h with P = Π(x − λ_i)²: h and P by ascending powers, g by descending ones."""
    P = np.poly(np.repeat(nodes, 2))
    g, rest = np.polydiv(np.eye(lag + 1)[0], P)
    h = np.zeros(len(P))
    h[: len(rest)] = rest[::-1]
    return g, h, P[::-1]


def _furthest(nodes: Array, weights: Array, lag: int, size: float) -> tuple[Array, Array] | None:
    """The student whose k = 2d̂ + 1 errors, of norm `size`, move lag q the most, if there is one.

    The error of lag q is h·e + ∫ g P dμ with ∫ P dμ = P·e. It is largest for e along h + γP, where
    γ = g(x) is an extreme value of g, with an extra atom at x. This is to first order in `size`,
    which is enough here.
    """
    g, h, P = _division(nodes, lag)
    grid = np.linspace(-1, 1, 20001)
    values = np.polyval(g, grid)
    powers = np.arange(len(P))
    for sign, place in ((1.0, grid[np.argmax(values)]), (-1.0, grid[np.argmin(values)])):
        if np.min(np.abs(nodes - place)) < 0.05:
            continue
        aim = h + np.polyval(g, place) * P
        errors = sign * size * aim / np.linalg.norm(aim)
        slopes = powers[:, None] * nodes ** np.maximum(powers - 1, 0)[:, None]
        system = np.column_stack([nodes ** powers[:, None], slopes, place**powers])
        moves = np.linalg.solve(system, errors)
        more, shift = moves[: len(nodes)], moves[len(nodes) : -1]
        if moves[-1] > 0 and np.all(weights + more > 0):
            atoms = np.append(nodes + shift / (weights + more), place)
            if np.max(np.abs(atoms)) <= 1:
                return atoms, np.append(weights + more, moves[-1])
    return None


def _close_student(rng: np.random.Generator) -> dict[str, Any]:
    """The student with the largest error for its loss, or else any close one."""
    instance = _teacher(rng)
    order = len(instance["nodes"])
    length = 2 * order + 1
    lag = length + int(rng.integers(0, 10))
    size = 10 ** rng.uniform(-7, -5)
    made = (
        _furthest(instance["nodes"], instance["weights"], lag, size) if rng.random() < 0.8 else None
    )
    if made is None:
        atoms = np.tile(instance["nodes"], 2) + 1e-2 * rng.normal(size=2 * order)
        made = atoms, np.tile(instance["weights"] / 2, 2) * rng.uniform(0.9, 1.1, size=2 * order)
    A, B = balanced_system(rng, made[0], made[1], length + 2)
    return {**instance, "length": length, "lag": lag, "A": A, "B": B, "C": B.T}


def _short_student(rng: np.random.Generator) -> dict[str, Any]:
    """Fits 2d̂ lags to second order with an extra atom; lag 2d̂ is wrong to first order."""
    while True:
        instance = _teacher(rng, most=2)
        length = 2 * len(instance["nodes"])
        lag = length + 1
        made = _furthest(instance["nodes"], instance["weights"], length, 1e-4)
        if made is not None:
            A, B = balanced_system(rng, made[0], made[1], length + 3)
            return {**instance, "length": length, "lag": lag, "A": A, "B": B, "C": B.T}


def _signed_student(rng: np.random.Generator) -> dict[str, Any]:
    instance = _teacher(rng)
    length = 2 * len(instance["nodes"]) + 1
    lags = _lags(instance["nodes"], instance["weights"], length + 1)
    made = nonextrapolating_student(lags, length, length + 2, lags[-1] + 1.0)
    return {**instance, "length": length, "lag": length, **made._asdict()}


@statement(
    "lowdim/theorem8",
    place="Theorem 8 (Theorem C.9)",
    words="a balanced student with eigenvalues in [−1, 1] and loss δ on k > 2d̂ lags of a "
    "balanced, stable teacher has an error of at most c_q √δ at lag q, with a known c_q: it "
    "ε-extrapolates once δ ≤ (ε/c_q)². (The paper's proof gives the slower rate δ^{1/(4d̂q)}, "
    "with an unspecified constant.)",
    draw=_close_student,
    tolerance=1e-5,  # rounding of errors near 1e-7, magnified; some students attain the bound
    kind="inequality",
    hypotheses={
        _LONG: lambda nodes, length: length > 2 * len(nodes),
        _BALANCED: lambda B, C: np.array_equal(B, C.T),
        "d > k": lambda A, length: len(A) > length,
        "the teacher is stable": lambda nodes: np.max(np.abs(nodes)) <= 1,
        "the student is bounded": lambda A: np.max(np.abs(np.linalg.eigvals(A))) <= 1 + 1e-12,
    },
    mutations=[{"factor": 0.95}, {"power": 0.52}],
    without={_LONG: _short_student, _BALANCED: _signed_student},
)
def theorem_8(
    nodes: Array, weights: Array, length: int, lag: int, A: Array, B: Array, C: Array, *,
    factor: float = 1.0, power: float = 0.5,
) -> float:  # fmt: skip
    """Recursions of students built to be as wrong as their loss allows; c_q and the library's.

    c_q is the largest ‖h + γP‖ for x^q = g P + h, with P = Π(x − λ̂_i)² and γ the extreme values of
    g.
    """
    errors = response(A, B, C, lag + 1) - _lags(nodes, weights, lag + 1)
    loss = float(np.sum(errors[:length] ** 2))
    g, h, P = _division(nodes, lag)
    values = np.polyval(g, np.linspace(-1, 1, 20001))
    largest = max(np.linalg.norm(h + gamma * P) for gamma in (values.min(), values.max()))
    bound = factor * largest * loss**power
    found = slack(abs(errors[lag]), bound)
    if length > 2 * len(nodes) and (factor, power) == (1.0, 0.5):
        library = extrapolation_bound(nodes, weights, loss=loss, lag=lag, length=length)
        differs = residual(library.sharp, bound)
        for radius in (0.95, 1.2):
            options: dict[str, Any] = {"loss": loss, "lag": lag, "length": length, "radius": radius}
            chain = extrapolation_bound(nodes, weights, **options).theorem
            differs = max(differs, residual(chain, _chain(nodes, weights, **options)))
        return -differs if differs > 1e-6 else min(found, slack(bound, library.theorem))
    return found


def _chain(
    nodes: Array, weights: Array, *, loss: float, lag: int, length: int, radius: float
) -> float:
    """The chain of the proof as corrected, with ρ = 1: its steps are (C.36) and (C.37)."""
    tau, gain = max(1.0, radius), np.sum(weights)
    moments = np.sqrt(loss * (1 + tau ** (2 * length) + tau ** (length + 1.0))) / gain
    distance = moments ** (1 / (2 * len(nodes)))
    return float(lag * tau ** (lag - 1.0) * gain * distance + tau**lag * np.sqrt(loss))
