"""Learning in a linear rate network: the paper's series, and what solves it exactly.

The network's output is z = wᵀ(I − W)⁻¹m. Gradient flow on ½(ẑ − z)² moves W alone, in the time τ
(learning rate × epochs):

    dW/dτ = (ẑ − z) y xᵀ,    x = (I − W)⁻¹ m,    y = (I − W)⁻ᵀ w        (connectivity (6)).
"""

from tacit._signatures import with_readable_signatures
from tacit.theory.connectivity._conserved import Conserved, conserved, conserved_drift
from tacit.theory.connectivity._descent import (
    DecomposedNetwork,
    DescentCurve,
    FixedPoint,
    LinearNetwork,
    SimulatedTrial,
    gradient_descent,
)
from tacit.theory.connectivity._first_order import (
    Traces,
    change_norm,
    gradient_norm,
    learning_time,
    shuffled_loss,
    traces,
)
from tacit.theory.connectivity._learning_curves import (
    decomposed_curve,
    exact_g0,
    large_n,
    learning_curve,
)
from tacit.theory.connectivity._one_vector import OneVector, largest_stable_rate, one_vector
from tacit.theory.connectivity._series import (
    change_series,
    output_series,
    series_end,
    shuffled_output_series,
    singular_value_series,
)
from tacit.theory.connectivity._solution import LearningCurve
from tacit.theory.connectivity._spectrum import LimitSpectrum, limit_spectrum

__all__ = [
    "Conserved",
    "DecomposedNetwork",
    "DescentCurve",
    "FixedPoint",
    "LearningCurve",
    "LimitSpectrum",
    "LinearNetwork",
    "OneVector",
    "SimulatedTrial",
    "Traces",
    "change_norm",
    "change_series",
    "conserved",
    "conserved_drift",
    "decomposed_curve",
    "exact_g0",
    "gradient_descent",
    "gradient_norm",
    "large_n",
    "largest_stable_rate",
    "learning_curve",
    "learning_time",
    "limit_spectrum",
    "one_vector",
    "output_series",
    "series_end",
    "shuffled_loss",
    "shuffled_output_series",
    "singular_value_series",
    "traces",
]

with_readable_signatures(globals(), __all__)
