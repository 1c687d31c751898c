"""The loss, its gradients, and what a fit does not determine: Prop. 3, Lemmas C.1, C.3, C.4."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, complex_step, residual, statement
from tacit.statements._shared_numbers import Array, is_symmetric
from tacit.statements._shared_systems import (
    last_outputs,
    random_student,
    second_moment,
    white_sequences,
)
from tacit.statements.lowdim._shared import impulse_outputs, loss_of, random_orthogonal, response
from tacit.theory.lowdim import nonextrapolating_student

_WHITE = "E[x xᵀ] = I"
_WIDE = "d > k"
_SYMMETRIC = "A = Aᵀ"
_BALANCED = "B = Cᵀ"


def _student(rng: np.random.Generator) -> dict[str, Any]:
    return random_student(rng, int(rng.integers(1, 7)), 1, 1)


@statement(
    "lowdim/definition1",
    place="Definition 1",
    words="the outputs for the input 1, 0, 0, … are y_0 = 0 and y_{j+1} = C A^j B",
    draw=_student,
    tolerance=1e-12,
    mutations=[{"first": 2}],
    errata=[
        Erratum(
            as_printed="the output sequence is (CB, CAB, CA²B, …)",
            as_corrected="by (3.1) the state is zero when y_0 is read, so the sequence is (0, "
            "CB, CAB, …): lag j is y_{j+1}, in agreement with the label y_k of k inputs",
            constants={"first": 0},
            gravity="misprint",
        )
    ],
)
def definition_1(A: Array, B: Array, C: Array, *, first: int = 1) -> float:
    """The recursion (3.1) against powers of A."""
    powers = [(C @ np.linalg.matrix_power(A, j) @ B).item() for j in range(6)]
    outputs = impulse_outputs(A, B, C, 6 + first)
    return max(residual(outputs[first:], powers), float(np.max(np.abs(outputs[:first]), initial=0)))


def _pair_with_inputs(rng: np.random.Generator) -> dict[str, Any]:
    teacher = random_student(rng, int(rng.integers(1, 5)), 1, 1)
    return {
        **_student(rng),
        **{"teacher_" + name: value for name, value in teacher.items()},
        "sequences": white_sequences(rng, int(rng.integers(1, 7)), 1),
    }


def _pair_with_coloured_inputs(rng: np.random.Generator) -> dict[str, Any]:
    instance = _pair_with_inputs(rng)
    length = instance["sequences"].shape[1]
    mixing = np.eye(length) + 0.5 * rng.normal(size=(length, length))
    return {**instance, "sequences": np.einsum("tu,sun->stn", mixing, instance["sequences"])}


def _is_white(sequences: Array) -> bool:
    moment = second_moment(sequences)
    return residual(moment, np.eye(len(moment))) < 1e-10


@statement(
    "lowdim/lemmaC.1",
    place="Lemma C.1, (3.4), (C.1)–(C.8) and (C.13)",
    words="for white inputs the expected squared error of the last output is "
    "Σ_{j<k} (C A^j B − Ĉ Â^j B̂)²",
    draw=_pair_with_inputs,
    tolerance=1e-10,
    hypotheses={_WHITE: _is_white},
    mutations=[{"factor": 0.5}, {"first": 1}, {"teacher_sign": -1.0}],
    without={_WHITE: _pair_with_coloured_inputs},
)
def lemma_c_1(
    A: Array, B: Array, C: Array, teacher_A: Array, teacher_B: Array, teacher_C: Array,
    sequences: Array, *, factor: float = 1.0, first: int = 0, teacher_sign: float = 1.0,
) -> float:  # fmt: skip
    """The mean over a white ensemble that is not centred: E[x] = 0 is not needed."""
    student = last_outputs(A, B, C, sequences)
    teacher = last_outputs(teacher_A, teacher_B, teacher_C, sequences)
    mean = np.mean((student - teacher) ** 2)
    power = np.linalg.matrix_power
    terms = [
        (C @ power(A, j) @ B - teacher_sign * teacher_C @ power(teacher_A, j) @ teacher_B).item()
        for j in range(first, sequences.shape[1])
    ]
    return residual(mean, factor * np.sum(np.square(terms)))


def _wrong_next_lag(rng: np.random.Generator, *, spare: int | None = None) -> dict[str, Any]:
    """A stable, unbalanced teacher, and a value for lag k that is far from its own."""
    length = int(rng.integers(1, 8))
    width = length + (int(rng.integers(1, 6)) if spare is None else spare)
    teacher = random_student(rng, int(rng.integers(1, 5)), 1, 1)
    teacher["A"] /= max(1.0, np.max(np.abs(np.linalg.eigvals(teacher["A"]))))
    lags = response(teacher["A"], teacher["B"], teacher["C"], length + 1)
    wrong = lags[-1] + rng.choice([-1, 1]) * rng.uniform(0.5, 3)
    # well separated eigenvalues, like Chebyshev points, but not the library's
    nodes = np.cos(np.pi * (np.arange(width) + rng.uniform(0.3, 0.7, size=width)) / width)
    return {"lags": lags, "length": length, "nodes": nodes, "wrong": wrong}


@statement(
    "lowdim/proposition3",
    place="Proposition 3 (Proposition C.2)",
    words="for d > k and any teacher a student with a symmetric A has zero loss on k lags and "
    "an arbitrary value at lag k: its error within every horizon q > k can be as large as "
    "desired",
    draw=_wrong_next_lag,
    tolerance=1e-9,  # the weights reach 2^k for k ≤ 7
    hypotheses={_WIDE: lambda nodes, length: len(nodes) > length},
    mutations=[{"lags_fitted_more": 1}, {"late": 1}],
    without={_WIDE: lambda rng: _wrong_next_lag(rng, spare=0)},
)
def proposition_3(
    lags: Array, length: int, nodes: Array, wrong: float, *, lags_fitted_more: int = 0,
    late: int = 0,
) -> float:  # fmt: skip
    """The recursion of two students: the printed Vandermonde solution, and the library's."""
    wanted = np.append(lags[:length], wrong)
    powers = nodes[None, :] ** np.arange(length + 1)[:, None]
    weights = np.linalg.lstsq(powers, wanted, rcond=None)[0]
    size = np.sqrt(np.abs(weights))
    students = [(np.diag(nodes), size[:, None], (np.sign(weights) * size)[None, :])]
    if len(nodes) > length:
        students.append(nonextrapolating_student(lags, length, len(nodes), wrong))
    found = 0.0
    fitted = length + lags_fitted_more
    for A, B, C in students:
        made = response(A, B, C, length + 1 + late)
        scale = float(np.max(np.abs(wanted)))
        found = max(found, residual(made[:fitted], lags[:fitted], scale=scale))
        found = max(found, residual(made[length + late], wrong, scale=scale))
    return found


