"""The eigenvalues that decide whether a linear network is stable."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackError, eigs

from tacit._doors import door, number, whole
from tacit.measures._namespace import as_real


@door(count=whole(1), tolerance=number(0, below=1))
def leading_real_parts(matrix: ArrayLike, count: int, *, tolerance: float = 1e-3) -> np.ndarray:
    """The `count` largest real parts of a square matrix's eigenvalues, float64, falling.

    By Arnoldi's method, to about `tolerance`: much faster than all eigenvalues of a large matrix.
    A matrix with NaN or infinity in it, as a diverged run leaves it, has NaN for all of them.
    """
    checked = np.asarray(as_real("matrix", matrix, (2,), "a square matrix"), np.float64)
    rows, columns = checked.shape
    if rows != columns:
        raise ValueError(
            f"matrix: received the shape {checked.shape}, it must be square; pass as many rows as "
            "columns"
        )
    if not 1 <= count < rows - 1:
        raise ValueError(
            f"count: received {count!r}, it must lie between 1 and N − 2 = {rows - 2}; use "
            "`eigenvalues` for all"
        )
    if not np.isfinite(checked).all():
        return np.full(count, np.nan)
    start = np.ones(rows)
    try:
        found = eigs(
            checked, k=count, which="LR", v0=start, return_eigenvectors=False, tol=tolerance
        )
    except ArpackError:  # it did not converge
        found = np.linalg.eigvals(checked)
    return np.sort(found.real)[::-1][:count]
