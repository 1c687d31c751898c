"""The polynomials whose integrals say how far a moment is from the ends of its range."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tacit.theory.lowdim._moments import Moments, Polynomial, divided, largest_on, times


@final
@dataclass(frozen=True)
class Distance:
    """∫ P dμ ≥ 0 for P ≥ 0 on the support, ±monic of degree j: how far m_j is from one end."""

    polynomial: Polynomial
    value: Fraction
    uncertainty: Fraction

    @property
    def negative(self) -> bool:
        """Whether no positive measure has these moments, whatever their rounding."""
        return self.value < -self.uncertainty

    @property
    def vanishes(self) -> bool:
        """Whether it is zero as far as the moments tell: μ sits on the zeros of P alone."""
        return abs(self.value) <= self.uncertainty


def distances(moments: Moments, base: Fraction, weight: Polynomial) -> Iterator[Distance]:
    """∫ S_j² w dμ (even j) and ∫ (x − a) S_j² w dμ (odd j), for j = 0, 1, …, as moments allow.

    Here w is the `weight`, 1 or −1 times a monic polynomial, a the `base`, and S_{2r}, S_{2r+1} the
    monic polynomials of degree r orthogonal with respect to w dμ and (x − a) w dμ. They climb a
    staircase of two-term recurrences with the coefficients of Stieltjes' continued fraction,

        S_{2r} = (x − a) S_{2r−1} − ζ_{2r−1} S_{2r−2},    S_{2r+1} = S_{2r} − ζ_{2r} S_{2r−1},

    ζ_j the quotient of two distances that follow one another. The iterator ends before it would
    divide by zero.
    """
    below: Polynomial = [Fraction(1)]
    here: Polynomial = [Fraction(1)]
    step = [-base, Fraction(1)]
    previous = last = Fraction(1)
    for j in range(len(moments) - len(weight) + 1):
        # For j = 0, 1 both polynomials are 1; then each is made of the two before it.
        if j >= 2:
            lifted = times(step, here) if j % 2 == 0 else list(here)
            ratio = last / previous
            for i, c in enumerate(below):
                lifted[i] -= ratio * c
            below, here = here, lifted
        squared = times(here, here)
        whole = times(times(squared, step) if j % 2 else squared, weight)
        value = moments.integral(whole)
        yield Distance(whole, value, moments.uncertainty(whole))
        if value == 0:
            return
        previous, last = last, value


def check_beyond(moments: Moments, end: Distance, reach: Fraction) -> None:
    """Once ∫ P dμ = 0, moments beyond the degree of P follow from those before; check that they do.

    With x^i = Q P + H, m_i = ∫ H dμ up to sup |Q| on [−reach, reach] times what ∫ P dμ may be.
    """
    monic = [c / end.polynomial[-1] for c in end.polynomial]
    for i in range(len(monic), len(moments)):
        quotient, remainder = divided(i, monic)
        implied = moments.integral(remainder)
        slack = moments.errors[i] + moments.uncertainty(remainder)
        slack += largest_on(quotient, reach) * (abs(end.value) + end.uncertainty)
        if abs(moments.values[i] - implied) > slack:
            raise ValueError(
                f"moments[{i}] = {float(moments.values[i])!r} is impossible: the moments before it "
                f"have one measure only, whose moment is {float(implied)!r}; correct it, widen the "
                "support or, for noisy moments, raise tolerance"
            )
