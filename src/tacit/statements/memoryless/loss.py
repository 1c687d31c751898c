"""The population loss: Lemmas 3.1, 3.2 and C.1."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import random_student, second_moment, white_sequences
from tacit.statements.memoryless._shared import error_of, extrapolating_student, loss_formula
from tacit.theory.memoryless import population_loss


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


def _loss_residual(
    A: Array, B: Array, C: Array, target: Array, sequences: Array, half: float, first: int
) -> float:
    length = sequences.shape[1]
    mean = 0.5 * np.mean(np.sum(error_of(A, B, C, target, sequences) ** 2, axis=1))
    printed = loss_formula(A, B, C, target, length, half, first)
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
