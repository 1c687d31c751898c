"""What gradient flow leaves unchanged, for any size and any initial connectivity.

With A = I − W, dA/ds = −y xᵀ and Aᵀy = w, Ax = m, so that

    d(AᵀA)/ds = −(x wᵀ + w xᵀ),    d(AAᵀ)/ds = −(y mᵀ + m yᵀ):

AᵀA changes in the row and column of w alone, AAᵀ in those of m. (Not in the paper.)
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, real
from tacit.theory.connectivity._checks import checked_square, checked_vector


class Conserved(NamedTuple):
    """P_{w⊥} AᵀA P_{w⊥} and P_{m⊥} AAᵀ P_{m⊥} with A = I − W; P projects off the vector."""

    input_side: Float[np.ndarray, "n n"]
    output_side: Float[np.ndarray, "n n"]


@door(W=real(2), w=real(1), m=real(1))
def conserved(W: ArrayLike, w: ArrayLike, m: ArrayLike) -> Conserved:
    """Both conserved matrices of a connectivity W with output vector w and input vector m."""
    connectivity = checked_square("W", W)
    size = len(connectivity)
    A = np.eye(size) - connectivity
    return Conserved(
        _off(checked_vector("w", w, size), A.T @ A), _off(checked_vector("m", m, size), A @ A.T)
    )


@door(W0=real(2), W=real(2), w=real(1), m=real(1))
def conserved_drift(W0: ArrayLike, W: ArrayLike, w: ArrayLike, m: ArrayLike) -> float:
    """How far W is from keeping both laws since W0: the largest entry of either difference."""
    before, after = conserved(W0, w, m), conserved(W, w, m)
    return float(max(np.abs(b - a).max() for b, a in zip(before, after, strict=True)))


def _off(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """P matrix P with P = I − vvᵀ/|v|²; the zero vector projects nothing off."""
    norm = np.linalg.norm(vector)
    if norm == 0:
        return matrix
    unit = vector / norm
    left = matrix - np.outer(unit, unit @ matrix)
    return left - np.outer(left @ unit, unit)
