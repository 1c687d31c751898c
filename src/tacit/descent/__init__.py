"""Descent: the only loop. It moves any pytree down any loss, thousands of small models at once."""

from tacit.descent._descend import descend
from tacit.descent._lanes import Lanes
from tacit.descent._levenberg_marquardt import LevenbergMarquardt
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import LossFunction, Objective
from tacit.descent._optax import OptaxMethod
from tacit.descent._outcome import Outcome
from tacit.descent._record import Record
from tacit.descent._result import DescentResult, Statistics
from tacit.descent._stop import Stop

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
