"""Atoms from moments: Prony's problem for positive measures on the line."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from tacit._doors import door, each, number, whole
from tacit.theory.lowdim._moments import ROUNDING, Moments, Polynomial, as_fraction, times
from tacit.theory.lowdim._staircase import Distance, check_beyond


class Atoms(NamedTuple):
    """A measure Σ weights_i δ(nodes_i), its nodes ascending."""

    nodes: Float[np.ndarray, " atoms"]
    weights: Float[np.ndarray, " atoms"]


@door(moments=each(), order=whole(1, 1000), tolerance=number(0))
def prony(moments: Iterable[Any], order: int, *, tolerance: float | int = ROUNDING) -> Atoms:
    """The positive measure with `order` atoms that has these moments m_0, m_1, …

    It recovers a balanced teacher from its lags (lowdim, Lemma 7): its eigenvalues are the nodes,
    B_i² the weights. The nodes are those of Gauss quadrature: the recurrence of the orthogonal
    polynomials is found in exact arithmetic, so that only the rounding of the moments is amplified,
    and the atoms are eigenvalues and first components of its Jacobi matrix, which is stable.

    **Arguments:**

    - `moments`: at least 2 · `order` of them; further ones must agree. Floats are taken to be
      rounded, `int` and `Fraction` are exact.
    - `order`: the number of atoms.
    - `tolerance`: relative error of moments that are floats.

    Moments that no such measure has are a `ValueError`.
    """
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise ValueError(f"order: received {order!r}, it must be an integer of at least 1")
    listed = list(moments)
    if len(listed) < 2 * order:
        raise ValueError(
            f"moments: received {len(listed)}, they must hold 2 × order = {2 * order} of them for "
            f"order {order}"
        )
    values = [as_fraction(f"moments[{place}]", moment) for place, moment in enumerate(listed)]
    known = Moments.checked(listed, float(tolerance), _reach(values))
    diagonal, beside = _recurrence(known, int(order))
    jacobi = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return Atoms(nodes, float(known.values[0]) * vectors[0] ** 2)


def _recurrence(moments: Moments, order: int) -> tuple[list[float], list[float]]:
    """α_0 … and √β_1 …: π_{r+1} = (x − α_r) π_r − β_r π_{r−1}."""
    below: Polynomial = []
    here: Polynomial = [Fraction(1)]
    diagonal: list[float] = []
    beside: list[float] = []
    previous = Fraction(0)
    for r in range(order + 1):
        squared = times(here, here)
        if len(squared) > len(moments):
            break  # 2 · order moments always have their measure
        norm = Distance(squared, moments.integral(squared), moments.uncertainty(squared))
        if norm.negative:
            raise ValueError(
                f"moments[{2 * r}] = {float(moments.values[2 * r])!r} is impossible: with the "
                "moments before it, a positive measure has at least "
                f"{float(moments.values[2 * r] - norm.value)!r}; correct it or, for noisy moments, "
                "raise tolerance"
            )
        if r == order:
            if not norm.vanishes:
                raise ValueError(
                    f"moments[{2 * r}] = {float(moments.values[2 * r])!r} is that of more than "
                    f"order = {order} atoms, which have "
                    f"{float(moments.values[2 * r] - norm.value)!r}; raise order or, for noisy "
                    "moments, tolerance"
                )
            check_beyond(moments, norm, _reach(moments.values))
            break
        if norm.vanishes:
            raise ValueError(
                f"order: received {order}, but to rounding the moments are those of {r} atoms; "
                f"lower order to {r}"
            )
        shifted = [Fraction(0), *squared]
        alpha = moments.integral(shifted) / norm.value
        beta = norm.value / previous if r else Fraction(0)
        diagonal.append(float(alpha))
        beside += [float(beta) ** 0.5] if r else []
        following = times([-alpha, Fraction(1)], here)
        for i, c in enumerate(below):
            following[i] -= beta * c
        below, here, previous = here, following, norm.value
    return diagonal, beside


def _reach(moments: Iterable[Fraction]) -> Fraction:
    """The size of the nodes, as far as ratios of even moments tell; at least 1."""
    even = [abs(float(m)) for m in moments][::2]
    ratios = [high / low for low, high in itertools.pairwise(even) if low > 0]
    largest = max([1.0, *ratios]) ** 0.5
    return Fraction(largest) if np.isfinite(largest) else Fraction(1)
