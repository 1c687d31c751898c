"""Gradient descent of a student on the population loss (4), written out for the statements."""

import numpy as np

from tacit.statements._shared_numbers import Array

_STEP, _FIRST, _MOST = 0.02, 30, 1500  # steps of one size, and steps in all
_LONGEST = 0.3  # a step, later on


def errors_and_gradients(
    A: Array, B: Array, C: Array, target: Array, length: int
) -> tuple[float, Array, Array, Array]:
    """The squared errors in (4), and the gradients of the loss.

    They come by reverse accumulation through the recursion: the adjoint of lag j's error is passed
    back from the last lag to the first, which is not the double sum of (7).
    """
    states = [B]
    for _ in range(1, length):
        states.append(A @ states[-1])
    errors = [C @ state for state in states]
    errors[0] = errors[0] - target
    adjoint = np.zeros_like(B)
    gradient_A, gradient_C = np.zeros_like(A), np.zeros_like(C)
    for j in range(length - 1, -1, -1):
        gradient_C += errors[j] @ states[j].T
        adjoint = C.T @ errors[j] + A.T @ adjoint
        if j > 0:
            gradient_A += adjoint @ states[j - 1].T
    return sum(float(np.vdot(error, error)) for error in errors), gradient_A, adjoint, gradient_C


def descend(
    A: Array, B: Array, C: Array, target: Array, length: int, *, until: float
) -> tuple[Array, Array, Array]:
    """Gradient descent on (4) until 2L < `until`, or until the steps are used up.

    Near its zeros the loss is of fourth order, where steps of one size are too slow. After a while
    the sizes are those of Barzilai and Borwein, with a longest step. The theorem needs no more than
    steps along the gradient.
    """
    size, before = _STEP, np.zeros((2, 0))
    for count in range(_MOST):
        squares, *gradients = errors_and_gradients(A, B, C, target, length)
        here = np.stack(
            [np.concatenate([part.ravel() for part in parts]) for parts in ((A, B, C), gradients)]
        )
        slope = float(np.linalg.norm(here[1]))
        if squares < until or slope < 1e-15:
            break
        if count > _FIRST:
            step, change = here - before
            bend = step @ change
            if bend > 0:
                size = (step @ step) / bend if count % 2 else bend / (change @ change)
            size = min(size, _LONGEST / slope)
        before = here
        A, B, C = (
            part - size * gradient for part, gradient in zip((A, B, C), gradients, strict=True)
        )
    return A, B, C
