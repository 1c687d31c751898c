"""A path from its walk: output, speed and change of W from the vectors X and Y along it."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from tacit.theory.connectivity._path import Path
from tacit.theory.connectivity._walk import Walk, walk

_GAUSS = 32  # nodes for ΔW = ∫ ŷ x̂ᵀ dσ, whose integrand is smooth over a length of order one


@dataclass(frozen=True, eq=False)
class Basis:
    """The singular vectors of I − W₀ = U S Vᵀ, where the network is a given one."""

    U: Float[np.ndarray, "n n"]
    Vt: Float[np.ndarray, "n n"]


@final
class WalkedPath(Path):
    """The path of one network, or of the limit of large ones."""

    def __init__(
        self,
        values: np.ndarray,
        w: np.ndarray,
        m: np.ndarray,
        *,
        furthest: float,
        basis: Basis | None,
    ) -> None:
        self._size = len(values)
        self._basis = basis
        self._walk: Walk = walk(values, w, m, furthest=furthest)
        self.start = float(w @ (m / values))
        coefficients = self._walk.coefficients
        # w ⋅ X and D: the two scalars that the output is the ratio of.
        self._scalars = Walk(
            self._walk.low,
            self._walk.high,
            np.stack([coefficients[:, : self._size] @ w, coefficients[:, -1]], axis=1),
        )
        self._slopes = Walk(
            self._walk.low,
            self._walk.high,
            np.polynomial.chebyshev.chebder(self._scalars.coefficients)
            * (2 / (self._walk.high - self._walk.low)),
        )
        self._table_arc = np.linspace(self._walk.low, self._walk.high, 801)
        self._table_output = np.maximum.accumulate(self.output(self._table_arc))
        self.known = float(self._table_output[0]), float(self._table_output[-1])
        self.ends = self._end(self._walk.low), self._end(self._walk.high)

    def _end(self, arc: float) -> float:
        """Where D vanishes, a little beyond the last point walked to."""
        for _ in range(20):
            here = np.array([arc])
            step = self._scalars(here)[0, 1] / self._slopes(here)[0, 1]
            arc -= float(step)
            if abs(step) <= 1e-15 * (1 + abs(arc)):
                break
        return arc

    def output(self, arc: np.ndarray) -> np.ndarray:
        """w ⋅ X / D."""
        above, below = np.moveaxis(self._scalars(np.asarray(arc)), -1, 0)
        return above / below

    def speed(self, arc: np.ndarray) -> np.ndarray:
        """d(w ⋅ X / D)/dσ."""
        arc = np.asarray(arc)
        above, below = np.moveaxis(self._scalars(arc), -1, 0)
        above_slope, below_slope = np.moveaxis(self._slopes(arc), -1, 0)
        return (above_slope * below - above * below_slope) / below**2

    def arc(self, output: np.ndarray) -> np.ndarray:
        """The root of w ⋅ X = zD by Newton's method, from a table."""
        z = np.asarray(output, dtype=np.float64)
        arc = np.interp(z, self._table_output, self._table_arc)
        for _ in range(20):
            above, below = np.moveaxis(self._scalars(arc), -1, 0)
            above_slope, below_slope = np.moveaxis(self._slopes(arc), -1, 0)
            step = (above - z * below) / (above_slope - z * below_slope)
            arc = np.clip(arc - step, self._walk.low, self._walk.high)
            if np.all(np.abs(step) <= 1e-14 * (1 + np.abs(arc))):
                break
        return arc

    def factors(self, arc: float) -> tuple[np.ndarray, np.ndarray]:
        """Y and X with W(σ) − W₀ = U Y Xᵀ Vᵀ: Gauss nodes of ∫ ŷ x̂ᵀ dσ, (n, nodes) each."""
        places, weights = np.polynomial.legendre.leggauss(_GAUSS)
        along = self._walk(arc * (1 + places) / 2)
        X, Y = along[:, : self._size], along[:, self._size : 2 * self._size]
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        Y = Y / np.linalg.norm(Y, axis=1, keepdims=True) * (arc * weights / 2)[:, None]
        return Y.T, X.T

    def singular_values(self, arc: np.ndarray, count: int) -> np.ndarray:
        """Of the factors, each made triangular first."""
        found = np.zeros((len(arc), count))
        for row, place in enumerate(arc):
            Y, X = self.factors(float(place))
            small = np.linalg.qr(Y).R @ np.linalg.qr(X).R.T
            values = np.linalg.svd(small, compute_uv=False)[:count]
            found[row, : len(values)] = values
        return found

    def change(self, arc: np.ndarray) -> np.ndarray:
        """W(σ) − W₀ in the network's own basis."""
        if self._basis is None:
            raise ValueError(
                "change: there is no matrix in the limit of large N; use "
                "learning_curve(W0, w, m, …) for one"
            )
        found = np.empty((len(arc), self._size, self._size))
        for row, place in enumerate(arc):
            Y, X = self.factors(float(place))
            found[row] = (self._basis.U @ Y) @ (X.T @ self._basis.Vt)
        return found
