"""What the figures that sweep the training length store, and what their configs must satisfy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.experiments._base import OUTCOME
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.store import HORIZON, ITERATE, LAG, Variable

ITERATES = ("last", "best")


def length_variables() -> dict[str, Variable]:
    """Responses are kept whole: errors at other horizons need no new training."""
    return {
        "outcome": OUTCOME,
        "steps_taken": Variable((), "1", "steps of the descent", "int64"),
        "target": Variable((LAG,), "1", "teacher's impulse response"),
        "response": Variable((ITERATE, LAG), "1", "student's impulse response"),
        "train_loss": Variable((ITERATE,), "1", "loss over the first k lags"),
        "zero_loss": Variable((), "1", "loss of the zero response over the first k lags"),
        "error": Variable((ITERATE, HORIZON), "1", "extrapolation error, ℓ∞ on the tail"),
        "relative_error": Variable(
            (ITERATE, HORIZON), "1", "extrapolation error relative to the zero response"
        ),
    }


def length_coordinates(horizons: Sequence[int]) -> dict[str, Sequence[Any] | np.ndarray]:
    """Iterates, lags and horizons."""
    return {ITERATE: ITERATES, LAG: np.arange(max(horizons)), HORIZON: tuple(horizons)}


def gate_parameter(default: float) -> float:
    """How far below the zero response's loss a run must come."""
    gate: float = parameter(
        default,
        "runs with a larger loss relative to the zero response do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )
    return gate


def horizons_parameter(default: tuple[int, ...]) -> tuple[int, ...]:
    """Where the tails end."""
    horizons: tuple[int, ...] = parameter(
        default,
        "errors are taken over the lags k … horizon − 1; the first is drawn",
        low=2,
        high=500,
    )
    return horizons


def check_horizons(horizons: Sequence[int], lengths: Sequence[int]) -> None:
    """Every horizon must leave a lag to extrapolate to."""
    if min(horizons) <= max(lengths):
        raise UsageError(
            f"horizons: received {list(horizons)}, each must exceed the largest length, "
            f"{max(lengths)}"
        )
