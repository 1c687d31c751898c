"""Moments as exact rational numbers, with what is known of their errors.

Passing from moments to nodes loses digits exponentially in the order (a factor near (1 + √2)² for
each atom on [−1, 1]). Floats are rationals, so the passage is done here without any rounding of its
own; what remains is the rounding of the data, and that is carried along.
"""

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

#: A polynomial by its coefficients, lowest power first.
Polynomial: TypeAlias = Sequence[Fraction]

#: Sums of products computed in float64 are within this of the truth, relative to their terms.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True)
class Moments:
    """m_0 … m_{k−1} and, for each, how far the true moment may be (0 for exact numbers)."""

    values: tuple[Fraction, ...]
    errors: tuple[Fraction, ...]

    @staticmethod
    def checked(moments: Iterable[Any], tolerance: float | int, reach: Fraction) -> "Moments":
        """The moments of a measure on [−reach, reach]; floats are known to `tolerance`.

        The error of a moment is relative to ∫|x|^j, not to the moment, in which terms may cancel:
        for odd j that is at most reach · m_{j−1}.
        """
        if not 0 <= tolerance < 1:
            raise ValueError(f"tolerance: received {tolerance!r}, it must lie in [0, 1)")
        values, exact = [], []
        for place, moment in enumerate(moments):
            values.append(as_fraction(f"moments[{place}]", moment))
            exact.append(isinstance(moment, numbers.Rational))
        if not values:
            raise ValueError("moments: received none, they must hold at least m_0, the total mass")
        relative = Fraction(tolerance)
        errors = [
            Fraction(0)
            if exact[j]
            else relative * (abs(m) if j % 2 == 0 else max(abs(m), reach * abs(values[j - 1])))
            for j, m in enumerate(values)
        ]
        return Moments(tuple(values), tuple(errors))

    def __len__(self) -> int:
        return len(self.values)

    def integral(self, polynomial: Polynomial) -> Fraction:
        """∫ P dμ = Σ P_j m_j."""
        return sum((c * m for c, m in zip(polynomial, self.values, strict=False)), Fraction(0))

    def uncertainty(self, polynomial: Polynomial) -> Fraction:
        """How far that integral may be from the truth: Σ |P_j| error_j."""
        return sum((abs(c) * e for c, e in zip(polynomial, self.errors, strict=False)), Fraction(0))


def as_fraction(name: str, value: Any) -> Fraction:
    """A real number, exactly; an array of one entry, of NumPy or JAX, is its number."""
    number = value.item() if hasattr(value, "item") and value.size == 1 else value
    real = isinstance(number, numbers.Real) and not isinstance(number, bool)
    if not real or not math.isfinite(number):
        raise ValueError(f"{name}: received {value!r}, it must be a finite real number")
    return Fraction(number)


def times(left: Polynomial, right: Polynomial) -> list[Fraction]:
    """The product of two polynomials."""
    product = [Fraction(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def divided(power: int, monic: Polynomial) -> tuple[list[Fraction], list[Fraction]]:
    """x^power = quotient · monic + remainder."""
    degree = len(monic) - 1
    remainder = [Fraction(0)] * power + [Fraction(1)]
    quotient = [Fraction(0)] * max(power - degree + 1, 1)
    for shift in range(power - degree, -1, -1):
        leading = remainder[shift + degree]
        quotient[shift] = leading
        for i, c in enumerate(monic):
            remainder[shift + i] -= leading * c
    return quotient, remainder[:degree] or [Fraction(0)]


def largest_on(polynomial: Polynomial, reach: Fraction) -> Fraction:
    """A bound on |P| over [−reach, reach]: Σ |P_j| reach^j."""
    return sum((abs(c) * reach**j for j, c in enumerate(polynomial)), Fraction(0))
