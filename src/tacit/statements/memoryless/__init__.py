"""Statements of `memoryless`: temporal extrapolation from a teacher without memory.

Equation numbers are those of the whole paper, where the supplement continues the count: its (7) is
(20), its Lemma 3.1 is Lemma C.1.
"""

# Importing a topic registers its statements.
from tacit.statements.memoryless import (
    gradients,
    long_sequences,
    loss,
    proofs,
    solutions,
    symmetry,
)

__all__ = [
    "gradients",
    "long_sequences",
    "loss",
    "proofs",
    "solutions",
    "symmetry",
]
