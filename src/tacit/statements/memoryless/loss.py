"""The population loss and its gradients: Lemmas 3.1, 3.2 and C.1, (5)–(7) and (21)–(23)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, complex_step, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import random_student, second_moment, white_sequences
from tacit.statements.memoryless._shared import error_of, extrapolating_student
from tacit.theory.memoryless import population_gradients, population_loss


def _student_with_inputs(rng: np.random.Generator, outputs: int, inputs: int) -> dict[str, Any]:
    length = int(rng.integers(1, 7))
    return {
        **random_student(rng, int(rng.integers(1, 7)), outputs, inputs),
        "target": rng.normal(size=(outputs, inputs)),
        "sequences": white_sequences(rng, length, inputs),
    }


def _single(rng: np.random.Generator) -> dict[str, Any]:
    return _student_with_inputs(rng, 1, 1)


def _multiple(rng: np.random.Generator) -> dict[str, Any]:
    outputs, inputs = rng.integers(1, 4, size=2)
    return _student_with_inputs(rng, int(outputs), int(inputs))


def _coloured(rng: np.random.Generator) -> dict[str, Any]:
    instance = _student_with_inputs(rng, 1, 1)
    sequences = instance["sequences"]
    mixing = np.eye(sequences.shape[1]) + 0.5 * rng.normal(size=(sequences.shape[1],) * 2)
    return {**instance, "sequences": np.einsum("tu,sun->stn", mixing, sequences)}


def _white_over_the_sum_of_times(rng: np.random.Generator) -> dict[str, Any]:
    """E[X] = 0 and E[XXᵀ] = Σ_t E[x_t x_tᵀ] = I for the inputs × times matrix X, as printed."""
    instance = _multiple(rng)
    length = int(rng.integers(2, 7))
    sequences = white_sequences(rng, length, instance["B"].shape[1]) / np.sqrt(length)
    return {**instance, "sequences": np.concatenate([sequences, -sequences])}


def _is_white(sequences: Array) -> bool:
    moment = second_moment(sequences)
    return residual(moment, np.eye(len(moment))) < 1e-10


def _formula(
    A: Array, B: Array, C: Array, target: Any, length: int, half: float, first: int
) -> Any:
    """(4) and (20): half · (‖CB − W*‖² + Σ_{i=first}^{k−1} ‖C A^{k−i} B‖²)."""
    total = np.sum((C @ B - target) ** 2)
    for i in range(first, length):
        total = total + np.sum((C @ np.linalg.matrix_power(A, length - i) @ B) ** 2)
    return half * total


def _loss_residual(
    A: Array, B: Array, C: Array, target: Array, sequences: Array, half: float, first: int
) -> float:
    length = sequences.shape[1]
    mean = 0.5 * np.mean(np.sum(error_of(A, B, C, target, sequences) ** 2, axis=1))
    printed = _formula(A, B, C, target, length, half, first)
    found = residual(mean, printed)
    if (half, first) == (0.5, 1):  # the library's function is checked against the recursion too
        found = max(found, residual(mean, population_loss(A, B, C, target, length)))
    return found


@statement(
    "memoryless/lemma3.1",
    place="Lemmas 3.1 and A.1, (4)",
    words="for white inputs the expected loss is ½(CB − w*)² + ½ Σ_{j=1}^{k−1} (C A^j B)²",
    draw=_single,
    tolerance=1e-10,
    hypotheses={"E[x xᵀ] = I": _is_white},
    mutations=[{"half": 1.0}, {"first": 2}],
    without={"E[x xᵀ] = I": _coloured},
    errata=[
        Erratum(
            place="proof of Lemma 3.1 (supplement, section 1)",
            as_printed="once the term i = k is taken out, the sum runs over i = 0, …, k − 1",
            as_corrected="it runs over i = 1, …, k − 1, as in (4): a sequence has no lag k",
            constants={"first": 0},
            gravity="misprint",
            right_in="(4)",
        )
    ],
)
def lemma_3_1(
    A: Array, B: Array, C: Array, target: Array, sequences: Array, *,
    half: float = 0.5, first: int = 1,
) -> float:  # fmt: skip
    """The mean of the recursion's squared error over a white ensemble, against the formula."""
    return _loss_residual(A, B, C, target, sequences, half, first)


