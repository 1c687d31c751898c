"""Wide recurrent networks: their kernels, and what descent does with them (the paper `kernel`)."""

from tacit._signatures import with_readable_signatures
from tacit.theory.kernel._finite_width import finite_width_gram
from tacit.theory.kernel._learning_curve import LearningCurve, learning_curve
from tacit.theory.kernel._limit import heaviest_lag, lag_weights, limit_kernel, toeplitz
from tacit.theory.kernel._nonlinearity import (
    Erf,
    Identity,
    Moments,
    Nonlinearity,
    ReLU,
    Smooth,
    Tanh,
)
from tacit.theory.kernel._recurrent import RecurrentKernel, recurrent_kernel
from tacit.theory.kernel._response import finite_width_response

__all__ = [
    "Erf",
    "Identity",
    "LearningCurve",
    "Moments",
    "Nonlinearity",
    "ReLU",
    "RecurrentKernel",
    "Smooth",
    "Tanh",
    "finite_width_gram",
    "finite_width_response",
    "heaviest_lag",
    "lag_weights",
    "learning_curve",
    "limit_kernel",
    "recurrent_kernel",
    "toeplitz",
]

with_readable_signatures(globals(), __all__)
