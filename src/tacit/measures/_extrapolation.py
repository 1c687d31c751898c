"""How far a student's impulse response leaves its teacher's beyond the training length."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._types import precise
from tacit.measures._namespace import Scalar, as_real, namespace_of


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