def _balanced(rng: np.random.Generator) -> dict[str, Any]:
    width = int(rng.integers(2, 8))
    A, B = rng.normal(size=(width, width)), rng.normal(size=(width, 1))
    return {"A": (A + A.T) / np.sqrt(8 * width), "B": B, "C": B.T}


def _balanced_unsymmetric(rng: np.random.Generator) -> dict[str, Any]:
    instance = _balanced(rng)
    return {**instance, "A": instance["A"] @ random_orthogonal(rng, len(instance["A"]))}


def _unbalanced(rng: np.random.Generator) -> dict[str, Any]:
    instance = _balanced(rng)
    return {**instance, "C": rng.normal(size=instance["C"].shape)}


@statement(
    "lowdim/lemmaC.3",
    place="Lemma C.3",
    words="a balanced system with A = Aᵀ = UΛUᵀ has the response of the balanced diagonal one "
    "Λ, UᵀB, CU",
    draw=_balanced,
    tolerance=1e-12,
    hypotheses={
        _SYMMETRIC: lambda A: is_symmetric(A),
        _BALANCED: lambda B, C: np.array_equal(B, C.T),
    },
    mutations=[{"transposed": False}],
    without={_SYMMETRIC: _balanced_unsymmetric, _BALANCED: _unbalanced},
)
def lemma_c_3(A: Array, B: Array, C: Array, *, transposed: bool = True) -> float:
    """The recursions of both systems, and B' = C'ᵀ."""
    values, U = np.linalg.eigh(A)
    B2, C2 = (U.T if transposed else U) @ B, C @ U
    same = residual(response(np.diag(values), B2, C2, 12), response(A, B, C, 12))
    return max(same, residual(B2, C2.T))


def _gradient_point(rng: np.random.Generator) -> dict[str, Any]:
    return {**_student(rng), "target": rng.normal(size=int(rng.integers(1, 7)))}


@statement(
    "lowdim/lemmaC.4",
    place="Lemma C.4, (C.9)–(C.12) and (C.14)–(C.16); (C.81)",
    words="the gradients of the loss are 2 Σ_i (C A^i B − w_i) times (Aᵀ)^i Cᵀ for B, "
    "Bᵀ (Aᵀ)^i for C and Σ_{r<i} (Aᵀ)^r Cᵀ Bᵀ (Aᵀ)^{i−r−1} for A",
    draw=_gradient_point,
    tolerance=1e-10,
    mutations=[{"transposed": False}, {"target_sign": -1.0}],
    errata=[
        Erratum(
            place="Lemma C.4, (C.9), (C.10), (C.14)–(C.16)",
            as_printed="∂L/∂B = Σ_i (C A^i B − w_i)(Aᵀ)^i Cᵀ for L = Σ (C A^i B − w_i)², and so "
            "for C",
            as_corrected="twice that; (C.21), (C.22), (C.58) and (C.81) are the flow of L/2, which "
            "takes twice the time of (3.6)",
            constants={"factor": 1.0},
            gravity="false statement",
            right_in="the sketch of Proposition 9 (section 4.3)",
        )
    ],
)
def lemma_c_4(
    A: Array, B: Array, C: Array, target: Array, *,
    factor: float = 2.0, transposed: bool = True, target_sign: float = 1.0,
) -> float:  # fmt: skip
    """The sums against complex steps of the loss."""
    power, back = np.linalg.matrix_power, A.T if transposed else A
    by_A, by_B, by_C = np.zeros_like(A), np.zeros_like(B), np.zeros_like(C)
    for i, goal in enumerate(target):
        slope = factor * ((C @ power(A, i) @ B).item() - target_sign * goal)
        by_B += slope * power(back, i) @ C.T
        by_C += slope * B.T @ power(back, i)
        for r in range(i):
            by_A += slope * power(back, r) @ C.T @ B.T @ power(back, i - r - 1)
    measured = (
        complex_step(lambda at: loss_of(at, B, C, target), A),
        complex_step(lambda at: loss_of(A, at, C, target), B),
        complex_step(lambda at: loss_of(A, B, at, target), C),
    )
    scale = max(float(np.max(np.abs(part))) for part in measured)
    return max(
        residual(found, part, scale=scale)
        for found, part in zip((by_A, by_B, by_C), measured, strict=True)
    )
