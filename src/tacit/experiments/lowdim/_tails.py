"""Errors on the tail of an impulse response, for many runs at once."""

from collections.abc import Sequence

import numpy as np

from tacit._types import Float


def tail_errors(
    response: Float[np.ndarray, "lane iterate lag *channels"],
    target: Float[np.ndarray, "lane lag *channels"],
    lengths: np.ndarray,
    horizons: Sequence[int],
) -> tuple[Float[np.ndarray, "lane iterate horizon"], Float[np.ndarray, "lane iterate horizon"]]:
    """Extrapolation errors over the lags k … horizon − 1, and those relative to the zero response.

    They are `measures.extrapolation_error` of every lane, iterate and horizon (lowdim, appendix
    B.3). A response that overflowed is infinitely wrong. Where the teacher's tail is zero (a delay
    line's) no error is small relative to it: the relative one is infinite.
    """
    channels = tuple(range(2, target.ndim))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.max(np.abs(response - target[:, None]), axis=tuple(a + 1 for a in channels))
    gap = np.where(np.isnan(gap), np.inf, gap)
    zero = np.max(np.abs(target), axis=channels)
    lags = np.arange(target.shape[1])
    errors, relative = [], []
    for horizon in horizons:
        tail = (lags >= lengths[:, None]) & (lags < horizon)
        error = np.max(np.where(tail[:, None], gap, 0.0), axis=2)
        scale = np.max(np.where(tail, zero, 0.0), axis=1)[:, None]
        errors.append(error)
        relative.append(np.divide(error, scale, out=np.full_like(error, np.inf), where=scale > 0))
    return np.stack(errors, axis=2), np.stack(relative, axis=2)
