"""The path at g = 0 and N → ∞, in closed form.

ΔW = [w m] A [w m]ᵀ with orthonormal w and m, and (not in the paper, which looked for it below (70))

    A₁₁ = A₂₂ = 1 − sech σ,   A₁₂ = tanh σ,   A₂₁ = σ − tanh σ,
    z = tanh σ / D,   D = 1 − σ tanh σ,   dz/dσ = 1/D²,   s₁ + s₂ = |σ|.

z diverges where σ tanh σ = 1, at σ = ±1.19968.
"""

import functools
from typing import final

import numpy as np

from tacit.theory.connectivity._path import Path


@final
class ClosedForm(Path):
    """The path without initial connectivity."""

    start = 0.0
    known = (-np.inf, np.inf)

    @property
    def ends(self) -> tuple[float, float]:  # type: ignore[override]
        """The two roots of σ tanh σ = 1."""
        end = _singular_arc()
        return -end, end

    def output(self, arc: np.ndarray) -> np.ndarray:
        """tanh σ / (1 − σ tanh σ)."""
        return np.tanh(arc) / _determinant(arc)

    def speed(self, arc: np.ndarray) -> np.ndarray:
        """1 / D²."""
        return _determinant(arc) ** -2.0

    def arc(self, output: np.ndarray) -> np.ndarray:
        """The root of tanh σ = zD, by Newton's method on atan z, which is nearly straight."""
        z = np.asarray(output, dtype=np.float64)
        arc = self.ends[1] * np.arctan(1.3 * z) * 2 / np.pi
        for _ in range(12):
            tanh, determinant = np.tanh(arc), _determinant(arc)
            # d(tanh σ − zD)/dσ = sech² σ + z (tanh σ + σ sech² σ), positive up to both ends.
            slope = (1 - tanh**2) * (1 + z * arc) + z * tanh
            step = (tanh - z * determinant) / slope
            arc = arc - step
            if np.all(np.abs(step) <= 1e-15 * (1 + np.abs(arc))):
                break
        return arc

    def singular_values(self, arc: np.ndarray, count: int) -> np.ndarray:
        """Those of the 2 × 2 matrix; further ones are zero."""
        found = np.zeros((len(arc), count))
        kept = min(count, 2)
        found[:, :kept] = np.linalg.svd(self.change(arc), compute_uv=False)[:, :kept]
        return found

    def change(self, arc: np.ndarray) -> np.ndarray:
        """The 2 × 2 matrix A of ΔW = [w m] A [w m]ᵀ."""
        tanh = np.tanh(arc)
        # 1 − sech σ = tanh² σ / (1 + sech σ), without cancellation near zero.
        diagonal = tanh**2 / (1 + 1 / np.cosh(arc))
        return np.stack(
            [np.stack([diagonal, tanh], -1), np.stack([arc - tanh, diagonal], -1)], axis=-2
        )


def _determinant(arc: np.ndarray) -> np.ndarray:
    """D = det(I − A)."""
    return 1 - arc * np.tanh(arc)


@functools.cache
def _singular_arc() -> float:
    """The positive root of σ tanh σ = 1."""
    arc = 1.2
    for _ in range(8):
        tanh = np.tanh(arc)
        arc -= (arc * tanh - 1) / (tanh + arc * (1 - tanh**2))
    return float(arc)
