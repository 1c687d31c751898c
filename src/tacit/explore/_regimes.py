"""The regime map: error beyond k of an infinitely wide student, and its response at a point."""

import time
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.draw import Axis, Figure, Heatmap, Line, Panel, Points, VerticalRule
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider, even, powers
from tacit.measures import crossing
from tacit.theory.regimes import wide_flow

TAIL = 24  # lags after k that the error is over
LENGTHS = tuple(range(3, 13))
SCALES = powers(0.01, 10, 13)
_SECONDS = 0.06  # that an answer spends on cells of the map
_LEVEL = 0.5


def teacher(lags: int) -> NDArray[np.float64]:
    """Three modes, the teacher of the experiment regimes/map."""
    j = np.arange(lags)
    return 0.5 * 0.95**j + 0.25 * 0.5**j + 0.25 * (-0.8) ** j


@lru_cache(maxsize=4096)
def student(length: int, gamma0: float, nu_w: float) -> NDArray[np.float64]:
    """The response of an infinitely wide student after training on `length` lags."""
    return wide_flow(teacher(length + TAIL), gamma0, length=length, nu_w=nu_w).response


@lru_cache(maxsize=16)
def _map(nu_w: float) -> NDArray[np.float64]:
    """The errors that are known, (length, scale); answers fill it in."""
    return np.full((len(LENGTHS), len(SCALES)), np.nan)


def _error(response: NDArray[np.float64], length: int) -> float:
    wanted = teacher(length + TAIL)[length:]
    return float(np.linalg.norm(response[length:] - wanted) / np.linalg.norm(wanted))


def _fill(nu_w: float, near: int) -> bool:
    """Compute cells of the map for a while, rows near a length first; whether some are left."""
    errors, began = _map(nu_w), time.monotonic()
    for row in sorted(range(len(LENGTHS)), key=lambda row: abs(LENGTHS[row] - near)):
        for column in np.flatnonzero(np.isnan(errors[row])):
            response = student(LENGTHS[row], SCALES[column], nu_w)
            errors[row, column] = _error(response, LENGTHS[row])
            if time.monotonic() - began > _SECONDS:
                return bool(np.isnan(errors).any())
    return False


def answer(*, length: int, gamma0: float, nu_w: float) -> Answer:
    """The map as far as it is known, and the response at a point of it."""
    response = student(length, gamma0, nu_w)
    more, errors = _fill(nu_w, length), _map(nu_w)
    whole = ~np.isnan(errors).any(1)
    border = crossing(
        np.array(SCALES), errors[whole], _LEVEL, falling=True, log_x=True, never=np.nan
    )
    plane = Panel(
        "The error beyond k; drag the point",
        Axis("γ₀", scale="log"),
        Axis("training length k"),
        [
            Heatmap(SCALES, LENGTHS, errors, label="relative error beyond k", limits=(0, 1)),
            Line(border, np.array(LENGTHS)[whole], label="error ½", colour="ink", style="dashed"),
            Points([gamma0], [length], label="here", colour=1, size=13),
        ],
    )
    lags = np.arange(length + TAIL)
    learnt = Panel(
        "The response there",
        Axis("lag j"),
        Axis("response"),
        [
            VerticalRule(length - 0.5, label="k lags are trained"),
            Line(lags, teacher(len(lags)), label="the teacher", colour=0),
            Line(lags, response, label="the student", colour=1, marker="o"),
        ],
    )
    error = _error(response, length)
    words = (
        f"Trained on k = {length} lags at γ₀ = {number(gamma0)}, an infinitely wide student has a "
        f"relative error of {number(error)} on the {TAIL} lags after k: it "
        f"{'extrapolates' if error < _LEVEL else 'does not extrapolate'}."
    )
    call = f"tacit.theory.regimes.wide_error(teacher, {gamma0:g}, length={length}, nu_w={nu_w:g})"
    return Answer(words, call, Figure("", [plane, learnt]), more)


REGIMES = Section(
    "regimes",
    "The regime map",
    "A wide linear RNN learns a filter of k taps (small γ₀), or it finds the teacher's state space "
    "and continues it (large γ₀). The teacher has three modes, 2d̂ = 6. The map fills in while you "
    "look.",
    (
        Slider("gamma0", "scale γ₀ = γ/√n", powers(0.01, 10, 37), 1.0),
        Slider("length", "training length k", LENGTHS, 8),
        Slider("nu_w", "ν_W of the start", even(0.3, 0.8, 0.1), 0.5),
    ),
    answer,
    drag=("gamma0", "length"),
)
