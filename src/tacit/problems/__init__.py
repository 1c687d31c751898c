"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit.problems._population import PopulationLoss
from tacit.problems._teachers import (
    balanced_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
)

__all__ = [
    "PopulationLoss",
    "balanced_teacher",
    "equal_weights",
    "even_spectrum",
    "gaussian_weights",
    "random_spectrum",
]
