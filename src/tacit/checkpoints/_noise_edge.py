"""Where noise ends: the largest singular value that a random matrix would have by itself.

A matrix of m × n independent entries of variance s² has singular values up to about s(√m + √n)
(Marchenko and Pastur 1967). Its largest one squared is near

    s² (√(m−1) + √n)²,  with a spread of  s² (√(m−1) + √n) (1/√(m−1) + 1/√n)^(1/3)

times a Tracy–Widom variable (Johnstone 2001, for Gaussian entries). The edge here is where this is
exceeded in 1% of all draws.

The noise level s comes from the spectrum itself. With all singular values known, it is their median
over that of the Marchenko–Pastur law (Gavish and Donoho 2014): half of all values may stand out
without moving it. With the leading ones and the norm of the rest known, it is the rest's: s² =
rest² / ((m − k)(n − k)) after k values that stand out, k the smallest that is consistent with its
own edge. A change of exactly low rank has no noise: all its values stand out that rounding to
float32 could not have made.
"""

import functools
from typing import NamedTuple

import numpy as np
from scipy import integrate, optimize

_TRACY_WIDOM = 2.0234  # its 99% point for real matrices (Bejan 2005, table 1)
_ROUNDING = 1e-6  # of the largest value: what single precision leaves


class Edge(NamedTuple):
    """The edge, how many of the known values lie above it, and whether all that do are known."""

    value: float
    above: int
    complete: bool


def noise_edge(values: np.ndarray, rest: float, following: float, rows: int, columns: int) -> Edge:
    """The edge of noise for a spectrum: leading `values`, largest first, the norm of the rest and
    the value that follows, if it is known about.
    """
    values = np.append(values, following) if following else values
    if not values.size or values[0] == 0:
        return Edge(0.0, 0, True)
    known = values.size == min(rows, columns) and not rest
    floor = _ROUNDING * float(values[0])
    if known:
        scale = float(np.median(values)) / np.sqrt(max(rows, columns) * _median(rows, columns))
        edge = max(float(scale * _largest(rows, columns)), floor)
        return Edge(edge, int(np.sum(values > edge)), True)
    beyond = max(0.0, rest**2 - following**2)
    left = beyond + np.append(np.cumsum(values[::-1] ** 2)[::-1], 0.0)
    edge = 0.0
    for count in range(values.size + 1):
        scale = np.sqrt(left[count] / max(1, (rows - count) * (columns - count)))
        edge = max(float(scale * _largest(rows - count, columns - count)), floor)
        if count < values.size and values[count] <= edge:
            return Edge(edge, count, True)
    return Edge(edge, values.size, rest == 0.0)


def _largest(rows: int, columns: int) -> float:
    """The 99% point of the largest singular value of unit noise."""
    one, other = np.sqrt(max(1, max(rows, columns) - 1)), np.sqrt(max(1, min(rows, columns)))
    middle = (one + other) ** 2
    spread = (one + other) * (1 / one + 1 / other) ** (1 / 3)
    return float(np.sqrt(middle + _TRACY_WIDOM * spread))


def _median(rows: int, columns: int) -> float:
    return _median_of(min(rows, columns) / max(rows, columns))


@functools.lru_cache(maxsize=256)
def _median_of(ratio: float) -> float:
    """The median of the Marchenko–Pastur law of squared singular values over the longer side."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2

    def angle(x: float) -> float:
        return float(np.arccos(np.clip((x - (1 + ratio)) / (2 * np.sqrt(ratio)), -1, 1)))

    def above(x: float) -> float:
        # With x = 1 + r + 2√r cos a, the density's roots at both ends are gone.
        def density(a: float) -> float:
            return float(2 / np.pi * np.sin(a) ** 2 / (1 + ratio + 2 * np.sqrt(ratio) * np.cos(a)))

        return float(integrate.quad(density, 0, angle(x))[0]) - 0.5

    if high - low < 1e-9:
        return 1.0
    return float(optimize.brentq(above, low, high, xtol=1e-10))
