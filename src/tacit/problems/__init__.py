"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit.problems._completion import MatrixCompletion, low_rank_matrix
from tacit.problems._lag_weights import (
    adversarial_population_loss,
    half_population_loss,
    weighted_population_loss,
)
from tacit.problems._memoryless_teachers import (
    linear_teacher,
    memoryless_teacher,
    wrong_continuation,
)
from tacit.problems._pattern import Pattern
from tacit.problems._population import PopulationLoss
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
    "adversarial_population_loss",
    "balanced_teacher",
    "equal_weights",
    "even_spectrum",
    "gaussian_weights",
    "half_population_loss",
    "linear_teacher",
    "low_rank_matrix",
    "memoryless_teacher",
    "random_spectrum",
    "weighted_population_loss",
    "wrong_continuation",
]
