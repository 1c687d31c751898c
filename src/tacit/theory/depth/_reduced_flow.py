"""The exact reduced dynamics behind Theorem 3.3: three eigenvalues instead of L matrices."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tacit._doors import door, flag, number, numbers, whole
from tacit.theory.depth._family import Family, Number, Numbers

_TOLERANCE = 1e-13  # of the integration, in the logarithms of the eigenvalues
_NEAR_REST = 1e-9  # of s w*: once γ is below, the flow is linear to rounding


class Eigenvalues(NamedTuple):
    """λ₁ (once), λ₂ (n − 1 times) and λ₃ (n(s − 1) times) of every factor, at the given times."""

    first: Number
    second: Number
    third: Number


@door(
    answer="any",
    times=numbers(infinite=True),
    depth=whole(2),
    scale=number(above=0),
    ratio=number(1, infinite=True),
    blocks=whole(2),
    block_size=whole(1),
    target=number(above=0),
)
def reduced_flow(
    times: Numbers,
    *,
    depth: int,
    scale: float | int,
    ratio: float | int,
    blocks: int,
    block_size: int = 1,
    target: float | int = 1.0,
) -> Eigenvalues:
    """The eigenvalues of every factor under gradient flow from the start (7) (depth, Lemma D.6).

        λ_i' = −γ λ_i^{L−1}  (i = 1, 2),    γ = (λ₁^L + (n − 1) λ₂^L)/n − s w*,
        λ₃ = ((2L − 2) t + λ₃(0)^{2−2L})^{−1/(2L−2)},

    with the times of the loss ½ Σ_Ω (…)². The singular values of the product are λ^L. Integrated
    are log λ₁ and δ = log(λ₁/λ₂) in the time τ with dτ = λ₁^{L−2} dt, in which leaving a start of
    scale 1e-50 takes as few steps as one of 1e-5, and δ keeps its digits when m is 1e16. (Times
    within a relative 1e-16 of the escape stay indistinguishable: t itself is rounded.)

    **Arguments:**

    - `times`: t ≥ 0, of any shape and order; ∞ is the limit.
    - the rest as for `limit_singular_values`, numbers only.
    """
    family = Family.checked(depth, scale, ratio, blocks, block_size, target)
    if family.scale.ndim:
        raise ValueError(
            "scale, ratio and target: received arrays, they must be numbers; call once for each of "
            "them"
        )
    t = np.asarray(times, np.float64)
    if not np.all(t >= 0):
        raise ValueError(f"times: received {times!r}, they must not be negative")
    powers = family.depth - 2
    first, gap = _trajectory(family)(t)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        start = family.log_second  # of λ₃ too; −∞ for m = 1
        both = 2 * powers + 2
        drift = np.logaddexp(0, np.log(both) + np.log(t) + both * start) / both
        third = np.where(np.isneginf(start), 0, np.exp(start - drift))
        found = Eigenvalues(np.exp(first), np.exp(first - gap), third)
    if not all(np.all(np.isfinite(values)) for values in found):
        raise _beyond(family)
    return found


@door(answer="any", first=numbers(0), second=numbers(0), depth=whole(2), log=flag)
def conserved_quantity(first: Numbers, second: Numbers, *, depth: int, log: bool = False) -> Number:
    """λ₂^{2−L} − λ₁^{2−L} for L ≥ 3, λ₁/λ₂ for L = 2: constant along the flow (Lemma D.7).

    `first` and `second` are λ₁ ≥ λ₂ > 0. The paper writes the difference with the other sign. Its
    size is α^{2−L}, which overflows for deep networks at tiny scales: `log` gives its logarithm. It
    is infinite at λ₂ = 0.
    """
    if isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or depth < 2:
        raise ValueError(f"depth: received {depth!r}, it must be an integer, at least 2")
    l1, l2 = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if not (np.all(l2 >= 0) and np.all(l1 >= l2)):
        raise ValueError(
            f"first and second: received {first!r} and {second!r}, they must satisfy "
            "first ≥ second ≥ 0"
        )
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        gap = np.where(l2 > 0, np.log1p((l1 - l2) / l2), np.inf)
        if depth == 2:
            value = gap
        else:
            value = (2 - depth) * np.log(l2) + np.log(-np.expm1((2 - depth) * gap))
        return value if log else np.exp(value)


def _trajectory(
    family: Family,
) -> Callable[[Float[np.ndarray, "*times"]], tuple[Number, Number]]:
    """The function from times t to log λ₁ and δ = log(λ₁/λ₂)."""
    from scipy.integrate import solve_ivp  # not above: slow to import

    L, n = family.depth, family.blocks
    level = float(family.block_size * family.target)
    start, gap = float(family.log_first), float(family.log_gap)
    # At m = 1, λ₂ is zero and stays so; at m = ∞ it is λ₁ and stays so.
    others = n - 1 if np.isfinite(gap) else 0
    tracked = gap if np.isfinite(gap) else 0.0

    def gamma(state: np.ndarray) -> float:
        return np.exp(L * state[0]) * (1 + others * np.exp(-L * state[1])) / n - level

    def slope(_: float, state: np.ndarray) -> list[float]:
        g = gamma(state)
        # The third is t in units of λ₁(0)^{2−L}: dt = λ₁^{2−L} dτ.
        return [-g, g * np.expm1((2 - L) * state[1]), np.exp((2 - L) * (state[0] - start))]

    def near_rest(_: float, state: np.ndarray) -> float:
        return abs(gamma(state)) - _NEAR_REST * level

    near_rest.terminal = True  # type: ignore[attr-defined]

    # Enough τ for λ₁ to cross from its start to its limit and for many relaxation times.
    horizon = n * (abs(np.log(level * n) / L - start) + 100) / level
    with np.errstate(over="ignore", invalid="ignore"):  # in steps that are then refused
        run = solve_ivp(
            slope,
            (0.0, horizon),
            np.array([start, tracked, 0.0]),
            method="DOP853",
            rtol=_TOLERANCE,
            atol=[_TOLERANCE, _TOLERANCE * min(tracked, 1.0) + 1e-300, _TOLERANCE],
            events=near_rest,
            dense_output=True,
        )
    end = run.y[:, -1]
    if not run.success or abs(gamma(end)) > 2 * _NEAR_REST * level:
        raise _beyond(family)
    # From there on δ moves with log λ₁ along a line, on which γ falls to zero at a constant rate.
    turn = -np.expm1((2 - L) * end[1])
    rate = L * np.exp(L * end[0]) * (1 + others * np.exp(-L * end[1]) * (1 - turn)) / n
    rest = gamma(end) / rate
    pace = np.exp((L - 2) * (end[0] - start))  # dτ/dt there

    def at(t: Float[np.ndarray, "*times"]) -> tuple[Number, Number]:
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            units = np.exp(np.log(t) + (L - 2) * start)
        tau = _inverse(lambda tau: run.sol(tau)[2], units.ravel(), run.t[-1])
        log_first, log_gap, _ = run.sol(tau).reshape(3, *t.shape)
        with np.errstate(over="ignore"):
            after = rest * -np.expm1(-rate * pace * np.maximum(units - end[2], 0))
        log_first, log_gap = log_first - after, log_gap - turn * after
        return log_first, log_gap if np.isfinite(gap) else np.full(t.shape, np.inf)

    return at


def _beyond(family: Family) -> ValueError:
    return ValueError(
        f"scale and target: received {family.scale:g} and {family.target:g}, with which the flow "
        "cannot be followed to its rest in double precision; bring target nearer to 1, and scale "
        "with it as target^(1/depth)"
    )


def _inverse(
    increasing: Callable[[np.ndarray], np.ndarray], values: np.ndarray, end: float
) -> np.ndarray:
    """The points of [0, end] where an increasing function takes these values, or an end."""
    low, high = np.zeros(values.shape), np.full(values.shape, end)
    for _ in range(60):
        middle = (low + high) / 2
        before = increasing(middle) < values
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.where(values > 0, high, 0.0)
