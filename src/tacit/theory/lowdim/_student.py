"""Proposition 3: zero loss on k lags and a chosen wrong value at the next."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from tacit._doors import door, each, number, whole
from tacit.theory.lowdim._moments import as_fraction


class Student(NamedTuple):
    """s_{t+1} = A s_t + B x_t, y_t = C s_t, with a diagonal A (width × width)."""

    A: Float[np.ndarray, "width width"]
    B: Float[np.ndarray, "width 1"]
    C: Float[np.ndarray, "1 width"]


@door(teacher=each(), length=whole(1), width=whole(1), wrong_value=number(), radius=number(above=0))
def nonextrapolating_student(
    teacher: Iterable[Any],
    length: int,
    width: int,
    wrong_value: float | int,
    *,
    radius: float | int = 1.0,
) -> Student:
    """A symmetric student that fits the teacher's first `length` lags and takes `wrong_value` next.

    (lowdim, Proposition 3, which needs width > length.) With distinct eigenvalues λ_i the response
    is r_j = Σ g_i λ_i^j, g_i = C_i B_i: a Vandermonde system, solved here with the g of least norm.
    The λ_i are the Chebyshev points of [−radius, radius], on which the Chebyshev polynomials are
    orthogonal: with ρ_j = Σ_i g_i T_j(λ_i/radius), a combination of the r_j,

        g_i = (1/width) Σ_j (2 − [j = 0]) ρ_j T_j(λ_i/radius).

    Then B_i = √|g_i| and C_i = ±B_i. Some signs are negative unless `wrong_value` lies in the
    `moment_range` of the first lags: a student that is balanced has no such freedom. To move lag k
    alone by 1 takes Σ|g_i| ≥ 2^{k−1}/radius^k, and the fit is as good as rounding of such g allows.

    **Arguments:**

    - `teacher`: the teacher's impulse response, `length` lags or more.
    - `length`: k ≥ 1, the lags that are fitted.
    - `width`: of the student, above `length`.
    - `wrong_value`: of lag k, whatever the teacher's is.
    - `radius`: of the student's spectrum.
    """
    for name, given, least in (("length", length, 1), ("width", width, 1)):
        integer = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not integer or given < least:
            raise ValueError(f"{name}: received {given!r}, it must be an integer, at least {least}")
    if width <= length:
        raise ValueError(
            f"width: received {width}, it must exceed length = {length}: that many lags determine "
            "the rest"
        )
    if not 0 < radius < np.inf:
        raise ValueError(f"radius: received {radius!r}, it must be positive and finite")
    response = [as_fraction(f"teacher[{j}]", lag) for j, lag in enumerate(teacher)]
    if len(response) < length:
        raise ValueError(
            f"teacher: received {len(response)} of them, it must hold its first length = {length} "
            "lags"
        )
    response = [*response[:length], as_fraction("wrong_value", wrong_value)]
    scaled = [lag / as_fraction("radius", radius) ** j for j, lag in enumerate(response)]
    modes = np.array([float(mode) for mode in _chebyshev_moments(scaled)])
    angles = np.pi * (np.arange(width) + 0.5) / width
    modes[1:] *= 2
    weights = np.cos(np.outer(angles, np.arange(length + 1))) @ modes / width
    size = np.sqrt(np.abs(weights))
    A = np.diag(float(radius) * np.cos(angles))
    return Student(A, size[:, None], (np.sign(weights) * size)[None, :])


def _chebyshev_moments(moments: list[Fraction]) -> list[Fraction]:
    """∫ T_j dμ from ∫ x^j dμ, exactly: the coefficients of T_j grow like (1 + √2)^j."""
    found = []
    below: list[int] = []
    here = [1]
    for j in range(len(moments)):
        found.append(sum((c * m for c, m in zip(here, moments, strict=False)), Fraction(0)))
        following = [0, *(c * (2 if j else 1) for c in here)]
        for i, c in enumerate(below):
            following[i] -= c
        below, here = here, following
    return found
