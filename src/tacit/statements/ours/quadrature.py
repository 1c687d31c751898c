"""Balanced students and the moment problem: the threshold 2d̂ + 1, and Gauss quadrature below it."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import linprog

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.ours._shared import BELOW, draw_teacher, exact_moments, jacobi, moment_of
from tacit.theory.lowdim import moment_range, prony

_INTERIOR = "the atoms lie inside (−1, 1)"


def _lobatto(nodes: Array, weights: Array) -> Array:
    """The Jacobi matrix of the measure on ±1 and d̂ − 1 inner points with the same 2d̂ moments.

    Golub's modification: α and β of the last row are such that both ends are eigenvalues.
    """
    order = len(nodes)
    J = jacobi(nodes, weights, order)
    inner = np.linalg.eigvalsh(J[: order - 1, : order - 1])
    ends = np.array([-1.0, 1.0])
    table = np.array([[np.prod(end - nodes), np.prod(end - inner)] for end in ends])
    alpha, beta = np.linalg.solve(table, ends * table[:, 0])
    extended = np.zeros((order + 1, order + 1))
    extended[:order, :order] = J
    extended[order, order] = alpha
    extended[order - 1, order] = extended[order, order - 1] = np.sqrt(max(beta, 0.0))
    return extended


def _programme(points: Array, moments: list[Fraction], lag: int) -> Array:
    """The range of a moment as a linear programme over measures on a grid and extra points."""
    grid = np.unique(np.concatenate([np.linspace(-1, 1, 401), points]))
    rows = chebyshev.chebvander(grid, len(moments) - 1).T
    exact = [float(m) for m in moments]
    known = [
        np.dot(c := chebyshev.cheb2poly([0] * j + [1]), exact[: len(c)]) for j in range(len(exact))
    ]
    ends = []
    for sign in (1.0, -1.0):
        solved = linprog(sign * grid**lag, A_eq=rows, b_eq=known, bounds=(0, None))
        ends.append(sign * solved.fun if solved.status == 0 else np.nan)
    return np.array(ends)


def _threshold_teacher(rng: np.random.Generator) -> dict[str, Any]:
    order = int(rng.integers(1, 5))
    return {**draw_teacher(rng, order), "lag": 2 * order + 2 * int(rng.integers(1, 4))}


def _teacher_on_the_end(rng: np.random.Generator) -> dict[str, Any]:
    instance = _threshold_teacher(rng)
    nodes = instance["nodes"].copy()
    nodes[-1] = 1.0
    return {**instance, "nodes": nodes}


@statement(
    "ours/threshold",
    place="theory.lowdim.moment_range; lowdim, Lemma 7",
    words="for d̂ atoms inside the support, k lags determine every later one exactly from "
    "k = 2d̂ + 1 on; with 2d̂ of them an even lag may still be anything from the teacher's own value "
    "to that of the Lobatto rule with d̂ + 1 nodes",
    draw=_threshold_teacher,
    tolerance=1e-3,
    hypotheses={_INTERIOR: lambda nodes: np.max(np.abs(nodes)) < 1},
    mutations=[{"more": 0}, {"more": 2}],
    without={_INTERIOR: _teacher_on_the_end},
)
def threshold(nodes: Array, weights: Array, lag: int, *, more: int = 1) -> float:
    """The ranges at k = 2d̂ and 2d̂ + 1, by the library and by linear programmes.

    The programmes may use a grid of 401 points and the nodes of both rules. No measure on the grid
    may go beyond the rules, up to the solver's tolerance of 1e-7. The library's ends must equal
    theirs to ten digits, and its range at 2d̂ + 1 must be a point.
    """
    order, mass = len(nodes), float(np.sum(weights))
    own = float(np.sum(weights * nodes**lag))
    lobatto = _lobatto(nodes, weights)
    highest = moment_of(lobatto, mass, lag)
    points = np.concatenate([nodes, np.clip(np.linalg.eigvalsh(lobatto), -1, 1)])
    found = 0.0
    for k in (2 * order, 2 * order + 1):
        given = exact_moments(nodes, weights, k)
        ends = np.array(moment_range(given, lag))
        is_point = bool(ends[1] - ends[0] <= 1e-12 * mass)
        expected = np.array([own, own if is_point else highest])
        if is_point != (k >= 2 * order + more) or residual(ends, expected, scale=mass) > 1e-10:
            return 1.0
        found = max(found, residual(_programme(points, given, lag), expected, scale=highest - own))
    return found


def _teacher_below(rng: np.random.Generator) -> dict[str, Any]:
    rule = int(rng.integers(1, 4))
    order = rule + int(rng.integers(1, 4))
    return {**draw_teacher(rng, order), "rule": rule, "lag": 2 * rule + 2 * int(rng.integers(0, 4))}


@statement(
    "ours/gauss-range",
    place="theory.lowdim.moment_range, prony",
    words="an even number 2n < 2d̂ of lags leaves a range for later even lags, whose lower end "
    "is the moment of the Gauss rule with n nodes",
    draw=_teacher_below,
    tolerance=1e-9,
    hypotheses={BELOW: lambda nodes, rule: rule < len(nodes)},
    mutations=[{"nodes_more": 1}, {"end": 1}],
)
def gauss_range(
    nodes: Array, weights: Array, rule: int, lag: int, *, nodes_more: int = 0, end: int = 0
) -> float:
    """The rule by Lanczos' method on the atoms, without moments, against range and atoms."""
    mass = float(np.sum(weights))
    J = jacobi(nodes, weights, rule + nodes_more)
    given = exact_moments(nodes, weights, 2 * rule)
    found = residual(moment_range(given, lag)[end], moment_of(J, mass, lag), scale=mass)
    if nodes_more == 0:
        atoms = prony(given, rule)
        found = max(found, residual(atoms.nodes, np.linalg.eigvalsh(J), scale=1.0))
    return found
