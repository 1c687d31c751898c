"""Tasks for rate networks: trials drawn from a key, inside a compiled program or alone."""

from tacit._signatures import with_readable_signatures
from tacit.problems.tasks._cosine import Cosine
from tacit.problems.tasks._flip_flop import FlipFlop
from tacit.problems.tasks._mante import Mante
from tacit.problems.tasks._romo import Romo
from tacit.problems.tasks._simple import Simple
from tacit.problems.tasks._task import Task, Trials
from tacit.problems.tasks._task_loss import TaskLoss

__all__ = [
    "Cosine",
    "FlipFlop",
    "Mante",
    "Romo",
    "Simple",
    "Task",
    "TaskLoss",
    "Trials",
]

with_readable_signatures(globals(), __all__)
