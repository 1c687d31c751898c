"""Impulse responses in NumPy: a few lags of many small systems, with nothing to compile."""

import numpy as np

from tacit.models import Dense, LinearRNN


def responses(A: np.ndarray, B: np.ndarray, C: np.ndarray, lags: int) -> np.ndarray:
    """C A^j B for j < lags, (…, lags), of one system or a stack of them, one input and output."""
    state, readout = B[..., 0], C[..., 0, :]
    found = []
    for _ in range(lags):
        found.append(np.sum(readout * state, axis=-1))
        state = np.matmul(A, state[..., None])[..., 0]
    return np.stack(found, axis=-1)


def response_of(models: LinearRNN, lags: int) -> np.ndarray:
    """That of a model, or of stacked ones, with a dense transition."""
    assert isinstance(models.transition, Dense)
    A, B, C = np.asarray(models.transition.entries), np.asarray(models.B), np.asarray(models.C)
    return responses(A, B, C, lags)