@statement(
    "memoryless/lemmaC.1",
    place="Lemma C.1, (20), (24)",
    words="with several inputs and outputs the expected loss is (4) in Frobenius norms",
    draw=_multiple,
    tolerance=1e-10,
    hypotheses={"the inputs are white over times and channels": _is_white},
    mutations=[{"half": 1.0}, {"first": 2}, {"first": 0}],
    without={"the inputs are white over times and channels": _white_over_the_sum_of_times},
    errata=[
        Erratum(
            place="Lemma C.1",
            as_printed="E[X Xᵀ] = I_n for the n × k matrix X of inputs: the sum over times of the "
            "covariances is the identity",
            as_corrected="E[x_s x_tᵀ] = δ_st I_n for the columns of X, which the proof uses; the "
            "mean need not vanish",
            without="the inputs are white over times and channels",
            gravity="false statement",
            right_in="the proof, which uses uncorrelated columns",
        ),
        Erratum(
            place="(24), in the proof for several inputs and outputs",
            as_printed="the optimised loss is Σ_i ‖C A^i B‖² + ‖CB − W*‖²",
            as_corrected="half of it, as in (20); its zeros, which the proof needs, are the same",
            constants={"half": 1.0},
            gravity="misprint",
            right_in="(20)",
        ),
    ],
)
def lemma_c_1(
    A: Array, B: Array, C: Array, target: Array, sequences: Array, *,
    half: float = 0.5, first: int = 1,
) -> float:  # fmt: skip
    """The mean of the recursion's squared error over a white ensemble, against the formula."""
    return _loss_residual(A, B, C, target, sequences, half, first)


def _extrapolating_or_not(rng: np.random.Generator) -> dict[str, Any]:
    width, target = int(rng.integers(2, 7)), rng.normal(size=(1, 1))
    instance = {**extrapolating_student(rng, width, target, int(rng.integers(1, width + 1)))}
    extrapolates = bool(rng.integers(2))
    if not extrapolates:
        instance["A"] = instance["A"] + rng.normal(size=(width, width)) / width
        instance["C"] = instance["C"] * (1 + rng.integers(2) * rng.normal())
    sequences = rng.normal(size=(30, int(rng.integers(1, 3 * width)), 1))
    return {**instance, "target": target, "extrapolates": extrapolates, "sequences": sequences}


@statement(
    "memoryless/lemma3.2",
    place="Lemma 3.2, (2)",
    words="a student extrapolates if and only if CB = w* and C A^j B = 0 for all j ≥ 1: its "
    "error on any sequence depends on these numbers alone",
    draw=_extrapolating_or_not,
    tolerance=1e-10,
    mutations=[{"first": 2}, {"target_sign": -1.0}],
)
def lemma_3_2(
    A: Array, B: Array, C: Array, target: Array, sequences: Array, extrapolates: bool, *,
    first: int = 1, target_sign: float = 1.0,
) -> float:  # fmt: skip
    """Errors on random sequences against the conditions, and no error where all conditions hold.

    The conditions are taken for j up to twice the width; by Theorem 4.1 the others follow. The
    error is (CB − w*) x_n + Σ_j C A^j B x_{n−j}. As this is linear in the inputs, it vanishes on
    all sequences exactly when the conditions hold.
    """
    width, length = len(A), sequences.shape[1]
    powers = [C @ np.linalg.matrix_power(A, j) @ B for j in range(max(length, 2 * width))]
    conditions = np.array([power.item() for power in powers])
    conditions[0] -= target_sign * target.item()
    conditions[1:first] = 0
    size = np.max(np.abs(sequences)) * np.max(np.abs(target))
    errors = error_of(A, B, C, target, sequences)[:, 0]
    predicted = sequences[:, ::-1, 0] @ conditions[:length]
    found = residual(errors, predicted, scale=max(size, np.max(np.abs(errors))))
    satisfied = np.max(np.abs(conditions)) <= 1e-10 * np.max(np.abs(target))
    if satisfied != extrapolates:
        return np.inf
    return max(found, np.max(np.abs(errors)) / size) if satisfied else found


