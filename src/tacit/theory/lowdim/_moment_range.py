"""The exact range of a later moment: the threshold of Lemma 7 without an optimiser."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tacit._doors import door, each, number, whole
from tacit.theory.lowdim._canonical import Floats, encoded_moment
from tacit.theory.lowdim._moments import ROUNDING, Moments, as_fraction
from tacit.theory.lowdim._staircase import Distance, check_beyond, distances

_ZOOMS, _POINTS = 8, 33  # of the search below: each zoom narrows it sixteenfold, to 2e-10 in all


class MomentRange(NamedTuple):
    """The least and the largest value; equal when the given moments leave no choice."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low


@door(moments=each(least=0), lag=whole(0, 10_000), support=each(), tolerance=number(0))
def moment_range(
    moments: Iterable[Any],
    lag: int,
    *,
    support: Iterable[Any] = (-1.0, 1.0),
    tolerance: float | int = ROUNDING,
) -> MomentRange:
    """What m_lag can be over all positive measures on `support` with the first moments m_0 … m_n.

    For a balanced student these are all values of lag `lag` among students of any width that fit
    the first k = n + 1 lags (lowdim, Lemma 7). The range is a point from k = 2d̂ + 1 on when the
    moments are those of d̂ atoms inside the support; an atom on one of its ends saves one lag, atoms
    on both ends save two.

    Each moment has a range of its own given those before it. Its place there, the canonical moment
    p_j ∈ [0, 1], encodes the measure, and the extremes of m_lag are found at p_{n+1} = 0 and 1
    (Gauss and Gauss-Radau or Lobatto quadrature), wherever the sign of x^{lag−n−1}, hence of the
    derivative of x^lag of order n + 1, is one and the same over the support (Chebyshev, Markov,
    Krein). Where it changes, m_{n+1} is added as an unknown, after which it does not change: the
    extremes given m_{n+1} are a concave and a convex function of it, and are searched along it.

    **Arguments:**

    - `moments`: m_0 … m_{k−1}. Floats are taken to be rounded; `int` and `Fraction` are exact, and
      then so is the decision whether the range is a point.
    - `lag`: which moment; one that is given already is its own range.
    - `support`: the two ends (a, b) of the interval.
    - `tolerance`: relative error of moments that are floats, by default that of sums in float64
      (float32 needs about 2e-6). A measure within it of the boundary
      of the feasible ones counts as on it (where the range is a point), outside it as impossible.

    Moments that no positive measure on the support has are a `ValueError`.
    """
    a, b = _ends(support)
    if isinstance(lag, bool) or not isinstance(lag, int | np.integer) or lag < 0:
        raise ValueError(f"lag: received {lag!r}, it must be an integer of at least 0")
    reach = max(abs(a), abs(b))
    known = Moments.checked(moments, float(tolerance), reach)
    if known.values[0] < 0:
        raise ValueError(
            f"moments[0]: received {float(known.values[0])!r}, the total mass must not be negative"
        )
    places, end = _canonical(known, a, b)
    if end is not None:
        check_beyond(known, end, reach)
    if lag < len(known):
        return MomentRange(float(known.values[lag]), float(known.values[lag]))
    mass = float(known.values[0])
    if mass == 0:
        return MomentRange(0.0, 0.0)

    def moment(*further: Floats | float) -> Floats:
        return mass * encoded_moment(places, further, int(lag), float(a), float(b))

    if end is not None:
        point = float(moment())
        return MomentRange(point, point)
    one_sign = (lag - len(known)) % 2 == 0 or a >= 0 or b <= 0
    if one_sign:
        ends = sorted((float(moment(0.0)), float(moment(1.0))))
        return MomentRange(*ends)
    return MomentRange(-_greatest(lambda p: -moment(p, 0.0)), _greatest(lambda p: moment(p, 1.0)))


def _ends(support: Iterable[Any]) -> tuple[Fraction, Fraction]:
    try:
        low, high = support
    except (TypeError, ValueError):
        raise ValueError(
            f"support: received {support!r}, it must be the two ends of an interval"
        ) from None
    a, b = as_fraction("support[0]", low), as_fraction("support[1]", high)
    if not a < b:
        raise ValueError(
            f"support: received {support!r}, it must be an interval (low, high) with low < high"
        )
    return a, b


def _canonical(
    moments: Moments, a: Fraction, b: Fraction
) -> tuple[list[tuple[float, float]], Distance | None]:
    """(p_j, 1 − p_j) for j = 1, 2, …; at a boundary they end there, and its distance is given."""
    places: list[tuple[float, float]] = []
    lower = distances(moments, a, [Fraction(1)])
    upper = distances(moments, a, [b, Fraction(-1)])
    mass = next(lower)
    if mass.vanishes:
        return [], mass
    for j, (below, above) in enumerate(zip(lower, upper, strict=True), start=1):
        for distance, words, least in ((below, "at least", 1), (above, "at most", -1)):
            if distance.negative:
                limit = float(moments.values[j] - least * distance.value)
                raise ValueError(
                    f"moments[{j}] = {float(moments.values[j])!r} is impossible: with the moments "
                    f"before it, a positive measure on [{float(a):g}, {float(b):g}] has {words} "
                    f"{limit!r}; correct it, widen the support or, for noisy moments, raise "
                    "tolerance"
                )
        if below.vanishes or above.vanishes:
            on_low = abs(below.value) <= abs(above.value)
            places.append((0.0, 1.0) if on_low else (1.0, 0.0))
            return places, below if on_low else above
        whole = below.value + above.value
        places.append((float(below.value / whole), float(above.value / whole)))
    return places, None


def _greatest(concave: Any) -> float:
    """The maximum over [0, 1] of a concave function of arrays, by zooming in on it.

    The maximum is flat, so that its value is known twice as well as its place.
    """
    low, high = 0.0, 1.0
    best = -np.inf
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _POINTS)
        values = concave(grid)
        top = int(np.argmax(values))
        best = max(best, float(values[top]))
        low, high = grid[max(top - 1, 0)], grid[min(top + 1, _POINTS - 1)]
    return best
