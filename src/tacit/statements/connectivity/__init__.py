"""Statements of `connectivity`: randomness and structure in trained recurrent networks.

Throughout, B = (I − W₀)⁻¹ and β = 1/(1 − g²). Equation numbers are those of the paper; the
supplement continues them from (16).
"""

# Importing a topic registers its statements.
from tacit.statements.connectivity import (
    beginning,
    curves,
    factors,
    readout,
    shuffling,
    traces,
    words,
)

__all__ = [
    "beginning",
    "curves",
    "factors",
    "readout",
    "shuffling",
    "traces",
    "words",
]
