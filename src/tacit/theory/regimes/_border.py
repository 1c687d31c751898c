"""The border between the kernel regime and the rich one: where wide students extrapolate."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from tacit._doors import ANY, door, number, real
from tacit.theory.regimes._kernel_corner import Number, checked_target, threshold
from tacit.theory.regimes._wide_flow import wide_flow


@door(
    target=real(),
    gamma0=number(-1e9, 1e9),
    length=ANY,
    nu_w=number(),
    goal=number(above=0),
)
def wide_error(
    target: ArrayLike, gamma0: Number, *, length: int, nu_w: Number, goal: float = 2e-3
) -> float:
    """‖L − L*‖/‖L*‖ over the lags after k at the end of `wide_flow`: 1 for γ₀ → 0.

    **Arguments:** as for `wide_flow`; the error is over all lags of `target` from `length` on.
    """
    wanted = checked_target(target, length)
    found = wide_flow(wanted, gamma0, length=length, nu_w=nu_w, goal=goal).response
    size = np.linalg.norm(wanted[length:])
    if not size > 0:
        raise ValueError(
            f"target: received nothing but zeros from lag {length} on, there is no error relative "
            "to them; give a longer response or a smaller length"
        )
    return float(np.linalg.norm((found - wanted)[length:]) / size)


@door(
    answer="any",
    target=real(1, most=1e12),
    length=ANY,
    nu_w=number(1e-9, 1e9),
    level=number(above=0),
    goal=number(above=0),
    largest=number(above=0),
)
def extrapolation_scale(
    target: ArrayLike,
    *,
    length: int,
    nu_w: Number,
    level: Number = 0.5,
    goal: float = 2e-3,
    largest: float = 30.0,
) -> float:
    """γ₀*, at which the error beyond k of an infinitely wide student passes `level`.

    χ = γ₀/γ₀* is the distance from there. γ₀* depends on teacher, length and ν_W, on how many lags
    after k are judged (those of `target`) and on the level, and not on a width: it is the middle of
    a crossover: from an error of ¾ to one of ¼ γ₀ grows 5- to 50-fold, by the setting. It is found
    by `wide_flow`, without a network or a seed, to a few per cent.
    ∞ if the error is above the level at all γ₀ up to `largest`.

    **Arguments:**

    - `level`: the error, between 0 and 1.
    - the rest as for `wide_error`.
    """
    if not 0 < level < 1:
        raise ValueError(f"level: received {level!r}, it must lie between 0 and 1")

    def above(log: float) -> float:
        error = wide_error(target, np.exp(log), length=length, nu_w=nu_w, goal=goal)
        return error - level

    low = np.log(min(threshold(target, length=length, nu_w=nu_w), largest))
    while above(low) <= 0:
        low -= np.log(2)
    high = low
    while (at_high := above(high)) > 0:
        if high >= np.log(largest):
            return np.inf
        low, high = high, min(high + np.log(2), np.log(largest))
    return float(np.exp(brentq(above, low, high, xtol=0.01))) if at_high else float(np.exp(high))
