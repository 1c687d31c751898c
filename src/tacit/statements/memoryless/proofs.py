"""Steps of the proofs: (8)–(10), (15)–(17), (25)–(27) and (28)–(33)."""

import functools
from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, statement
from tacit.statements._shared_numbers import Array, is_symmetric
from tacit.statements._shared_systems import (
    last_outputs,
    random_student,
    second_moment,
    white_sequences,
)
from tacit.statements.memoryless._shared import lag_errors

_WHITE = "the inputs are white over times and channels"


def _student(rng: np.random.Generator, outputs: int, inputs: int) -> dict[str, Any]:
    length = int(rng.integers(2, 6))
    return {
        **random_student(rng, int(rng.integers(1, 6)), outputs, inputs),
        "target": rng.normal(size=(outputs, inputs)),
        "length": length,
    }


def _symmetric(rng: np.random.Generator) -> dict[str, Any]:
    instance = _student(rng, 1, 1)
    A, B = instance["A"], instance["B"]
    rate = float(rng.uniform(0.01, 0.1))
    return {**instance, "A": (A + A.T) / 2, "C": B.T, "rate": rate}


def _unequal(rng: np.random.Generator) -> dict[str, Any]:
    instance = _symmetric(rng)
    return {**instance, "C": instance["C"] + rng.normal(size=instance["C"].shape)}


@statement(
    "memoryless/equations8-10",
    place="(8)–(10)",
    words="a step of descent changes B, C and A by −η times the printed sums, which keep B = Cᵀ "
    "and A = Aᵀ",
    draw=_symmetric,
    tolerance=1e-10,
    hypotheses={
        "A = Aᵀ": lambda A: is_symmetric(A),
        "B = Cᵀ": lambda B, C: np.array_equal(B, C.T),
    },
    mutations=[{"factor": 1.01}, {"fit": 1.01}, {"shift": 1}],
    without={"B = Cᵀ": _unequal},
)
def equations_8_to_10(
    A: Array, B: Array, C: Array, target: Array, length: int, rate: float, *,
    factor: float = 1.0, fit: float = 1.0, shift: int = 0,
) -> float:  # fmt: skip
    """The printed step against complex steps of the squared errors of the recursion on impulses."""
    power = np.linalg.matrix_power

    def loss(A: Array, B: Array, C: Array) -> Any:
        state, total = B, 0.5 * np.sum((C @ B - target) ** 2)
        for _ in range(1, length):
            state = A @ state
            total = total + 0.5 * np.sum((C @ state) ** 2)
        return total

    gap = fit * (C @ B - target)
    step_B, step_C, step_A = C.T @ gap, gap @ B.T, np.zeros_like(A)
    for i in range(1, length):
        middle = C @ power(A, i) @ B
        step_B = step_B + power(A.T, i) @ C.T @ middle
        step_C = step_C + middle @ B.T @ power(A.T, i)
        for r in range(i):
            step_A = step_A + power(A.T, r) @ C.T @ middle @ B.T @ power(A.T, i - r - 1 + shift)
    printed = [
        part - factor * rate * step for part, step in ((A, step_A), (B, step_B), (C, step_C))
    ]
    true = [
        A - rate * complex_step(lambda at: loss(at, B, C), A),
        B - rate * complex_step(lambda at: loss(A, at, C), B),
        C - rate * complex_step(lambda at: loss(A, B, at), C),
    ]
    parts = zip(printed, true, (A, B, C), strict=True)
    scale = max(float(np.max(np.abs(t - start))) for t, start in zip(true, (A, B, C), strict=True))
    return max(
        *(residual(p - start, t - start, scale=scale) for p, t, start in parts),
        residual(printed[1], printed[2].T),
        residual(printed[0], printed[0].T),
    )


def _half_square(row: Array, at: Array) -> Any:
    return 0.5 * np.sum((row @ at) ** 2)


def _with_inputs(rng: np.random.Generator, outputs: int, inputs: int) -> dict[str, Any]:
    instance = _student(rng, outputs, inputs)
    return {**instance, "sequences": white_sequences(rng, instance["length"], inputs)}


def _single(rng: np.random.Generator) -> dict[str, Any]:
    return _with_inputs(rng, 1, 1)


def _multiple(rng: np.random.Generator) -> dict[str, Any]:
    return _with_inputs(rng, *(int(size) for size in rng.integers(1, 4, size=2)))


def _coloured(rng: np.random.Generator) -> dict[str, Any]:
    instance = _multiple(rng)
    size = instance["sequences"].shape[1]
    mixing = np.eye(size) + 0.5 * rng.normal(size=(size, size))
    return {**instance, "sequences": np.einsum("tu,sun->stn", mixing, instance["sequences"])}


def _is_white(sequences: Array) -> bool:
    moment = second_moment(sequences)
    return residual(moment, np.eye(len(moment))) < 1e-10