def _gradient_point(rng: np.random.Generator, outputs: int, inputs: int) -> dict[str, Any]:
    return {
        **random_student(rng, int(rng.integers(1, 6)), outputs, inputs),
        "target": rng.normal(size=(outputs, inputs)),
        "length": int(rng.integers(1, 7)),
    }


def _single_gradient(rng: np.random.Generator) -> dict[str, Any]:
    return _gradient_point(rng, 1, 1)


def _multiple_gradient(rng: np.random.Generator) -> dict[str, Any]:
    outputs, inputs = rng.integers(1, 4, size=2)
    return _gradient_point(rng, int(outputs), int(inputs))


def _gradient_residual(
    A: Array, B: Array, C: Array, target: Array, length: int,
    factor: float, shift: int, target_sign: float, transposed: bool,
) -> float:  # fmt: skip
    power = np.linalg.matrix_power
    first = C @ B - target_sign * target
    back = A.T if transposed else A
    gradient_B, gradient_C = C.T @ first, first @ B.T
    gradient_A = np.zeros_like(A)
    for i in range(1, length):
        middle = C @ power(A, i) @ B
        gradient_B = gradient_B + power(back, i) @ C.T @ middle
        gradient_C = gradient_C + middle @ B.T @ power(back, i)
        for r in range(i):
            gradient_A = gradient_A + power(back, r) @ C.T @ middle @ B.T @ power(
                back, i - r - 1 + shift
            )
    printed = factor * gradient_A, factor * gradient_B, factor * gradient_C
    measured = (
        complex_step(lambda at: _formula(at, B, C, target, length, 0.5, 1), A),
        complex_step(lambda at: _formula(A, at, C, target, length, 0.5, 1), B),
        complex_step(lambda at: _formula(A, B, at, target, length, 0.5, 1), C),
    )
    # one scale for all three: the gradient with respect to A is zero at k = 1
    scale = max(float(np.max(np.abs(part))) for part in measured)
    made = population_gradients(A, B, C, target, length)
    return max(
        max(residual(p, m, scale=scale), residual(t, m, scale=scale))
        for p, t, m in zip(printed, made, measured, strict=True)
    )


_WRONG_GRADIENTS: list[dict[str, Any]] = [
    {"factor": 2.0},
    {"shift": 1},
    {"target_sign": -1.0},
    {"transposed": False},
]


@statement(
    "memoryless/equations5-7",
    place="(5)–(7)",
    words="the gradients of the loss with respect to B, C and A are the printed sums",
    draw=_single_gradient,
    tolerance=1e-10,
    mutations=_WRONG_GRADIENTS,
)
def equations_5_to_7(
    A: Array, B: Array, C: Array, target: Array, length: int, *,
    factor: float = 1.0, shift: int = 0, target_sign: float = 1.0, transposed: bool = True,
) -> float:  # fmt: skip
    """The sums, and the library's gradients, against complex steps of the loss (4)."""
    return _gradient_residual(A, B, C, target, length, factor, shift, target_sign, transposed)


@statement(
    "memoryless/equations21-23",
    place="(21)–(23)",
    words="the gradients for several inputs and outputs are the same sums with W*",
    draw=_multiple_gradient,
    tolerance=1e-10,
    mutations=_WRONG_GRADIENTS,
)
def equations_21_to_23(
    A: Array, B: Array, C: Array, target: Array, length: int, *,
    factor: float = 1.0, shift: int = 0, target_sign: float = 1.0, transposed: bool = True,
) -> float:  # fmt: skip
    """The sums, and the library's gradients, against complex steps of the loss (20)."""
    return _gradient_residual(A, B, C, target, length, factor, shift, target_sign, transposed)
