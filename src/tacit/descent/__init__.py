"""Descent: the only loop. It moves any pytree down any loss, thousands of small models at once."""

from ._descend import descend
from ._lanes import Lanes
from ._levenberg_marquardt import LevenbergMarquardt
from ._method import AbstractMethod, Advance
from ._objective import LossFunction, Objective
from ._optax import OptaxMethod
from ._outcome import Outcome
from ._record import Record
from ._result import DescentResult, Statistics
from ._stop import Stop

__all__ = [
    "AbstractMethod",
    "Advance",
    "DescentResult",
    "Lanes",
    "LevenbergMarquardt",
    "LossFunction",
    "Objective",
    "OptaxMethod",
    "Outcome",
    "Record",
    "Statistics",
    "Stop",
    "descend",
]
