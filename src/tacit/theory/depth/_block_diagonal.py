"""The limits of Theorem 3.3: block-diagonal observations, every factor started as in (7)."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tacit._doors import door, flag, numbers, whole
from tacit.theory.depth._family import Family, Number, Numbers


class LimitSpectrum(NamedTuple):
    """σ₁, and σ₂ = … = σ_n; the other singular values of the limit are zero."""

    first: Number
    others: Number


@door(
    answer="any",
    depth=whole(2),
    scale=numbers(above=0),
    ratio=numbers(1, infinite=True),
    blocks=whole(2),
    block_size=whole(1),
    target=numbers(above=0),
    log=flag,
)
def limit_singular_values(
    *,
    depth: int,
    scale: Numbers,
    ratio: Numbers,
    blocks: int,
    block_size: int = 1,
    target: Numbers = 1.0,
    log: bool = False,
) -> LimitSpectrum:
    """The singular values of W_L ⋯ W_1 at the end of gradient flow (depth, Theorem 3.3).

    With u = log(σ₁/σ_i) ≥ 0, zero loss means σ₁ = w*d/(1 + (n − 1)e^{−u}), and

    - L = 2: u = 2 log(1 + d/(m − 1)): the ratio λ₁/λ₂ of the factors is conserved;
    - L ≥ 3: σ_i^{−p} − σ₁^{−p} = K = λ₂^{2−L} − λ₁^{2−L} is, with p = (L − 2)/L. In logarithms
      p log(e^u + n − 1) + log(1 − e^{−pu}) = log K + p log(w*d), whose left side increases in u.

    (The printed (8) has σ₁ alone, which rounds to w*d while σ_i still has all its digits.)

    **Arguments:**

    - `depth`: L ≥ 2.
    - `scale`, `ratio`: α > 0 and m ∈ [1, ∞] of the start (7): α on the diagonal, α/m elsewhere.
    - `blocks`, `block_size`: n ≥ 2 diagonal blocks of size s are observed, d = ns.
    - `target`: w* > 0, the value of all observed entries.
    - `log`: give log σ instead, which cannot underflow.

    `scale`, `ratio` and `target` may be arrays that broadcast.
    """
    family = Family.checked(depth, scale, ratio, blocks, block_size, target)
    u = _log_ratio(family)
    log_total = np.log(family.target) + np.log(family.size)
    log_first = log_total - np.log1p((family.blocks - 1) * np.exp(-u))
    log_others = log_first - u
    if log:
        return LimitSpectrum(log_first, log_others)
    return LimitSpectrum(np.exp(log_first), np.exp(log_others))


@door(
    answer="any",
    depth=whole(2),
    scale=numbers(above=0),
    ratio=numbers(1, infinite=True),
    blocks=whole(2),
    block_size=whole(1),
    target=numbers(above=0),
    log=flag,
)
def escape_time(
    *,
    depth: int,
    scale: Numbers,
    ratio: Numbers,
    blocks: int,
    block_size: int = 1,
    target: Numbers = 1.0,
    log: bool = False,
) -> Number:
    """How long gradient flow stays near a small start, to leading order as α → 0.

    While the product is small, λ₁' = s w* λ₁^{L−1} (Lemma D.6), which takes λ₁ from its start to
    its limit in

        T = λ₁(0)^{2−L} / ((L − 2) s w*)  for L ≥ 3,    T = log(λ₁(∞)/λ₁(0)) / (s w*)  for L = 2.

    Arguments as for `limit_singular_values`. T overflows for deep networks at tiny scales: `log`
    gives log T.
    """
    family = Family.checked(depth, scale, ratio, blocks, block_size, target)
    log_rate = np.log(family.block_size) + np.log(family.target)
    if family.depth > 2:
        log_time = (2 - family.depth) * family.log_first - np.log(family.depth - 2) - log_rate
    else:
        log_limit = np.log(family.target) + np.log(family.size)
        log_limit = (log_limit - np.log1p((family.blocks - 1) * np.exp(-_log_ratio(family)))) / 2
        with np.errstate(divide="ignore"):
            log_time = np.log(np.maximum(log_limit - family.log_first, 0)) - log_rate
    return log_time if log else np.exp(log_time)


def _log_ratio(family: Family) -> Number:
    """u = log(σ₁/σ_i) of the limit: 0 for m = ∞, ∞ for m = 1."""
    if family.depth == 2:
        return 2 * family.log_gap
    u = np.where(family.ratio == 1, np.inf, 0.0)
    inside = (family.ratio > 1) & (family.ratio < np.inf)
    if np.any(inside):
        powers = family.depth - 2
        p = powers / family.depth
        with np.errstate(invalid="ignore", divide="ignore"):  # at the ends, which are known
            log_k = -powers * family.log_second + np.log(-np.expm1(-powers * family.log_gap))
        right = np.asarray(log_k + p * (np.log(family.target) + np.log(family.size)))
        u[inside] = _solve(right[inside], p, family.blocks)
    return u


def _solve(right: Float[np.ndarray, " points"], p: float, n: int) -> Float[np.ndarray, " points"]:
    """The u > 0 with p log(e^u + n − 1) + log(1 − e^{−pu}) = `right`.

    By Newton's method in v = log u, in which the left side is close to a line for small u, kept
    inside a bracket that shrinks: v halves it where Newton would leave.
    """
    # Both ends from bounds on the left side, for u ≤ 1 and for pu ≥ 1.
    low = np.minimum(0, right - p - p * np.log(n) - np.log(p))
    high = np.log(np.maximum(1 / p, (right - np.log(-np.expm1(-1))) / p))
    v = (low + high) / 2
    for _ in range(200):
        u = np.exp(v)
        tail = (n - 1) * np.exp(-u)
        error = p * (u + np.log1p(tail)) + np.log(-np.expm1(-p * u)) - right
        low, high = np.where(error < 0, v, low), np.where(error > 0, v, high)
        slope = u * (p / (1 + tail) + p * np.exp(-p * u) / -np.expm1(-p * u))
        step = v - error / slope
        following = np.where((step > low) & (step < high), step, (low + high) / 2)
        settled = np.abs(following - v) <= 4e-16 * np.maximum(np.abs(v), 1)
        v = following
        if np.all(settled | (error == 0)):
            break
    return np.exp(v)
