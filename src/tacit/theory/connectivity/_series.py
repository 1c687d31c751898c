"""The paper's expansions in the learning time to third order: (10), (14), (15) and (91).

They are polynomials, and no order of them converges beyond the radius of convergence of the series
(`LearningCurve.radius_of_convergence`). The paper stops them where z reaches ẑ (`series_end`).
"""

from typing import SupportsFloat

import numpy as np
from jaxtyping import Float

from tacit._doors import door, number, numbers
from tacit.theory.connectivity._checks import Times, checked_number, checked_strength, checked_times
from tacit.theory.connectivity._first_order import beta


@door(times=numbers(), target=number())
def change_series(times: Times, target: SupportsFloat) -> Float[np.ndarray, "*times 2 2"]:
    """A(τ) of ΔW = [w m] A [w m]ᵀ at g = 0, to third order, (10)."""
    tau, z = checked_times(times), checked_number("target", target)
    change = np.empty((*tau.shape, 2, 2))
    change[..., 0, 0] = change[..., 1, 1] = z**2 / 2 * (tau**2 - tau**3)
    change[..., 0, 1] = z * (tau - tau**2 / 2 + tau**3 / 6 * (1 + 2 * z**2))
    change[..., 1, 0] = z**3 * tau**3 / 3
    return change


@door(times=numbers(), target=number(), g=number(0, below=1))
def output_series(
    times: Times, target: SupportsFloat, g: SupportsFloat = 0.0
) -> Float[np.ndarray, "*times"]:
    """z(τ) to third order, (15)."""
    z, b, scaled = _scaled(times, target, g)
    return np.asarray(z * _cubic(scaled, 1 + 8 * z**2 * b))


@door(target=number(), g=number(0, below=1))
def series_end(target: SupportsFloat, g: SupportsFloat = 0.0) -> float:
    """The τ at which z(τ) of third order, (15), reaches ẑ: there the paper stops its theory.

    The cubic always rises, so that there is one such time.
    """
    b, z = beta(checked_strength(g)), checked_number("target", target)
    roots = np.roots([(1 + 8 * z**2 * b) / 6, -0.5, 1.0, -1.0])
    return float(roots[np.argmin(np.abs(roots.imag))].real) / b**2


@door(times=numbers(), target=number(), g=number(0, below=1))
def singular_value_series(
    times: Times, target: SupportsFloat, g: SupportsFloat = 0.0
) -> Float[np.ndarray, "*times 2"]:
    """s₁ and s₂ of ΔW(τ) to third order, (14); those of a negative target are |ẑ|'s."""
    z, b, scaled = _scaled(times, target, g)
    z = abs(z)
    first = z / b * _cubic(scaled, 1 + 3.5 * z**2 * b)
    return np.stack([first, z**3 * scaled**3 / 12], axis=-1)


@door(times=numbers(), target=number(), g=number(0, below=1))
def shuffled_output_series(
    times: Times, target: SupportsFloat, g: SupportsFloat = 0.0
) -> Float[np.ndarray, "*times"]:
    """The output after training until τ and then shuffling W₀, to third order, (91)."""
    z, b, scaled = _scaled(times, target, g)
    return np.asarray(z / b**2 * _cubic(scaled, 1 + 2 * z**2 * (1 + 3 / b)))


def _scaled(
    times: Times, target: SupportsFloat, g: SupportsFloat
) -> tuple[float, float, np.ndarray]:
    """ẑ, β and τ̃ = β²τ."""
    b = beta(checked_strength(g))
    return checked_number("target", target), b, np.asarray(b**2 * checked_times(times))


def _cubic(scaled: np.ndarray, third: float) -> np.ndarray:
    return np.asarray(scaled - scaled**2 / 2 + third * scaled**3 / 6)
