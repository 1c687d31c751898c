"""Statements of `connectivity`: randomness and structure in trained recurrent networks.

B = (I − W₀)⁻¹ and β = 1/(1 − g²) throughout. Equation numbers are the paper's, in which the
supplement goes on counting from (16).
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
