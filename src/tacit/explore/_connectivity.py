"""A linear rate network: the exact course of learning, for any start and target."""

from functools import lru_cache

import numpy as np

from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel, VerticalRule
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider, even
from tacit.theory.connectivity import LearningCurve, large_n

_NODES = 80  # of the spectrum: twice as many change no digit that is shown
_TIMES = np.append(np.linspace(0, 1.45, 24), np.linspace(1.6, 2.5, 6))  # over that of learning


@lru_cache(maxsize=64)
def _curve(g: float) -> LearningCurve:
    """One path serves all targets."""
    return large_n(g, targets=1.0, nodes=_NODES)


def answer(*, g: float, target: float) -> Answer:
    """Output and change of the connectivity over the time of learning."""
    curve = _curve(g)
    learnt = curve.learning_time(target)
    times = learnt * _TIMES
    values = curve.singular_values(np.append(times, learnt), target=target)
    at = VerticalRule(learnt, label="loss at 5 %")
    output = Panel(
        "The output",
        Axis("time τ (learning rate × epochs)"),
        Axis("output z"),
        [
            HorizontalRule(target, label="target ẑ"),
            at,
            Line(times, curve.output(times, target=target), label="output z"),
        ],
    )
    change = Panel(
        "The change of the connectivity",
        Axis("time τ (learning rate × epochs)"),
        Axis("singular values of ΔW", limits=(0, None)),
        [
            at,
            Line(times, values[:-1, 0], label="first", colour=1),
            Line(times, values[:-1, 1], label="second", colour=2),
        ],
    )
    first, second = values[-1]
    radius = curve.radius_of_convergence(target)
    words = (
        f"The loss is at 5 % at τ = {number(learnt, 4)}. The change then has the singular values "
        f"{number(first, 4)} and {number(second)}: it is of rank one but for "
        f"{number(100 * second / first, 2)} %. The power series in τ converges up to "
        f"{number(radius)} at most."
    )
    call = (
        f"tacit.theory.connectivity.large_n({g:g}, targets={target:g}).output(times)"
        "  # and .singular_values(times)"
    )
    return Answer(words, call, Figure("", [output, change]))


_TARGETS = even(0.25, 8, 0.25)

CONNECTIVITY = Section(
    "connectivity",
    "Learning in a linear rate network",
    "A large network with random connectivity of strength g learns to hold the output ẑ. Gradient "
    "flow moves its connectivity by ΔW. Exact, in the limit of many units.",
    (
        Slider("g", "strength g of the start", even(0, 0.95, 0.05), 0.5),
        Slider("target", "target ẑ", (*(-value for value in reversed(_TARGETS)), *_TARGETS), 2.0),
    ),
    answer,
)
