"""How fast two nearby states of a rate network part: the largest Lyapunov exponent."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import SEEDS, door, number, real, whole

_MOST_STEPS = 10_000_000


@door(
    answer="any",
    W=real(2),
    dt=number(above=0, high=1),
    time=number(above=0),
    warm_up=number(0),
    seed=whole(0, SEEDS),
)
def largest_lyapunov_exponent(
    W: ArrayLike, *, dt: float = 0.5, time: float = 200.0, warm_up: float = 100.0, seed: int = 0
) -> float:
    """The largest Lyapunov exponent of ẋ = −x + W tanh(x), in Euler steps, without input.

    A small difference v between two states grows as exp(λt). It follows the linearised step

        v ← (1 − dt) v + dt W (φ′(x) ∘ v),    φ′(x) = 1 − tanh²(x),

    and λ is the mean of ln ‖v‖ per unit of time. Below zero the network forgets its start; above
    zero it is chaotic, and it is −∞ where the difference vanishes at once. Random connectivity of
    strength g becomes chaotic at g = 1 if N is large.

    **Arguments:**

    - `W`: the connectivity, (N, N).
    - `dt`: the Euler step, in units of the time constant, in (0, 1].
    - `time`, `warm_up`: how long λ is averaged, and how long the state runs before that.
    - `seed`: of the state x ~ N(0, 1) and of the direction v that it starts with.
    """
    matrix = np.asarray(W, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"W: received the shape {matrix.shape}, it must be a square matrix (N, N)")
    if not 0 < dt <= 1:
        raise ValueError(f"dt: received {dt!r}, it must lie in (0, 1]")
    if not time >= dt:
        raise ValueError(f"time: received {time!r}, it must be at least one step, dt = {dt:g}")
    if not warm_up >= 0:
        raise ValueError(f"warm_up: received {warm_up!r}, it must not be negative")
    if not (warm_up + time) / dt <= _MOST_STEPS:
        longest = "time" if time >= warm_up else "warm_up"
        raise ValueError(
            f"{longest}: received {max(time, warm_up):g} for dt = {dt:g}, the steps must not be "
            f"more than {_MOST_STEPS:,}"
        )
    x, v = np.random.default_rng(seed).standard_normal((2, len(matrix)))
    before, after = round(warm_up / dt), max(1, round(time / dt))
    v, growth = v / np.linalg.norm(v), 0.0
    for step in range(before + after):
        rates = np.tanh(x)
        pushed = np.stack([rates, (1 - rates**2) * v])
        with np.errstate(over="ignore", invalid="ignore"):
            x, v = (1 - dt) * np.stack([x, v]) + dt * pushed @ matrix.T
        size = np.linalg.norm(v)
        if not np.isfinite(size):
            raise ValueError("W: received entries so large that the difference overflows")
        if not size > 0:  # forgotten at once, such as by W = 0 with dt = 1
            return -np.inf
        v = v / size
        growth += np.log(size) if step >= before else 0.0
    return float(growth / (after * dt))
