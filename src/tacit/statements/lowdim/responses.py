"""Responses as sums: the outputs (3.3) of the recursion, and the moments (C.26) of a measure."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array, is_symmetric
from tacit.statements._shared_systems import last_outputs, random_student
from tacit.statements.lowdim._shared import response


def _student(rng: np.random.Generator) -> dict[str, Any]:
    return random_student(rng, int(rng.integers(1, 7)), 1, 1)


@statement(
    "lowdim/equation3.3",
    place="(3.3)",
    words="the last output of (3.1) for k inputs is Σ_j C A^{k−1−j} B x_j, so (3.2) is the mean "
    "square of these sums less the labels",
    draw=lambda rng: {**_student(rng), "x": rng.normal(size=(3, 5, 1)), "y": rng.normal(size=3)},
    tolerance=1e-12,
    mutations=[{"last": 2}, {"factor": 1.1}],
)
def equation_3_3(
    A: Array, B: Array, C: Array, x: Array, y: Array, *, last: int = 1, factor: float = 1.0
) -> float:
    """The recursion against powers of A."""
    length = x.shape[1]
    lags = [
        (C @ np.linalg.matrix_power(A, max(length - last - j, 0)) @ B).item() for j in range(length)
    ]
    mean = np.mean((last_outputs(A, B, C, x)[:, 0] - y) ** 2)
    return residual(mean, factor * np.mean((x[:, :, 0] @ lags - y) ** 2))


def _balanced_student(rng: np.random.Generator) -> dict[str, Any]:
    student = _student(rng)
    A = (student["A"] + student["A"].T) / 2
    return {"A": A, "B": student["B"], "C": student["B"].T}


@statement(
    "lowdim/equationC.26",
    place="(C.26) and (C.27), in the proof of Lemma 7",
    words="the response of a balanced system with A = Aᵀ is Σ p_i a_i^n with the eigenvalues a_i "
    "and weights p_i = (UᵀB)_i² ≥ 0, whose sum is CB",
    draw=_balanced_student,
    tolerance=1e-12,
    hypotheses={"A = Aᵀ": lambda A: is_symmetric(A)},
    mutations=[{"power": 1.1}, {"lag": 1}],
)
def equation_c_26(A: Array, B: Array, C: Array, *, power: float = 1.0, lag: int = 0) -> float:
    """The recursion against eigenvalues."""
    values, U = np.linalg.eigh(A)
    p = ((U.T @ B)[:, 0] ** 2) ** power
    made = values ** (np.arange(10)[:, None] + lag) @ p
    return max(residual(made, response(A, B, C, 10)), residual(np.sum(p), (C @ B).item()))
