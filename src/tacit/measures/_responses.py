"""Measures of impulse responses: Hankel matrices, and errors beyond the training length.

The rank of the Hankel matrix is the order of the smallest system with that response.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, each, flag, real, whole
from tacit._types import Float, precise
from tacit.measures._namespace import AnyArray, Scalar, as_real, namespace_of
from tacit.measures._ranks import singular_values


@door(rows=whole(1))
@precise
def hankel(response: ArrayLike, *, rows: int | None = None) -> AnyArray:
    """The (block) matrix with h_{i+j} at row i, column j, using every lag once or more.

    `response` is (length,) or (length, outputs, inputs); `rows` counts block rows and is half of
    the length, rounded up, unless given. The result has (rows · outputs) rows and
    (length − rows + 1) · inputs columns.
    """
    h = as_real("response", response, (1, 3), "of shape (length,) or (length, outputs, inputs)")
    length, *block = h.shape
    rows = (length + 1) // 2 if rows is None else rows
    if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or not 1 <= rows <= length:
        raise ValueError(
            f"rows: received {rows!r}, it must be an integer in [1, length = {length}]"
        )
    columns = length - rows + 1
    blocks = h[np.add.outer(np.arange(rows), np.arange(columns))]
    if not block:
        return blocks
    outputs, inputs = block
    return blocks.transpose(0, 2, 1, 3).reshape(rows * outputs, columns * inputs)


@door(response=real(), rows=whole(1))
@precise
def hankel_singular_values(response: ArrayLike, *, rows: int | None = None) -> AnyArray:
    """The singular values of `hankel(response)`, the largest first."""
    return singular_values(hankel(response, rows=rows))


@door(answer="any", start=whole(), stop=whole(1), relative=flag)
@precise
def extrapolation_error(
    student: ArrayLike,
    teacher: ArrayLike,
    *,
    start: int,
    stop: int | None = None,
    relative: bool = False,
) -> Scalar:
    """max |student − teacher| over the lags start, …, stop − 1 (lowdim, appendix B.3).

    The responses have one shape, (length,) or (length, outputs, inputs); the paper's `start` is
    the training length k, and `stop` is the length unless given. With `relative`, the error is
    divided by that of the all-zero response, max |teacher|: from 1 on, the student is no better
    than zero. Where the teacher's tail vanishes (a delay teacher's does) that ratio says nothing:
    it is inf, or nan for a student that vanishes too. NaN in a diverged student gives NaN.
    """
    expected = "of shape (length,) or (length, outputs, inputs)"
    s = as_real("student", student, (1, 3), expected)
    t = as_real("teacher", teacher, (1, 3), expected)
    if s.shape != t.shape:
        raise ValueError(
            f"student and teacher: received {s.shape} and {t.shape}, they must have one shape; cut "
            "both to the same lags"
        )
    stop = s.shape[0] if stop is None else stop
    if not 0 <= start < stop <= s.shape[0]:
        raise ValueError(
            f"start and stop: received start={start!r} and stop={stop!r}, they must satisfy 0 ≤ "
            f"start < stop ≤ length = {s.shape[0]}"
        )
    xp = namespace_of(s, t)
    # A student that has diverged to infinity is an outcome here, not a warning.
    with np.errstate(divide="ignore", invalid="ignore"):
        error = xp.max(xp.abs(s[start:stop] - t[start:stop]))
        return error / xp.max(xp.abs(t[start:stop])) if relative else error


@door(
    answer="any",
    responses=real(3, 4, 5, finite=False),
    targets=real(finite=False),
    lengths=each(whole()),
    horizons=each(whole(1)),
)
def tail_errors(
    responses: Float[np.ndarray, "lane iterate lag *channels"],
    targets: Float[np.ndarray, "lane lag *channels"],
    *,
    lengths: np.ndarray,
    horizons: Sequence[int],
) -> tuple[Float[np.ndarray, "lane iterate horizon"], Float[np.ndarray, "lane iterate horizon"]]:
    """`extrapolation_error` of many runs at once over the lags k … horizon − 1, and relative ones.

    Each lane has its own target and its own training length k, and several iterates of its student.
    A response that overflowed is infinitely wrong. Where the teacher's tail is zero (a delay
    line's) no error is small relative to it: the relative one is infinite.
    """
    lanes = (len(responses), *np.shape(responses)[2:])
    if np.ndim(responses) < 3 or np.shape(targets) != lanes or len(lengths) != len(targets):
        raise ValueError(
            f"responses, targets and lengths: received the shapes {np.shape(responses)}, "
            f"{np.shape(targets)} and {np.shape(lengths)}, they must be (lane, iterate, lag, …), "
            "(lane, lag, …) and (lane,)"
        )
    responses, targets, lengths = (np.asarray(value) for value in (responses, targets, lengths))
    channels = tuple(range(2, targets.ndim))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.max(np.abs(responses - targets[:, None]), axis=tuple(a + 1 for a in channels))
    gap = np.where(np.isnan(gap), np.inf, gap)
    zero = np.max(np.abs(targets), axis=channels)
    lags = np.arange(targets.shape[1])
    errors, relative = [], []
    for horizon in horizons:
        tail = (lags >= lengths[:, None]) & (lags < horizon)
        error = np.max(np.where(tail[:, None], gap, 0.0), axis=2)
        scale = np.max(np.where(tail, zero, 0.0), axis=1)[:, None]
        errors.append(error)
        relative.append(np.divide(error, scale, out=np.full_like(error, np.inf), where=scale > 0))
    return np.stack(errors, axis=2), np.stack(relative, axis=2)


@door(answer="any", differences=real(3, finite=False), lengths=each(whole()))
def mean_tail_errors(
    differences: Float[np.ndarray, "lane input step"], lengths: np.ndarray
) -> Float[np.ndarray, " lane"]:
    """ℓ∞ of each lane's outputs less its teacher's over the steps from k on, mean over inputs.

    Where an output overflowed the error is infinite.
    """
    if len(lengths) != len(differences):
        raise ValueError(
            f"lengths: received {len(lengths)}, there must be one for each of the "
            f"{len(differences)} lanes"
        )
    later = np.arange(np.shape(differences)[-1]) >= np.asarray(lengths)[:, None]
    worst = np.max(np.where(later[:, None], np.abs(differences), 0), axis=-1)
    errors = np.mean(worst, axis=-1)
    return np.where(np.isnan(errors), np.inf, errors)
