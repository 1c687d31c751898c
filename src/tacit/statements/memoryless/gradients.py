"""The gradients of the population loss: (5)–(7) and (21)–(23)."""

from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import random_student
from tacit.statements.memoryless._shared import loss_formula
from tacit.theory.memoryless import population_gradients


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
        complex_step(lambda at: loss_formula(at, B, C, target, length, 0.5, 1), A),
        complex_step(lambda at: loss_formula(A, at, C, target, length, 0.5, 1), B),
        complex_step(lambda at: loss_formula(A, B, at, target, length, 0.5, 1), C),
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
