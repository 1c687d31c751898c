"""The path for any g and any N: two coupled vectors on each side, O(N) per step.

With G = AᵀA = G₀ − w pᵀ − p wᵀ the two sides close on themselves (not in the paper):

    p' = x,   x' = |x|² G⁻¹ w,    and the same for q, y with m and AAᵀ.

In the basis of the singular vectors of A₀ = I − W₀ both G₀ are the diagonal S², and G⁻¹w costs two
scalar products. By arc length, and with X = D x, Y = D y, where D = det A / det A₀, nothing
diverges when A becomes singular: D falls through zero at a finite slope.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

_TOLERANCE = 1e-13
_DEGREES = (48, 96, 192, 384)
_RESOLVED = 1e-12  # of the largest coefficient: the expansion has converged


class Side(NamedTuple):
    """What one side needs: S² and the vector that its Gram matrix changes along (w or m)."""

    squares: Float[np.ndarray, " n"]
    vector: Float[np.ndarray, " n"]

    def solved(self, p: np.ndarray) -> np.ndarray:
        """D² G⁻¹ v for G = S² − v pᵀ − p vᵀ; D² = det G / det G₀ is divided out."""
        scaled = self.vector / self.squares
        a, b = scaled @ self.vector, scaled @ p
        return (1 - b) * scaled + a * (p / self.squares)


class Walk(NamedTuple):
    """Chebyshev coefficients over [low, high] in σ of X, Y and D."""

    low: float
    high: float
    coefficients: Float[np.ndarray, "degree columns"]

    def __call__(self, arc: np.ndarray, columns: slice = slice(None)) -> np.ndarray:
        """The chosen columns (those of X, then those of Y, then D) at some σ, (σ, columns)."""
        place = (2 * arc - self.low - self.high) / (self.high - self.low)
        degree = len(self.coefficients) - 1
        return np.polynomial.chebyshev.chebvander(place, degree) @ self.coefficients[:, columns]


def walk(
    values: Float[np.ndarray, " n"],
    w: Float[np.ndarray, " n"],
    m: Float[np.ndarray, " n"],
    *,
    furthest: float,
) -> Walk:
    """Walk both ways from W₀ until |z| = `furthest`.

    **Arguments:**

    - `values`: S, the singular values of I − W₀ = U S Vᵀ.
    - `w`, `m`: Vᵀw and Uᵀm.
    """
    from scipy.integrate import solve_ivp

    size = len(values)
    right, left = Side(values**2, w), Side(values**2, m)
    start = np.concatenate([np.zeros(size), m / values, np.zeros(size), w / values, [1.0]])
    p, x, q, y = (slice(i * size, (i + 1) * size) for i in range(4))

    def motion(_: float, state: np.ndarray) -> np.ndarray:
        X, Y, D = state[x], state[y], state[-1]
        length_x, length_y = np.sqrt(X @ X), np.sqrt(Y @ Y)
        u, v = right.solved(state[p]), left.solved(state[q])
        found = np.empty_like(state)
        found[p] = X * (D / (length_x * length_y))
        found[q] = Y * (D / (length_x * length_y))
        # The part of u across X vanishes with D, as u turns into the null vector of A.
        found[x] = (length_x * u - (X @ u / length_x) * X) / (D * length_y)
        found[y] = (length_y * v - (Y @ v / length_y) * Y) / (D * length_x)
        found[-1] = -(X @ u) / (length_x * length_y)
        return found

    def reached(_: float, state: np.ndarray) -> float:
        return float(furthest * state[-1] - abs(w @ state[x]))

    reached.terminal = True  # type: ignore[attr-defined]
    ends, dense = [], []
    scale = 1.0 / np.sqrt(len(start))
    for sign in (-1.0, 1.0):
        # z grows at least as fast as |x||y| does, which is above one from z = |w||m| on; the
        # length of the path is therefore of the size of the singular values.
        found = solve_ivp(
            motion,
            (0.0, sign * 100.0 * (1 + values.max()) * (1 + np.linalg.norm(values))),
            start,
            method="DOP853",
            rtol=_TOLERANCE,
            atol=_TOLERANCE * scale,
            events=reached,
            dense_output=True,
        )
        if found.status != 1:
            raise ArithmeticError(f"the path could not be followed: {found.message}")
        ends.append(float(found.t[-1]))
        dense.append(found.sol)
    return _expanded(ends[0], ends[1], dense, np.r_[x, y, 4 * size])


def _expanded(low: float, high: float, dense: list, columns: np.ndarray) -> Walk:
    """The solution as one Chebyshev expansion, of as high a degree as it needs."""
    for degree in _DEGREES:
        places = np.polynomial.chebyshev.chebpts1(degree + 1)
        arcs = (low + high) / 2 + (high - low) / 2 * places
        states = np.stack([dense[int(arc > 0)](arc)[columns] for arc in arcs])
        basis = np.polynomial.chebyshev.chebvander(places, degree)
        coefficients = basis.T @ states * (2 / (degree + 1))
        coefficients[0] /= 2
        tail = np.abs(coefficients[-4:]).max()
        if tail <= _RESOLVED * np.abs(coefficients).max():
            break
    return Walk(low, high, coefficients)
