"""What the statements of `memoryless` share: extrapolating students, and errors by simulation."""

from typing import Any

import numpy as np

from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import last_outputs


def extrapolating_student(
    rng: np.random.Generator, width: int, target: Array, seen: int
) -> dict[str, Any]:
    """CB = W* and C A^j B = 0 for every j ≥ 1 although A ≠ 0, in a random basis of the states.

    C sees `seen` of the states. A maps B's part in them to zero and feeds the hidden ones.
    """
    outputs, inputs = target.shape
    B = rng.normal(size=(width, inputs))
    A = rng.normal(size=(width, width)) / np.sqrt(width)
    A[:seen, seen:] = 0
    A[:seen, :seen] -= A[:seen, :seen] @ B[:seen] @ np.linalg.pinv(B[:seen])
    C = np.zeros((outputs, width))
    C[:, :seen] = target @ np.linalg.pinv(B[:seen])
    basis, _ = np.linalg.qr(rng.normal(size=(width, width)))
    return {"A": basis @ A @ basis.T, "B": basis @ B, "C": C @ basis.T}


def error_of(A: Array, B: Array, C: Array, target: Array, sequences: Array) -> Array:
    """The last output of the recursion minus the teacher's, for each sequence."""
    return last_outputs(A, B, C, sequences) - sequences[:, -1] @ target.T


def lag_errors(A: Array, B: Array, C: Array, target: Array, length: int) -> Array:
    """CB − W*, CAB, …, from unit impulses: (length, outputs, inputs)."""
    inputs = B.shape[1]
    impulses = np.eye(length * inputs).reshape(-1, length, inputs)
    errors = error_of(A, B, C, target, impulses)
    return errors.reshape(length, inputs, -1)[::-1].transpose(0, 2, 1)


def simulated_loss(A: Array, B: Array, C: Array, target: Array, length: int) -> float:
    """Half the mean squared error over white sequences, here scaled unit impulses."""
    return 0.5 * float(np.sum(lag_errors(A, B, C, target, length) ** 2))


def loss_formula(
    A: Array, B: Array, C: Array, target: Any, length: int, half: float, first: int
) -> Any:
    """(4) and (20): half · (‖CB − W*‖² + Σ_{i=first}^{k−1} ‖C A^{k−i} B‖²)."""
    total = np.sum((C @ B - target) ** 2)
    for i in range(first, length):
        total = total + np.sum((C @ np.linalg.matrix_power(A, length - i) @ B) ** 2)
    return half * total
