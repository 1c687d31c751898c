"""When a lane is done, and how it ended."""

import dataclasses
import enum
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from tacit._doors import MOST, number, whole


class Outcome(enum.IntEnum):
    """The state of a lane: still running, or one of the four ends that are recorded and counted."""

    running = 0
    converged = 1  # reached the loss or gradient that was asked for
    stopped = 2  # used up its budget of steps
    diverged = 3  # the loss became infinite, NaN or larger than allowed
    stalled = 4  # no progress within its patience, or the method can move no further


def outcome_names(codes: np.ndarray) -> np.ndarray:
    """The words for an array of outcome codes, as a fixed-width string array."""
    words = np.array([outcome.name for outcome in Outcome])
    return words[np.asarray(codes)]


@dataclasses.dataclass(frozen=True)
class Stop:
    """The budget of a descent and the conditions that end a lane before it.

    Arguments:
    - `steps`: the budget. A lane that uses it up ends as `stopped`.
    - `loss`: at or below it a lane is `converged`; a number or one for each lane. None is set by
      default: a loss may be negative, and a loss of zero goes on doing nothing.
    - `gradient`: at or below this Euclidean norm of the gradient a lane is `converged`.
    - `diverged`: above this loss (or at NaN) a lane is `diverged`.
    - `patience`: after this many steps in which the best loss did not fall by the fraction
      `progress` of its size a lane is `stalled`. None: never.
    """

    steps: int
    loss: ArrayLike = -np.inf
    gradient: float = 0.0
    diverged: float = np.inf
    patience: int | None = None
    progress: float = 1e-3

    def __post_init__(self) -> None:
        if isinstance(self.loss, bool | int):
            number(-1e308, 1e308)("loss", self.loss)
        for name in ("steps", "patience"):
            if isinstance(getattr(self, name), int) and getattr(self, name) > MOST:
                whole()(name, getattr(self, name))
        if not (_is_whole(self.steps) and self.steps >= 0):
            raise ValueError(
                f"steps: received {self.steps!r}, it must be a whole number of at least 0; write "
                "for instance Stop(1000)"
            )
        try:
            goals = np.asarray(self.loss, dtype=float)
        except (TypeError, ValueError):
            goals = np.array(np.nan)
        if np.isnan(goals).any():
            raise ValueError(
                f"loss: received {self.loss!r}, it must be a number, or one for each lane; leave "
                "it out to spend the whole budget"
            )
        if not (_is_number(self.gradient) and self.gradient >= 0):
            raise ValueError(
                f"gradient: received {self.gradient!r}, it must be a number of at least 0; leave "
                "it out for 0, which is never met"
            )
        if not (_is_number(self.diverged) and self.diverged > 0):
            raise ValueError(
                f"diverged: received {self.diverged!r}, it must be a loss above 0; leave it out "
                "for no limit"
            )
        if self.patience is not None and not (_is_whole(self.patience) and self.patience >= 1):
            raise ValueError(
                f"patience: received {self.patience!r}, it must be a whole number of at least 1; "
                "None waits for ever"
            )
        if not (_is_number(self.progress) and 0 <= self.progress < 1):
            raise ValueError(
                f"progress: received {self.progress!r}, it must lie in [0, 1); write for instance "
                "progress=1e-3"
            )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | np.number) or (
        isinstance(value, jax.Array | np.ndarray) and value.ndim == 0
    )


def _is_whole(value: Any) -> bool:
    return _is_number(value) and float(value).is_integer()