@statement(
    "memoryless/equation15",
    place="(15)–(17)",
    words="the squared error is (Σ CA^{k−i}Bx_i)² + (w*x_k)² − 2 Σ CA^{k−j}Bx_j x_k w*, and the "
    "gradients of ½(CB − w*)² and ½(CA^jB)² by B are Cᵀ(CB − w*) and (Aᵀ)^j CᵀCA^jB",
    draw=_single,
    tolerance=1e-10,
    mutations=[{"two": 2.02}, {"first": 1.01}, {"later": 1.01}, {"transposed": False}],
)
def equation_15(
    A: Array, B: Array, C: Array, target: Array, length: int, sequences: Array, *,
    two: float = 2.0, first: float = 1.0, later: float = 1.0, transposed: bool = True,
) -> float:  # fmt: skip
    """The recursion on sequences, and complex steps of each term of the loss."""
    goal, power = target.item(), np.linalg.matrix_power
    x = sequences[:, :, 0]
    error = last_outputs(A, B, C, sequences)[:, 0] - goal * x[:, -1]
    weights = np.array([(C @ power(A, length - i) @ B).item() for i in range(1, length + 1)])
    terms = (x @ weights) ** 2 + (goal * x[:, -1]) ** 2 - two * (x @ weights) * x[:, -1] * goal
    found = max(
        residual(error**2, terms),
        residual(
            complex_step(lambda at: 0.5 * np.sum((C @ at - target) ** 2), B),
            first * C.T @ (C @ B - target),
        ),
    )
    back = A.T if transposed else A
    for j in range(1, length):
        row = C @ power(A, j)
        measured = complex_step(functools.partial(_half_square, row), B)
        printed = later * power(back, j) @ C.T @ row @ B
        found = max(found, residual(measured, printed))
    return found


@statement(
    "memoryless/equation29",
    place="(28)–(33)",
    words="for white inputs E‖Q − R‖² = E tr QᵀQ − 2 E tr QᵀR + E tr RᵀR, the three being "
    "Σ‖CA^{k−i}B‖², tr (CB)ᵀW* and tr W*ᵀW*; together Σ_{i<k}‖CA^{k−i}B‖² + ‖CB − W*‖²",
    draw=_multiple,
    tolerance=1e-10,
    hypotheses={_WHITE: _is_white},
    mutations=[{"two": 2.02}, {"squares": 1.01}, {"mixed": 1.01}, {"own": 1.01}],
    without={_WHITE: _coloured},
)
def equation_29(
    A: Array, B: Array, C: Array, target: Array, length: int, sequences: Array, *,
    two: float = 2.0, squares: float = 1.0, mixed: float = 1.0, own: float = 1.0,
) -> float:  # fmt: skip
    """Means over equally likely sequences: outputs Q of the recursion, outputs R of the teacher."""
    Q, R = last_outputs(A, B, C, sequences), sequences[:, -1] @ target.T
    whole = np.mean(np.sum((Q - R) ** 2, axis=1))
    means = [np.mean(np.sum(one * other, axis=1)) for one, other in ((Q, Q), (Q, R), (R, R))]
    W = [C @ np.linalg.matrix_power(A, length - i) @ B for i in range(1, length + 1)]
    total = squares * sum(np.sum(each**2) for each in W)
    cross, goal = mixed * np.trace((C @ B).T @ target), own * np.trace(target.T @ target)
    rest = sum(np.sum(each**2) for each in W[:-1])
    scale = float(sum(means[::2]))
    printed = [means[0] - two * means[1] + means[2], total - two * cross + goal]
    forms = [rest + np.sum((C @ B) ** 2) - two * cross + goal, rest + np.sum((C @ B - target) ** 2)]
    return max(
        residual(means, [total, cross, goal], scale=scale),
        residual([whole] * 4, [*printed, *forms], scale=scale),
    )


def _several(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(1, 4))
    instance = random_student(rng, int(rng.integers(2, 8)), size, size)
    return {"A": (instance["A"] + instance["A"].T) / 2, "B": instance["B"], "C": instance["B"].T}


def _any_several(rng: np.random.Generator) -> dict[str, Any]:
    instance = _several(rng)
    return {**instance, "A": instance["A"] + np.triu(rng.normal(size=instance["A"].shape), 1)}


@statement(
    "memoryless/equation27",
    place="(25)–(27)",
    words="for a symmetric student with several inputs [C A^p B]_ij = Σ_s U_si U_sj λ_s^p with "
    "U = VᵀB, so that every U_si λ_s vanishes with C A² B",
    draw=_several,
    tolerance=1e-10,
    hypotheses={
        "A = Aᵀ": lambda A: is_symmetric(A),
        "B = Cᵀ": lambda B, C: np.array_equal(B, C.T),
    },
    mutations=[{"power": 2.2}, {"lag_more": 1}],
    without={"A = Aᵀ": _any_several},
)
def equation_27(A: Array, B: Array, C: Array, *, power: float = 2.0, lag_more: int = 0) -> float:
    """Impulse responses against sums over eigenvalues, and Σ_s (U_si λ_s)² = [C A² B]_ii."""
    response = lag_errors(A, B, C, np.zeros((len(C), B.shape[1])), 8)
    values, vectors = np.linalg.eigh(A)
    U = vectors.T @ B
    sums = [np.einsum("si,sj,s->ij", U, U, values ** (p + lag_more)) for p in range(1, 8)]
    squares = np.sum(np.abs(U * values[:, None]) ** power, axis=0)
    return max(residual(response[1:], sums), residual(np.diag(response[2]), squares))
