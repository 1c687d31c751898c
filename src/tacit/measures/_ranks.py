"""How many directions a matrix uses: four ranks, each of a matrix or of its singular values.

They differ in how they count a spectrum σ₁ ≥ σ₂ ≥ … and are not interchangeable:

    effective rank (Roy & Vetterli 2007)   exp(−Σ p_i ln p_i), p_i = σ_i / Σ σ
    effective rank of the squares          the same with p_i = σ_i² / Σ σ²
    stable rank                            Σ σ² / σ₁² = ‖W‖_F² / ‖W‖₂²
    numerical rank                         the number of σ_i > tolerance · σ₁

All are invariant under scaling of the matrix, and the first three vary continuously with it. For a
matrix that is not zero, 1 ≤ stable ≤ effective of squares ≤ effective ≤ min(rows, columns). The
zero matrix has rank 0 in all of them.
"""

import jax
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, number, real
from tacit._types import precise
from tacit.measures._namespace import AnyArray, Scalar, as_real, finite, namespace_of


@door()
@precise
def singular_values(matrix: ArrayLike) -> AnyArray:
    """The singular values of a matrix (rows, columns), the largest first."""
    checked = finite("matrix", as_real("matrix", matrix, (2,), "a matrix (rows, columns)"))
    return namespace_of(checked).linalg.svd(checked, compute_uv=False)


@door(answer="any", matrices=real(finite=False, empty=True))
def singular_values_or_nan(matrices: ArrayLike) -> np.ndarray:
    """The singular values of each matrix of a stack (…, rows, columns), the largest first, float64.

    A matrix with NaN or infinity in it, as a diverged run leaves it, has NaN for all of them. One
    decomposition serves all the others.
    """
    stack = np.asarray(matrices, np.float64)
    if stack.ndim < 2:
        raise ValueError(
            f"matrices: received the shape {stack.shape}, a stack is (…, rows, columns)"
        )
    usable = np.isfinite(stack).all(axis=(-2, -1))
    values = np.full((*stack.shape[:-2], min(stack.shape[-2:])), np.nan)
    values[usable] = np.linalg.svd(stack[usable], compute_uv=False)
    return values


@door()
@precise
def effective_rank(matrix: ArrayLike) -> Scalar:
    """exp of the entropy of p ∝ σ (Roy & Vetterli 2007, def. 1); 0 for the zero matrix."""
    return effective_rank_from_singular_values(singular_values(matrix))


@door()
@precise
def effective_rank_from_singular_values(values: ArrayLike) -> Scalar:
    """`effective_rank` of a matrix with these singular values, in any order."""
    return _exponential_of_entropy(_spectrum(values))


@door()
@precise
def effective_rank_squared(matrix: ArrayLike) -> Scalar:
    """exp of the entropy of p ∝ σ²; 0 for the zero matrix."""
    return effective_rank_squared_from_singular_values(singular_values(matrix))


@door()
@precise
def effective_rank_squared_from_singular_values(values: ArrayLike) -> Scalar:
    """`effective_rank_squared` of a matrix with these singular values, in any order."""
    return _exponential_of_entropy(_relative(_spectrum(values)) ** 2)


@door()
@precise
def stable_rank(matrix: ArrayLike) -> Scalar:
    """‖W‖_F² / ‖W‖₂²; 0 for the zero matrix."""
    return stable_rank_from_singular_values(singular_values(matrix))


@door()
@precise
def stable_rank_from_singular_values(values: ArrayLike) -> Scalar:
    """`stable_rank` of a matrix with these singular values, in any order."""
    spectrum = _spectrum(values)
    return namespace_of(spectrum).sum(_relative(spectrum) ** 2)


@door(tolerance=number(0, below=1))
@precise
def numerical_rank(matrix: ArrayLike, *, tolerance: float | None = None) -> AnyArray | int:
    """The number of singular values above `tolerance` times the largest.

    The tolerance is relative; without one, it is max(rows, columns) · eps, as in
    `numpy.linalg.matrix_rank`. An int, or a JAX integer for a JAX matrix.
    """
    values = singular_values(matrix)
    if tolerance is None:
        sides = as_real("matrix", matrix, (2,), "a matrix (rows, columns)").shape
        tolerance = max(sides) * float(namespace_of(values).finfo(values.dtype).eps)
    return numerical_rank_from_singular_values(values, tolerance=tolerance)


@door(tolerance=number(0, below=1))
@precise
def numerical_rank_from_singular_values(
    values: ArrayLike, *, tolerance: float | None = None
) -> AnyArray | int:
    """`numerical_rank` of a matrix with these singular values, in any order.

    Without a tolerance, it is the number of values times eps.
    """
    spectrum = _spectrum(values)
    xp = namespace_of(spectrum)
    if tolerance is None:
        tolerance = spectrum.size * float(xp.finfo(spectrum.dtype).eps)
    if not 0 <= tolerance < 1:
        raise ValueError(
            f"tolerance: received {tolerance!r}, it must lie in [0, 1), relative to the largest "
            "singular value"
        )
    rank = xp.sum(spectrum > tolerance * xp.max(spectrum))
    # Not int64, which JAX's default settings cannot compare with a number without a warning.
    return rank.astype(np.int32) if isinstance(spectrum, jax.Array) else int(rank)


def _spectrum(values: ArrayLike) -> AnyArray:
    checked = finite("values", as_real("values", values, (1,), "a vector of singular values"))
    if not isinstance(checked, jax.Array) and checked.min() < 0:
        raise ValueError(
            f"values: received {checked.min():.6g}, they must be singular values, which are not "
            "negative; take absolute values of the eigenvalues of a symmetric matrix"
        )
    return checked


def _relative(spectrum: AnyArray) -> AnyArray:
    """σ / σ₁, or zeros: squaring the ratios cannot overflow where squaring σ could."""
    xp = namespace_of(spectrum)
    largest = xp.max(spectrum)
    return spectrum / xp.where(largest > 0, largest, 1)


def _exponential_of_entropy(weights: AnyArray) -> Scalar:
    """exp(−Σ p ln p) for p = weights / Σ weights, with 0 ln 0 = 0; 0 if all weights are zero."""
    xp = namespace_of(weights)
    p = _relative(weights)
    total = xp.sum(p)
    p = p / xp.where(total > 0, total, 1)
    # The inner `where` keeps the logarithm, and its derivative, away from zero.
    entropy = -xp.sum(p * xp.log(xp.where(p > 0, p, 1)))
    return xp.where(total > 0, xp.exp(entropy), 0 * total)[()]
