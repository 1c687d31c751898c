"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit.problems._completion import MatrixCompletion, low_rank_matrix
from tacit.problems._pattern import Pattern
from tacit.problems._population import PopulationLoss
from tacit.problems._sequences import SequenceBatches, SequenceLoss
from tacit.problems._teachers import (
    balanced_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
)

__all__ = [
    "MatrixCompletion",
    "Pattern",
    "PopulationLoss",
    "SequenceBatches",
    "SequenceLoss",
    "balanced_teacher",
    "equal_weights",
    "even_spectrum",
    "gaussian_weights",
    "low_rank_matrix",
    "random_spectrum",
]
