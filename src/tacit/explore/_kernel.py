"""Wide linear RNNs: which lags they learn, how fast, and what is learnt of a delay."""

import numpy as np

from tacit.draw import Axis, Figure, Line, Panel, Points, VerticalRule
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider, even, powers
from tacit.theory.kernel import heaviest_lag, lag_weights, learning_curve

LENGTH = 40
_COUNTS = np.unique(np.geomspace(1, 1e5, 60).astype(int))


def answer(*, nu_w: float, delay: int, steps: int) -> Answer:
    """The memory profile, and gradient descent on a delay in closed form."""
    weights = lag_weights(LENGTH, nu_w=nu_w)
    heaviest = heaviest_lag(nu_w=nu_w)
    x = np.random.default_rng(0).standard_normal((6, LENGTH, 1))
    y = np.zeros_like(x)
    y[:, delay:] = x[:, : LENGTH - delay]
    largest = learning_curve(weights, x, y, rate=1.0, steps=0).largest_rate
    counts = np.append(_COUNTS, steps)
    curve = learning_curve(weights, x, y, rate=largest / 2, steps=counts)
    left = np.sqrt(((curve.outputs - y) ** 2).sum((1, 2, 3)) / (y**2).sum())
    lags = np.arange(LENGTH)
    at = VerticalRule(delay, label="the delay")
    memory = Panel(
        "The memory profile: how fast each lag is learnt",
        Axis("lag j"),
        Axis("ρⱼ", limits=(0, None)),
        [at, Line(lags, weights, marker="o")],
    )
    learning = Panel(
        "The error on the way",
        Axis("steps of gradient descent", scale="log"),
        Axis("relative error", scale="log"),
        [
            Line(_COUNTS, left[:-1]),
            Points([steps], left[-1:], label="here", colour="ink", size=9),
        ],
    )
    learnt = Panel(
        "The impulse response that is learnt",
        Axis("lag j"),
        Axis("response"),
        [
            at,
            Line(lags, curve.response[-1, :, 0, 0], marker="o", colour=1),
        ],
    )
    share = weights[delay] / weights.max()
    words = (
        f"Lag {heaviest} is learnt fastest; a delay of {delay} has {number(100 * share)} % of its "
        f"weight. After {steps:,} steps at half the largest stable rate "
        f"{number(100 * left[-1])} % of the error is left."
    )
    call = (
        f"rho = tacit.theory.kernel.lag_weights({LENGTH}, nu_w={nu_w:g}); "
        f"tacit.theory.kernel.learning_curve(rho, x, y, rate={largest / 2:.3g}, steps={steps})"
    )
    return Answer(words, call, Figure("", [memory, learning, learnt]))


KERNEL = Section(
    "kernel",
    "A wide linear RNN has a short memory",
    "At infinite width a linear RNN learns as a convolution does, each lag at its own rate ρⱼ. The "
    "rates are set by ν_W, the variance of the recurrent weights at the start. The task is to "
    f"repeat the input after a delay, in six random sequences of {LENGTH} steps.",
    (
        Slider("nu_w", "ν_W of the start", even(0.02, 0.98, 0.02), 0.6),
        Slider("delay", "delay", tuple(range(31)), 10),
        Slider("steps", "steps", tuple(sorted({int(v) for v in powers(1, 1e5, 51)})), 1000),
    ),
    answer,
    panels=3,
)
