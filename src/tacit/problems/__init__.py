"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit.problems._completion import MatrixCompletion, low_rank_matrix
from tacit.problems._pattern import Pattern
from tacit.problems._population import PopulationLoss
from tacit.problems._spectra import even_spectrum, random_spectrum
from tacit.problems._teachers import (
    balanced_teacher,
    delay_teacher,
    equal_weights,
    gaussian_weights,
    random_unbalanced_teacher,
    spread_weights,
)

__all__ = [
    "MatrixCompletion",
    "Pattern",
    "PopulationLoss",
    "balanced_teacher",
    "delay_teacher",
    "equal_weights",
    "even_spectrum",
    "gaussian_weights",
    "low_rank_matrix",
    "random_spectrum",
    "random_unbalanced_teacher",
    "spread_weights",
]
