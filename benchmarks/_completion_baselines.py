"""Two other ways to complete a matrix, in NumPy: soft-impute and alternating least squares.

Both take a matrix with NaN where nothing is observed and return a full one. Neither removes means:
the caller does, the same way for every method.
"""

from collections.abc import Sequence

import numpy as np

Floats = np.ndarray


def soft_impute(
    matrix: Floats,
    threshold: float,
    *,
    start: Floats | None = None,
    sweeps: int = 500,
    tolerance: float = 1e-5,
) -> Floats:
    """Least squares with a penalty on the nuclear norm (Mazumder, Hastie and Tibshirani, 2010).

    Missing entries are filled with the estimate, and the singular values of the filled matrix are
    lowered by `threshold`, until the estimate changes by less than `tolerance`.
    """
    seen = ~np.isnan(matrix)
    estimate = np.zeros_like(matrix) if start is None else start
    for _ in range(sweeps):
        new = _shrunk(np.where(seen, matrix, estimate), threshold)
        change = np.linalg.norm(new - estimate) / max(np.linalg.norm(estimate), 1e-300)
        estimate = new
        if change < tolerance:
            break
    return estimate


def _shrunk(matrix: Floats, threshold: float) -> Floats:
    """Singular values lowered by the threshold, through the smaller Gram matrix."""
    if matrix.shape[0] < matrix.shape[1]:
        return _shrunk(matrix.T, threshold).T
    values, right = np.linalg.eigh(matrix.T @ matrix)
    singular = np.sqrt(np.maximum(values, 0))
    kept = singular > threshold
    factor = (right[:, kept] * (1 - threshold / singular[kept])) @ right[:, kept].T
    return matrix @ factor


def soft_impute_path(matrix: Floats, thresholds: Sequence[float], **options: float) -> list[Floats]:
    """An estimate for each threshold, from the largest down, each started at the one before."""
    estimates: list[Floats] = []
    for threshold in thresholds:
        start = estimates[-1] if estimates else None
        estimates.append(soft_impute(matrix, threshold, start=start, **options))
    return estimates


def alternating_least_squares(
    matrix: Floats,
    rank: int,
    ridge: float,
    *,
    seed: int = 0,
    sweeps: int = 200,
    tolerance: float = 1e-7,
) -> Floats:
    """X = U Vᵀ of a given rank, U and V in turn by ridge regression on the observed entries.

    The ridge is multiplied by the number of entries in a row or column (Zhou et al., 2008). It
    starts at the singular vectors of the matrix filled with zeros.
    """
    seen = ~np.isnan(matrix)
    filled = np.where(seen, matrix, 0.0)
    _, values, right = np.linalg.svd(filled, full_matrices=False)
    rank = min(rank, values.size)
    noise = np.random.default_rng(seed).normal(size=(matrix.shape[1], rank))
    V = right[:rank].T * np.sqrt(values[:rank] / seen.mean()) + 1e-3 * noise * filled.std()
    error = np.inf
    for _ in range(sweeps):
        U = _regressed(filled, seen, V, ridge)
        V = _regressed(filled.T, seen.T, U, ridge)
        last, error = error, float(np.mean((U @ V.T - filled)[seen] ** 2))
        if abs(last - error) < tolerance * error + 1e-20:
            break
    return U @ V.T


def _regressed(filled: Floats, seen: Floats, other: Floats, ridge: float) -> Floats:
    """Each row's coefficients on `other`, from the entries seen in it."""
    rank = other.shape[1]
    products = (other[:, :, None] * other[:, None, :]).reshape(len(other), -1)
    gram = (seen.astype(float) @ products).reshape(-1, rank, rank)
    counts = np.maximum(seen.sum(axis=1), 1)
    gram = gram + (ridge * counts + 1e-12)[:, None, None] * np.eye(rank)
    return np.linalg.solve(gram, (filled @ other)[:, :, None])[:, :, 0]
