"""What the statements of several papers share: random linear systems, sequences and matrices.

`lowdim` and `memoryless` use the students, `kernel` the white sequences too, `connectivity` and
`ours` the Gaussian matrices.
"""

from typing import Any

import numpy as np

from tacit.statements._shared_numbers import Array


def random_student(
    rng: np.random.Generator, width: int, outputs: int, inputs: int
) -> dict[str, Any]:
    """A, B and C with independent Gaussian entries; the spectral radius of A is about one."""
    return {
        "A": rng.normal(size=(width, width)) / np.sqrt(width),
        "B": rng.normal(size=(width, inputs)),
        "C": rng.normal(size=(outputs, width)),
    }


def last_outputs(A: Array, B: Array, C: Array, sequences: Array) -> Array:
    """Run the recursion: sequences (samples, length, inputs) → (samples, outputs)."""
    state = np.zeros((len(sequences), len(A)))
    for step in range(sequences.shape[1]):
        state = state @ A.T + sequences[:, step] @ B.T
    return state @ C.T


def white_sequences(rng: np.random.Generator, length: int, inputs: int) -> Array:
    """Equally likely sequences whose second moment is exactly the identity.

    They are the rows of a scaled orthogonal matrix: not Gaussian, not independent in time and not
    centred.
    """
    size = length * inputs
    rows, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return np.sqrt(size) * rows.reshape(size, length, inputs)


def second_moment(sequences: Array) -> Array:
    """E[x xᵀ] of equally likely sequences, over all times and inputs together."""
    flat = sequences.reshape(len(sequences), -1)
    return flat.T @ flat / len(flat)


def gaussian_matrix(rng: np.random.Generator, size: int, g: float) -> Array:
    """A square matrix of independent N(0, g²/N) entries."""
    return rng.normal(size=(size, size)) * (g / np.sqrt(size))
