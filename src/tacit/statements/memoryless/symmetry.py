"""Descent from a symmetric start: Theorem 6.1, Remark 6.2 and complementary slackness."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.statements import residual, slack, statement
from tacit.statements._shared_numbers import Array, is_symmetric
from tacit.statements._shared_systems import random_student
from tacit.statements.memoryless._descent import descend
from tacit.statements.memoryless._shared import lag_errors

_SYMMETRIC = "A = Aᵀ at the start"
_EQUAL = "B = Cᵀ at the start"
_OPPOSITE = "B = −Cᵀ at the start"
_TWO_LAGS = "k > 2"
_WIDE = "d ≥ k"


def _start(
    rng: np.random.Generator, *, sign: float = 1.0, size: int = 1, length: int | None = None
) -> dict[str, Any]:
    """A symmetric start of norm at most one, for which the step size is stable."""
    length = int(rng.integers(3, 6)) if length is None else length
    width = length + int(rng.integers(0, 3))
    A = rng.normal(size=(width, width))
    A = A + A.T
    B = rng.normal(size=(width, size))
    B *= 0.8 / np.linalg.norm(B, 2)
    factor = rng.normal(size=(size, size))
    W = factor @ factor.T
    return {
        "A": A * rng.uniform(0.3, 1.0) / np.linalg.norm(A, 2),
        "B": B,
        "C": sign * B.T,
        "target": sign * (0.5 * np.eye(size) + W / np.linalg.norm(W, 2)),
        "length": length,
    }


def _unequal(rng: np.random.Generator, *, sign: float = 1.0) -> dict[str, Any]:
    instance = _start(rng, sign=sign)
    other = rng.normal(size=instance["C"].shape)
    return {**instance, "C": 0.8 * other / np.linalg.norm(other)}


def _unsymmetric(rng: np.random.Generator) -> dict[str, Any]:
    instance = _start(rng)
    other = rng.normal(size=instance["A"].shape)
    return {**instance, "A": other / np.linalg.norm(other, 2)}


def _negative(rng: np.random.Generator) -> dict[str, Any]:
    instance = _start(rng)
    return {**instance, "target": -instance["target"]}


def _unsymmetric_target(rng: np.random.Generator) -> dict[str, Any]:
    instance = _start(rng, size=2)
    return {**instance, "target": instance["target"] + 0.5 * np.array([[0.0, 1.0], [-1.0, 0.0]])}


def _slack_after_descent(
    start: Mapping[str, Any], sign: float, loss_factor: float, exponent_more: float, until: float
) -> float:
    """How far later lags stay below ‖A‖^{j−2} √(2L), and below `_ALLOWED` √`until` at the end.

    It is negative if symmetry is lost, or if the descent does not converge.
    """
    target, length = start["target"], start["length"]
    A, B, C = descend(**start, until=until)
    asymmetry = max(residual(A, A.T), residual(B, sign * C.T))
    if asymmetry > 1e-7:  # rounding errors grow along the way
        return -asymmetry
    errors = lag_errors(A, B, C, target, 3 * len(A))
    squares = np.sum(errors[:length] ** 2)
    loss = 0.5 * squares
    lags = np.arange(2, len(errors))
    later = np.linalg.norm(errors[lags], 2, axis=(1, 2))
    largest = np.linalg.norm(A, 2)
    bound = largest ** (lags - 2.0 + exponent_more) * np.sqrt(loss_factor * loss)
    return min(slack(later, bound), slack(later, _ALLOWED * np.sqrt(until)), slack(squares, until))


_SMALL, _SMALL_FOR_MATRICES = 1e-12, 1e-8  # the sum of squared errors at the end
_ALLOWED = 10.0
_WRONG_BOUNDS: list[dict[str, Any]] = [{"loss_factor": 1.8}, {"exponent_more": 0.2}]


@statement(
    "memoryless/theorem6.1",
    place="Theorem 6.1",
    words="descent from A = Aᵀ, B = Cᵀ keeps this, and then |C A^j B| ≤ ‖A‖^{j−2} √(2L) for j ≥ 2 "
    "if k > 2: once it has converged to loss zero the student extrapolates",
    draw=_start,
    tolerance=1e-9,
    kind="inequality",
    hypotheses={
        _SYMMETRIC: lambda A: is_symmetric(A),
        _EQUAL: lambda B, C: np.array_equal(B, C.T),
        _TWO_LAGS: lambda length: length > 2,
        _WIDE: lambda A, length: len(A) >= length,
        "w* > 0": lambda target: target.item() > 0,
    },
    mutations=_WRONG_BOUNDS,
    without={
        _SYMMETRIC: _unsymmetric,
        _EQUAL: _unequal,
        _TWO_LAGS: lambda rng: _start(rng, length=2),
        "w* > 0": _negative,
    },
    instances=10,
)
def theorem_6_1(
    A: Array, B: Array, C: Array, target: Array, length: int, *,
    loss_factor: float = 2.0, exponent_more: float = 0.0,
) -> float:  # fmt: skip
    """Descent until 2L < 1e-12, then responses far beyond k, all below 1e-5.

    The theorem is about the limit, where L = 0. The bound holds at every loss and follows from the
    proof: C A^j B = (AB)ᵀ A^{j−2} (AB) for a symmetric student, and ‖AB‖² = C A² B is one of the
    lags in the loss. It does not need w* > 0, but without that the loss cannot vanish.
    """
    start = {"A": A, "B": B, "C": C, "target": target, "length": length}
    return _slack_after_descent(start, 1.0, loss_factor, exponent_more, _SMALL)


@statement(
    "memoryless/theorem6.1-mimo",
    place="Theorem 6.1 for several inputs and outputs (section C)",
    words="with W* symmetric and positive semidefinite, descent from A = Aᵀ, B = Cᵀ keeps this, "
    "and ‖C A^j B‖ ≤ ‖A‖^{j−2} √(2L) for j ≥ 2",
    draw=lambda rng: _start(rng, size=2),
    tolerance=1e-9,
    kind="inequality",
    hypotheses={
        _SYMMETRIC: lambda A: is_symmetric(A),
        _EQUAL: lambda B, C: np.array_equal(B, C.T),
        _TWO_LAGS: lambda length: length > 2,
        "W* is symmetric": lambda target: is_symmetric(target),
        "W* ≥ 0": lambda target: np.linalg.eigvalsh(target + target.T).min() >= 0,
    },
    mutations=_WRONG_BOUNDS,
    without={
        "W* is symmetric": _unsymmetric_target,
        _TWO_LAGS: lambda rng: _start(rng, size=2, length=2),
    },
    instances=10,
)
def theorem_6_1_mimo(
    A: Array, B: Array, C: Array, target: Array, length: int, *,
    loss_factor: float = 2.0, exponent_more: float = 0.0,
) -> float:  # fmt: skip
    """As for one input and one output, in spectral norms and until 2L < 1e-8."""
    start = {"A": A, "B": B, "C": C, "target": target, "length": length}
    return _slack_after_descent(start, 1.0, loss_factor, exponent_more, _SMALL_FOR_MATRICES)


@statement(
    "memoryless/remark6.2",
    place="Remark 6.2",
    words="for w* < 0 the same follows from a start with B = −Cᵀ",
    draw=lambda rng: _start(rng, sign=-1.0),
    tolerance=1e-9,
    kind="inequality",
    hypotheses={
        _SYMMETRIC: lambda A: is_symmetric(A),
        _OPPOSITE: lambda B, C: np.array_equal(B, -C.T),
        _TWO_LAGS: lambda length: length > 2,
        "w* < 0": lambda target: target.item() < 0,
    },
    mutations=[*_WRONG_BOUNDS, {"sign": 1.0}],
    without={_OPPOSITE: lambda rng: _unequal(rng, sign=-1.0)},
    instances=10,
)
def remark_6_2(
    A: Array, B: Array, C: Array, target: Array, length: int, *,
    loss_factor: float = 2.0, exponent_more: float = 0.0, sign: float = -1.0,
) -> float:  # fmt: skip
    """Descent until 2L < 1e-12, then responses far beyond k; B = sign · Cᵀ must be kept."""
    start = {"A": A, "B": B, "C": C, "target": target, "length": length}
    return _slack_after_descent(start, sign, loss_factor, exponent_more, _SMALL)


def _symmetric_student(rng: np.random.Generator) -> dict[str, Any]:
    instance = random_student(rng, int(rng.integers(2, 8)), 1, 1)
    return {"A": (instance["A"] + instance["A"].T) / 2, "B": instance["B"], "C": instance["B"].T}


def _any_student(rng: np.random.Generator) -> dict[str, Any]:
    instance = random_student(rng, int(rng.integers(2, 8)), 1, 1)
    return {**instance, "C": instance["B"].T}


@statement(
    "memoryless/equation13",
    place="(11)–(13)",
    words="for a symmetric student C A^j B = Σ_i u_i² λ_i^j with u = VᵀB, so that every u_i λ_i "
    "vanishes with C A² B: complementary slackness",
    draw=_symmetric_student,
    tolerance=1e-10,
    hypotheses={
        "A = Aᵀ": lambda A: is_symmetric(A),
        "B = Cᵀ": lambda B, C: np.array_equal(B, C.T),
    },
    mutations=[{"power_of_u": 1}, {"lag_less": 1}],
    without={"A = Aᵀ": _any_student},
)
def equation_13(A: Array, B: Array, C: Array, *, power_of_u: int = 2, lag_less: int = 0) -> float:
    """Impulse responses against sums over eigenvalues, and the bound |u_i λ_i| ≤ √(C A² B)."""
    response = lag_errors(A, B, C, np.zeros((1, 1)), 8)[:, 0, 0]
    values, vectors = np.linalg.eigh(A)
    u = vectors.T @ B[:, 0]
    sums = [np.sum(u**power_of_u * values ** (j - lag_less)) for j in range(1, 8)]
    excess = np.max(np.abs(u * values)) / np.sqrt(abs(response[2])) - 1
    return max(residual(response[1:], sums), float(excess))
