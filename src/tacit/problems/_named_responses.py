"""Impulse responses that teachers are asked for by name: modes that decay, and waves."""

import numpy as np

from tacit._doors import door, text, whole

# Modes as (weight, radius, angle): the response is Σ weight · radius^j · cos(angle · j).
MODES = {
    "modes": ((0.5, 0.95, 0), (0.25, 0.5, 0), (0.25, 0.8, np.pi)),
    "two": ((0.6, 0.9, 0), (0.4, 0.7, np.pi)),
    "close": ((1 / 3, 0.9, 0), (1 / 3, 0.75, 0), (1 / 3, 0.55, 0)),
    "five": ((0.3, 0.95, 0), (0.15, 0.3, 0), (0.2, 0.85, np.pi), (0.35, 0.85, 1.6)),
}
_WAVES = {"slow": (0.4, 0.2, 0.45), "fast": (0.06, 0.08, 0.18)}  # decay, two periods, in horizons


@door(teacher=text, lags=whole(1))
def mode_response(teacher: str, lags: int) -> np.ndarray:
    """The response of a teacher of few modes, or of four taps, lag by lag.

    `modes` is ½ · 0.95^j + ¼ · 0.5^j + ¼ · (−0.8)^j, of order 3 and with a long memory; `two` and
    `close` are of order 2 and 3, `five` of order 5. `delay` and `average` are filters of four taps:
    1 at lag 3, and ½ at lags 0 to 3. All have about the same size.
    """
    j = np.arange(lags)
    if teacher in MODES:
        return sum((a * r**j * np.cos(angle * j) for a, r, angle in MODES[teacher]), np.zeros(lags))
    if teacher == "delay":
        return (j == 3).astype(float)
    if teacher == "average":
        return np.where(j < 4, 0.5, 0.0)
    known = ", ".join((*MODES, "delay", "average"))
    raise ValueError(f"teacher: received {teacher!r}, it must be one of {known}")


@door(teacher=text, horizon=whole(1), width=whole(1))
def wave_response(teacher: str, horizon: int, width: int) -> np.ndarray:
    """What a teacher of this width is trained to answer to an impulse, over `horizon` steps.

    Slow and fast: ½ e^{−t/τ} (cos 2πt/P + cos 2πt/Q), with τ = 0.4, P = 0.2, Q = 0.45 horizons, or
    0.06, 0.08 and 0.18 of one. Delay: 1 at step width − 1, zero else, as lowdim's delay teacher of
    order width.
    """
    t = np.arange(horizon, dtype=float)
    if teacher == "delay":
        return (t == width - 1).astype(float)
    if teacher not in _WAVES:
        known = ", ".join((*_WAVES, "delay"))
        raise ValueError(f"teacher: received {teacher!r}, it must be one of {known}")
    decay, short, long = _WAVES[teacher]
    waves = np.cos(2 * np.pi * t / (short * horizon)) + np.cos(2 * np.pi * t / (long * horizon))
    return 0.5 * np.exp(-t / (decay * horizon)) * waves
