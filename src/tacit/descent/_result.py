"""What a descent returns: the models, how each lane ended, and what was seen on the way."""

import collections
import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Where the time of a descent went."""

    seconds: float
    segments: int
    programs: int  # distinct compiled shapes (bucket sizes)
    lane_steps: int  # steps of lanes that were still running


@dataclasses.dataclass(frozen=True)
class DescentResult:
    """The end of a descent.

    `model` is the last iterate and `best` the one with the lowest loss: under Adam they differ, and
    either may extrapolate better. With lanes every array has a leading lane axis and the models
    are `Lanes`; for one model the arrays are scalars.
    """

    model: Any
    best: Any
    loss: np.ndarray  # of the last iterate
    best_loss: np.ndarray
    best_step: np.ndarray
    steps: np.ndarray  # updates made
    outcome: np.ndarray  # words: converged, stopped, diverged, stalled
    record_steps: np.ndarray
    records: dict[str, np.ndarray]  # name -> (lane, record, …)
    report: dict[str, np.ndarray]  # what the method tells of each lane: a flow's time and accuracy
    statistics: Statistics

    @property
    def outcomes(self) -> dict[str, int]:
        """How many lanes ended in each way."""
        return dict(collections.Counter(np.atleast_1d(self.outcome).tolist()))
