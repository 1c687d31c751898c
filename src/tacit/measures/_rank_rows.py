"""Ranks of many matrices at once, from their singular values; a diverged run has none."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, real
from tacit.measures._ranks import (
    effective_rank_from_singular_values,
    stable_rank_from_singular_values,
)


@door(answer="any", spectra=real(finite=False))
def effective_ranks(spectra: ArrayLike) -> Float[np.ndarray, "..."]:
    """The effective rank for each row of singular values (…, values); NaN for a row with NaN."""
    return _each_row(effective_rank_from_singular_values, spectra)


@door(answer="any", spectra=real(finite=False))
def stable_ranks(spectra: ArrayLike) -> Float[np.ndarray, "..."]:
    """The stable rank for each row of singular values (…, values); NaN for a row with NaN."""
    return _each_row(stable_rank_from_singular_values, spectra)


def _each_row(rank: Callable[[np.ndarray], Any], spectra: ArrayLike) -> Float[np.ndarray, "..."]:
    table = np.asarray(spectra, np.float64)
    if not table.ndim:
        raise ValueError(f"spectra: received {table}, give rows of singular values (…, values)")
    if np.any(table < 0):
        raise ValueError(
            f"spectra: received {np.nanmin(table):.6g}, singular values are not negative"
        )
    rows = table.reshape(-1, table.shape[-1])
    ranks = [rank(row) if np.isfinite(row).all() else np.nan for row in rows]
    return np.array(ranks, float).reshape(table.shape[:-1])
