"""State spaces: what the first k lags of a balanced system leave open about later ones."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.draw import Axis, Band, Figure, Line, Panel, Points, VerticalRule
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider
from tacit.theory.lowdim import MomentRange, moment_range, threshold

LAGS = 21
_LENGTHS = range(1, 13)


def spectrum(order: int) -> NDArray[np.float64]:
    """The teacher's eigenvalues, evenly from 0.95 down to −0.6."""
    return np.linspace(0.95, -0.6, order)


def teacher(order: int, lags: int = LAGS) -> NDArray[np.float64]:
    """Its impulse response: equal weights that sum to one."""
    return (spectrum(order)[None] ** np.arange(lags)[:, None]).mean(1)


@lru_cache(maxsize=4096)
def _range(order: int, length: int, lag: int) -> MomentRange:
    return moment_range(teacher(order)[:length], lag)


def answer(*, order: int, length: int, lag: int) -> Answer:
    """The range of every later lag, and that of one over the training length."""
    response, lags = teacher(order), np.arange(LAGS)
    later = lags[max(length - 1, 0) :]
    ranges = [_range(order, length, int(one)) for one in later]
    low, high = np.array(ranges).T
    here = _range(order, length, lag)
    open_lags = Panel(
        "What all students that fit k lags can do",
        Axis("lag j"),
        Axis("response"),
        [
            Band(later, low, high, label="possible", colour=1),
            VerticalRule(length - 0.5, label="k lags are seen"),
            Line(lags, response, label="the teacher", marker="o"),
        ],
    )
    widths = [_range(order, one, lag).width for one in _LENGTHS]
    over = Panel(
        f"How much lag {lag} is left open",
        Axis("training length k"),
        Axis("width of its range", limits=(0, None)),
        [
            VerticalRule(2 * order + 0.5, label="k = 2d̂"),
            Line(np.array(_LENGTHS), widths, marker="o", colour=1),
            Points([length], [here.width], label="here", colour="ink", size=9),
        ],
    )
    point = threshold(order)
    left = (
        f"Nothing is left open: from k = {point} on every student that fits is the teacher."
        if here.width == 0
        else f"Lag {lag} can be anything from {number(here.low, 4)} to {number(here.high, 4)} "
        f"(the teacher: {number(response[lag], 4)}). From k = 2d̂ + 1 = {point} on there is no "
        "choice."
    )
    seen = "lag" if length == 1 else "lags"
    words = f"k = {length} {seen} of a teacher of order {order}. {left}"
    call = f"tacit.theory.lowdim.moment_range(teacher[:{length}], {lag})"
    return Answer(words, call, Figure("", [open_lags, over]))


LOWDIM = Section(
    "lowdim",
    "What k lags say about the next ones",
    "A balanced linear system's response is a sequence of moments. A student that fits the first k "
    "of a teacher's lags may do different things later, but not anything.",
    (
        Slider("order", "order d̂ of the teacher", (1, 2, 3, 4), 3),
        Slider("length", "training length k", tuple(_LENGTHS), 5),
        Slider("lag", "lag asked about", tuple(range(12, LAGS)), 18),
    ),
    answer,
)
