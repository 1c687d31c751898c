"""How a lane's descent ended: four words, used everywhere."""

import enum

import numpy as np


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
