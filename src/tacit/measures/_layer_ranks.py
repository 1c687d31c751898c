"""Ranks of the layers of a network, convolutions as matrices, averaged over layers."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, each, real
from tacit.measures._ranks import (
    effective_rank_from_singular_values,
    effective_rank_squared_from_singular_values,
    stable_rank_from_singular_values,
)

RANKS = {
    "effective": effective_rank_from_singular_values,
    "effective of squares": effective_rank_squared_from_singular_values,
    "stable": stable_rank_from_singular_values,
}
"""The ranks that `mean_layer_ranks` takes, by name."""


@door(weights=real(finite=False))
def by_inputs(weights: ArrayLike) -> np.ndarray:
    """A kernel (k1, k2, in, out) as the matrix in × (out · k1 · k2); a matrix as it is."""
    array = _weights(weights)
    return array if array.ndim == 2 else np.moveaxis(array, 2, 0).reshape(array.shape[2], -1)


@door(weights=real(finite=False))
def by_outputs(weights: ArrayLike) -> np.ndarray:
    """A kernel (k1, k2, in, out) as the matrix out × (in · k1 · k2); a matrix transposed."""
    array = _weights(weights)
    return np.moveaxis(array, -1, 0).reshape(array.shape[-1], -1)


MATRICES: dict[str, Callable[[ArrayLike], np.ndarray]] = {
    "inputs": by_inputs,
    "outputs": by_outputs,
}
"""Which side of a kernel is the rows of its matrix, by name."""


@door(layers=each(real(finite=False), least=0))
def mean_layer_ranks(layers: Sequence[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """Ranks averaged over `layers`, and ranks divided by the largest possible, averaged likewise.

    Both (matrix, rank), in the order of `MATRICES` and `RANKS`. NaN if a weight is not finite.
    """
    if not len(layers):
        raise ValueError("layers: received none, there must be at least one; leave out fewer")
    raw = np.empty((len(layers), len(MATRICES), len(RANKS)))
    largest = np.empty((len(layers), len(MATRICES), 1))
    for place, weights in enumerate(layers):
        for row, reshaped in enumerate(MATRICES.values()):
            matrix = reshaped(weights)
            largest[place, row] = min(matrix.shape)
            if not np.isfinite(matrix).all():
                raw[place, row] = np.nan
                continue
            spectrum = _spectrum(matrix)
            raw[place, row] = [float(rank(spectrum)) for rank in RANKS.values()]
    return raw.mean(axis=0), (raw / largest).mean(axis=0)


def _spectrum(matrix: np.ndarray) -> np.ndarray:
    """Singular values as roots of the eigenvalues of M Mᵀ: ten times as fast for wide layers.

    What lies below 1e-8 of the largest is lost, far below what float32 weights tell.
    """
    tall = matrix.shape[0] > matrix.shape[1]
    gram = matrix.T @ matrix if tall else matrix @ matrix.T
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0))


def _weights(weights: ArrayLike) -> np.ndarray:
    array = np.asarray(weights, np.float64)
    if array.ndim not in (2, 4):
        raise ValueError(
            f"weights: received the shape {array.shape}, they must be a matrix (in, out) or a "
            "kernel (k1, k2, in, out)"
        )
    return array
