"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit.problems._completion import MatrixCompletion, low_rank_matrix
from tacit.problems._pattern import Pattern
from tacit.problems._population import PopulationLoss
from tacit.problems._teachers import (
    balanced_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
)
from tacit.problems.tasks import Cosine, FlipFlop, Mante, Romo, Simple, Task, TaskLoss, Trials

__all__ = [
    "Cosine",
    "FlipFlop",
    "Mante",
    "MatrixCompletion",
    "Pattern",
    "PopulationLoss",
    "Romo",
    "Simple",
    "Task",
    "TaskLoss",
    "Trials",
    "balanced_teacher",
    "equal_weights",
    "even_spectrum",
    "gaussian_weights",
    "low_rank_matrix",
    "random_spectrum",
]
