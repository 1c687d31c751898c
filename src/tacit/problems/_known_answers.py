"""Sequences with a known answer, for models trained on windows and used on longer sequences."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, number, real, whole


@door(x=real(3), delay=whole(0))
def delayed_copy(x: ArrayLike, delay: int) -> Float[np.ndarray, "sequences time"]:
    """y_t = x_{t−delay} for x (sequences, time, 1): a filter whose memory is the delay."""
    (values,) = _channels(x, "the value")
    return _earlier(values, delay)


@door(x=real(3, most=1e100), decay=number(0, below=1))
def leaky_average(x: ArrayLike, decay: float | int) -> Float[np.ndarray, "sequences time"]:
    """y_t = tanh s_t, s_t = decay s_{t−1} + √(1 − decay²) x_t: a memory of 1/(1 − decay) steps.

    x is (sequences, time, 1). For white inputs of variance one, s has variance one in the end.
    """
    (values,) = _channels(x, "the value")
    state, found = np.zeros(len(values)), np.empty_like(values)
    for t in range(values.shape[1]):
        state = decay * state + np.sqrt(1 - decay**2) * values[:, t]
        found[:, t] = np.tanh(state)
    return found


@door(x=real(3, most=1e100), lag=whole(1))
def induction(x: ArrayLike, lag: int) -> Float[np.ndarray, "sequences time"]:
    """y_t = m_t m_{t−lag} v_{t−lag+1}: what followed the mark that stood `lag` steps ago.

    x, (sequences, time, 2), has a value v and a mark m, 0 or 1, at each step. Where this step and
    the one `lag` before both have a mark, the answer is the value that came next then, else zero:
    the step of an induction head (Olsson et al. 2022), with the place of the earlier mark known. It
    takes a memory of `lag` steps and a product of what is remembered with what is there.
    """
    values, marks = _channels(x, "a value and a mark")
    if not np.isin(marks, (0, 1)).all():
        raise ValueError("x: received marks other than 0 and 1 in its second channel")
    return marks * _earlier(marks, lag) * _earlier(values, lag - 1)


def _channels(x: ArrayLike, names: str) -> tuple[np.ndarray, ...]:
    """The inputs one by one, (sequences, time) each."""
    inputs = np.asarray(x, np.float64)
    wanted = 2 if " and " in names else 1
    if inputs.shape[2] != wanted:
        raise ValueError(
            f"x: received the shape {inputs.shape}, it must be (sequences, time, {wanted}), with "
            f"{names} at each step"
        )
    return tuple(np.moveaxis(inputs, 2, 0))


def _earlier(values: np.ndarray, steps: int) -> np.ndarray:
    """The values so many steps before, zero where there were none."""
    found = np.zeros_like(values)
    found[:, steps:] = values[:, : max(values.shape[1] - steps, 0)]
    return found
