"""Gramians of a stable system, as factors: P = L Lᵀ without forming P."""

import numpy as np

from tacit._types import Float


def gramian_factor(
    A: Float[np.ndarray, "d d"], B: Float[np.ndarray, "d n"]
) -> Float[np.ndarray, "d r"]:
    """L with L Lᵀ = P, where P = A P Aᵀ + B Bᵀ: the reachability Gramian of (A, B).

    P = Σ A^j B Bᵀ (A^j)ᵀ by doubling (Smith's method): L ← [L, A^n L] for n = 1, 2, 4, …
    Working on factors keeps small directions to relative rounding; a solver for P itself, such
    as SciPy's, loses those below the square root of it.
    """
    factor, power = B, A
    # Forty doublings are 10¹² lags: past what float64 can tell from a spectral radius of 1.
    for _ in range(40):
        more = power @ factor
        factor = _compressed(np.concatenate([factor, more], axis=1))
        if np.linalg.norm(more) <= np.finfo(np.float64).eps * np.linalg.norm(factor):
            break
        power = power @ power
    return factor


def infinite_hankel_singular_values(
    A: Float[np.ndarray, "d d"], B: Float[np.ndarray, "d i"], C: Float[np.ndarray, "o d"]
) -> Float[np.ndarray, " d"]:
    """The singular values of the infinite Hankel matrix of a stable (A, B, C).

    They are those of Qᵀ P for factors P Pᵀ, Q Qᵀ of the two Gramians: the square roots of the
    eigenvalues of the Gramians' product.
    """
    reachable, observable = gramian_factor(A, B), gramian_factor(A.T, C.T)
    values = np.zeros(len(A))
    found = np.linalg.svd(observable.T @ reachable, compute_uv=False)
    values[: len(found)] = found
    return values


def _compressed(factor: Float[np.ndarray, "d n"]) -> Float[np.ndarray, "d r"]:
    """A factor of the same product with at most d columns."""
    if factor.shape[1] <= factor.shape[0]:
        return factor
    return np.asarray(np.linalg.qr(factor.T, mode="r")).T
