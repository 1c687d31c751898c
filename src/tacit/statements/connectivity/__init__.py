"""Statements of `connectivity`: randomness and structure in trained recurrent networks.

Throughout, B = (I − W₀)⁻¹ and β = 1/(1 − g²). Equation numbers are those of the paper; the
supplement continues them from (16).
"""

# Importing a topic registers its statements.
from tacit.statements.connectivity import (
    averages,
    beginning,
    curves,
    factors,
    first_order,
    pairings,
    readout,
    shuffling,
    spectra,
    sums,
    tasks,
    traces,
    words,
)

__all__ = [
    "averages",
    "beginning",
    "curves",
    "factors",
    "first_order",
    "pairings",
    "readout",
    "shuffling",
    "spectra",
    "sums",
    "tasks",
    "traces",
    "words",
]
