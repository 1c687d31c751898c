"""What first order in the learning time says, and the traces that it is made of.

With β = 1/(1 − g²): the output grows as ẑβ²τ, so that learning ends at τ = 1/β². These are numbers
for N → ∞; (12), (13) and (84) of the paper.
"""

from typing import NamedTuple, SupportsFloat

from tacit._doors import door, number
from tacit.theory.connectivity._checks import checked_number, checked_strength


class Traces(NamedTuple):
    """Limits of the normalised traces of products of B = (I − W₀)⁻¹ and Bᵀ, (92)–(95)."""

    B: float
    """Tr B / N = 1."""
    BBt: float
    """Tr BBᵀ / N = β."""
    BBBt: float
    """Tr BBBᵀ / N = β²."""
    BBtBBt: float
    """Tr BBᵀBBᵀ / N = β⁴."""


def beta(g: SupportsFloat) -> float:
    """β = 1/(1 − g²), (12)."""
    return 1.0 / (1.0 - checked_strength(g) ** 2)


@door(g=number(0, below=1))
def traces(g: SupportsFloat) -> Traces:
    """The traces for W₀ with independent N(0, g²/N) entries, N → ∞."""
    b = beta(g)
    return Traces(1.0, b, b**2, b**4)


@door(g=number(0, below=1))
def learning_time(g: SupportsFloat) -> float:
    """τ₁* = 1/β²: when the first-order output (13) reaches its target."""
    return 1.0 / beta(g) ** 2


@door(g=number(0, below=1), target=number())
def change_norm(g: SupportsFloat, target: SupportsFloat) -> float:
    """‖ΔW‖ = |ẑ|/β at τ₁*."""
    return abs(checked_number("target", target)) / beta(g)


@door(g=number(0, below=1), target=number())
def gradient_norm(g: SupportsFloat, target: SupportsFloat) -> float:
    """‖dW/dτ‖ = |ẑ|β at τ = 0, (34)."""
    return abs(checked_number("target", target)) * beta(g)


@door(g=number(0, below=1))
def shuffled_loss(g: SupportsFloat) -> float:
    """L/L₀ = g⁴(2 − g²)² after W₀ is shuffled at τ₁*, (84)."""
    square = checked_strength(g) ** 2
    return square**2 * (2.0 - square) ** 2
