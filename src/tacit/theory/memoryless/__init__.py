"""A teacher without memory: its loss in closed form, and models that fit without extrapolating."""

from tacit._signatures import with_readable_signatures
from tacit.theory.memoryless._counterexamples import (
    CyclicCounterexample,
    NearZeroLossCounterexample,
    cyclic_counterexample,
    near_zero_loss_counterexample,
)
from tacit.theory.memoryless._population import (
    Gradients,
    impulse_response,
    population_gradients,
    population_loss,
)
from tacit.theory.memoryless._responses import impulse_responses, spectrum

__all__ = [
    "CyclicCounterexample",
    "Gradients",
    "NearZeroLossCounterexample",
    "cyclic_counterexample",
    "impulse_response",
    "impulse_responses",
    "near_zero_loss_counterexample",
    "population_gradients",
    "population_loss",
    "spectrum",
]

with_readable_signatures(globals(), __all__)
