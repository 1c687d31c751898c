"""Descent: the only loop. It moves any pytree down any loss, thousands of small models at once."""

from tacit._signatures import with_readable_signatures
from tacit.descent._averaged import Averaged
from tacit.descent._bounded_step import BoundedStep
from tacit.descent._checkpoint import Checkpoint
from tacit.descent._clock import AbstractClock, HomogeneousClock
from tacit.descent._cosine import cosine
from tacit.descent._coupled_decay import COUPLED, coupled_decay
from tacit.descent._descend import descend
from tacit.descent._drawn_gradient import DrawnGradient
from tacit.descent._first_below import FirstBelow
from tacit.descent._flow import Downhill, FlowState, GradientFlow
from tacit.descent._gauss_newton import GaussNewton
from tacit.descent._kept_programs import keep_programs
from tacit.descent._lanes import Lanes, lane_keys
from tacit.descent._levenberg_marquardt import LevenbergMarquardt
from tacit.descent._log_steps import log_spaced_steps
from tacit.descent._method import AbstractMethod, Advance, OptaxMethod
from tacit.descent._objective import LossFunction, Objective
from tacit.descent._problem import (
    BoundedCurvature,
    LeastSquares,
    LossOrProblem,
    Problem,
    Stateful,
    Stochastic,
)
from tacit.descent._progress import set_progress_place
from tacit.descent._record import Record
from tacit.descent._result import DescentResult, Statistics
from tacit.descent._schedule import Cold, ScheduleResult, Stage, Warm, run_schedule
from tacit.descent._stabilised import StabilisedRungeKutta
from tacit.descent._stop import Outcome, Stop
from tacit.descent._torch_defaults import torch_defaults
from tacit.descent._unrolled import Unrolled

__all__ = [
    "COUPLED",
    "AbstractClock",
    "AbstractMethod",
    "Advance",
    "Averaged",
    "BoundedCurvature",
    "BoundedStep",
    "Checkpoint",
    "Cold",
    "DescentResult",
    "Downhill",
    "DrawnGradient",
    "FirstBelow",
    "FlowState",
    "GaussNewton",
    "GradientFlow",
    "HomogeneousClock",
    "Lanes",
    "LeastSquares",
    "LevenbergMarquardt",
    "LossFunction",
    "LossOrProblem",
    "Objective",
    "OptaxMethod",
    "Outcome",
    "Problem",
    "Record",
    "ScheduleResult",
    "StabilisedRungeKutta",
    "Stage",
    "Stateful",
    "Statistics",
    "Stochastic",
    "Stop",
    "Unrolled",
    "Warm",
    "cosine",
    "coupled_decay",
    "descend",
    "keep_programs",
    "lane_keys",
    "log_spaced_steps",
    "run_schedule",
    "set_progress_place",
    "torch_defaults",
]

with_readable_signatures(globals(), __all__)
