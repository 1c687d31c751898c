"""What the figures of regimes share: the parameters of a run, the teachers, what is stored."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.experiments._base import OUTCOME
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import LAG, Variable

ORDER = 3  # d̂, of the teacher with three modes
LONGEST = 14  # lags that all runs compute, whatever they train on: they share one program
LEVEL = 0.5  # a student with less relative error than this is said to extrapolate
KERNEL, RICH = 0.3, 1.3  # κ between which the error passes the level, in nine settings of a trial

TEACHERS = {"modes": "three modes", "delay": "a delay of 3", "average": "an average over 4 lags"}


def teacher_response(teacher: str, lags: int) -> np.ndarray:
    """The impulse response L* of a teacher.

    `modes` is ½ · 0.95^j + ¼ · 0.5^j + ¼ · (−0.8)^j, of order 3 and with a long memory; the others
    are filters of four taps: `delay` is 1 at lag 3, `average` is ½ at lags 0 to 3. All have about
    the same size.
    """
    j = np.arange(lags)
    if teacher == "modes":
        return 0.5 * 0.95**j + 0.25 * 0.5**j + 0.25 * (-0.8) ** j
    if teacher == "delay":
        return (j == 3).astype(float)
    if teacher == "average":
        return np.where(j < 4, 0.5, 0.0)
    raise ValueError(f"teacher must be one of {', '.join(TEACHERS)}, got {teacher!r}")


@dataclass(frozen=True, kw_only=True)
class RegimeConfig(Config):
    """What every run of regimes is told."""

    nu_w: float = parameter(0.5, "variance ν_W of the entries of W at the start", low=0.01, high=1)
    goal: float = parameter(
        2e-3, "relative error on the trained lags at which a run ends", low=1e-8, high=0.5
    )
    steps: int = parameter(20_000, "cap on the steps of a run", low=1, high=10_000_000)
    fraction: float = parameter(
        0.3, "step c, over the bound ‖G‖ + γ₀ ‖L − L*‖₁ on the curvature", low=1e-3, high=1.0
    )
    tail: int = parameter(24, "lags after k on which a student is judged", low=1, high=200)
    tolerance: float = parameter(
        0.01, "Hankel singular values above this part of the largest are counted", low=0, high=0.5
    )


def variables() -> dict[str, Variable]:
    """What every cell stores."""
    return {
        "outcome": OUTCOME,
        "train_error": Variable((), "1", "relative error on the trained lags"),
        "error": Variable((), "1", "relative error on the lags after k"),
        "tail_error": Variable((), "1", "error on the lags after k, relative to the whole teacher"),
        "rank": Variable((), "1", "Hankel rank of what was learned", "int64"),
        "rotation": Variable((), "1", "1 − cosine between the kernels of start and end"),
        "change": Variable((), "1", "relative change of the kernel, ‖G − G⁰‖/‖G⁰‖"),
        "kappa": Variable((), "1", "κ = γ₀ ‖L*‖_K, predicted"),
        "steps_made": Variable((), "1", "steps made", "int64"),
        "time": Variable((), "1", "time of the gradient flow"),
        "response": Variable((LAG,), "1", "what was learned, L"),
    }


def coordinates(config: RegimeConfig) -> dict[str, Any]:
    """The lags of the stored responses."""
    return {LAG: np.arange(LONGEST + config.tail)}
