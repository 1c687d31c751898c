"""Theorem 8 with constants: how far a student of small loss can be wrong at a later lag."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from tacit._doors import door, each, number, numbers, whole
from tacit.theory.lowdim._moments import as_fraction, divided, times


class ExtrapolationBound(NamedTuple):
    """Two bounds on |student − teacher| at a lag, the sharp one and that of Theorem 8's proof."""

    sharp: np.float64 | Float[np.ndarray, "..."]
    theorem: np.float64 | Float[np.ndarray, "..."]


@door(
    nodes=each(),
    weights=each(),
    loss=numbers(0),
    lag=whole(0, 10_000),
    length=whole(1, 10_000),
    radius=number(above=0),
    constant=number(above=0),
)
def extrapolation_bound(
    nodes: Iterable[Any],
    weights: Iterable[Any],
    *,
    loss: float | int | np.ndarray,
    lag: int,
    length: int,
    radius: float | int = 1.0,
    constant: float | int = 1.0,
) -> ExtrapolationBound:
    """How far lag `lag` of a balanced student is from the teacher's when its loss on k lags is δ.

    The teacher is Σ weights_i nodes_i^j, balanced and stable; the student is any balanced one, of
    any width, whose eigenvalues lie in [−radius, radius]; the loss is (3.4), a plain sum of squares
    over the first k = `length` > 2d̂ lags.

    **`sharp`** (ours) has explicit constants and the rate √δ. With P = Π(x − λ̂_i)² divide
    x^q = g P + h. Since P vanishes on the teacher, e_q = Σ h_j e_j + ∫ g P dμ for the errors e of
    the lags, and ∫ P dμ = Σ P_j e_j ≥ 0, so that

        |e_q| ≤ √δ · max over γ ∈ {min g, max g} of ‖h + γ P‖₂,

    the extremes of g taken over [−radius, radius]. It needs no other assumption.

    **`theorem`** is the chain of Theorem 8's proof (appendix C.3), which does not use where the
    teacher's atoms are, with rate δ^{1/4d̂}:

        δ' = δ (1 + τ^{k+1}(τ^{k−1} + 1))/(ĈB̂)²,  W₁ ≤ ρ δ'^{1/4d̂},  |m_q − m̂_q| ≤ q τ^{q−1} W₁,

    with τ = max(1, radius), and |e_q| ≤ ĈB̂ |m_q − m̂_q| + τ^q √δ. The paper leaves ρ = `constant`
    open (it comes from Wu and Yang's Proposition 2), so this is a bound up to that factor. Two
    places differ from print. (C.35) has δ for |β| ≤ √δ; the constant that follows is right all the
    same, by Cauchy's inequality. (C.37) starts from |m_q − m̂_q| ≤ W_q, which fails for two points 1
    and 1 − ε; the step above holds, by the mean value theorem, and spares the power 1/q.

    **Arguments:**

    - `nodes`, `weights`: the teacher's eigenvalues, distinct and in [−1, 1], and B_i² > 0.
    - `loss`: δ ≥ 0, a number or an array.
    - `lag`: q; for a lag below `length` the sharp bound is √δ.
    - `length`: k, at least 2d̂ + 1.
    - `radius`: of the student's spectrum.
    - `constant`: ρ.
    """
    points = [as_fraction(f"nodes[{i}]", node) for i, node in enumerate(nodes)]
    masses = [as_fraction(f"weights[{i}]", weight) for i, weight in enumerate(weights)]
    delta = np.asarray(loss, np.float64)
    _check(points, masses, delta, lag, length, radius, constant)
    order, gain = len(points), float(sum(masses))
    root = np.sqrt(delta)
    sharp = root if lag < length else root * _sharp_factor(points, int(lag), float(radius))
    tau = max(1.0, float(radius))
    spread = delta * (1 + tau ** (length + 1) * (tau ** (length - 1) + 1)) / gain**2
    transport = constant * spread ** (1 / (4 * order))
    theorem = gain * lag * tau ** max(lag - 1, 0) * transport + tau**lag * root
    return ExtrapolationBound(sharp, theorem)


def _sharp_factor(points: list[Fraction], lag: int, radius: float) -> float:
    """max ‖h + γP‖₂ over the extremes γ of the quotient."""
    monic = [Fraction(1)]
    for point in points:
        monic = times(monic, times([-point, Fraction(1)], [-point, Fraction(1)]))
    quotient, remainder = divided(lag, monic)
    p = np.array([float(c) for c in monic])
    h = np.zeros_like(p)
    h[: len(remainder)] = [float(c) for c in remainder]
    return max(float(np.linalg.norm(h + g * p)) for g in _extremes(quotient, radius))


def _extremes(polynomial: list[Fraction], radius: float) -> tuple[float, float]:
    """The least and the largest value on [−radius, radius]."""
    from numpy.polynomial import chebyshev

    scaled = [float(c * Fraction(radius) ** j) for j, c in enumerate(polynomial)]
    series = chebyshev.poly2cheb(scaled)
    turns = chebyshev.chebroots(chebyshev.chebder(series)) if len(series) > 2 else np.zeros(0)
    # A double root may come out as a pair beside the axis: its real part is as good a candidate.
    candidates = np.concatenate([[-1.0, 1.0], np.clip(np.real(turns), -1.0, 1.0)])
    values = chebyshev.chebval(candidates, series)
    return float(values.min()), float(values.max())


def _check(
    nodes: list[Fraction],
    weights: list[Fraction],
    loss: np.ndarray,
    lag: int,
    length: int,
    radius: float | int,
    constant: float | int,
) -> None:
    if not nodes or len(nodes) != len(weights):
        raise ValueError(
            f"nodes and weights: received {len(nodes)} and {len(weights)}, they must be of one "
            "length, at least 1"
        )
    if len(set(nodes)) < len(nodes) or max(abs(node) for node in nodes) > 1:
        raise ValueError(
            f"nodes: received {[float(node) for node in nodes]}, they must be distinct and in [-1, "
            "1] (a stable teacher); merge equal ones"
        )
    if min(weights) <= 0:
        raise ValueError(
            f"weights: received {[float(w) for w in weights]}, they must be positive (a balanced "
            "teacher)"
        )
    if not np.all(loss >= 0):
        raise ValueError(f"loss: received {loss}, it must not be negative")
    least = 2 * len(nodes) + 1
    for name, given, low in (("lag", lag, 0), ("length", length, least)):
        integer = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not integer or given < low:
            remedy = ": fewer lags do not determine the teacher" if name == "length" else ""
            raise ValueError(
                f"{name}: received {given!r}, it must be an integer, at least {low}{remedy}"
            )
    if not max(abs(node) for node in nodes) <= radius < np.inf:
        raise ValueError(f"radius: received {radius!r}, it must be finite and reach the nodes")
    if not 0 < constant < np.inf:
        raise ValueError(f"constant: received {constant!r}, it must be positive and finite")
