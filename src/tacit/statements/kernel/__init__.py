"""Statements of `kernel`: linear RNNs in the kernel regime.

Statements about growing width n are checked at two or three widths, against the predicted rate.
"""

# Importing a topic registers its statements.
from tacit.statements.kernel import (
    conditioning,
    convergence,
    covariances,
    impulse,
    tangent,
    tangent_proof,
    training,
    training_proof,
    wide_networks,
)

__all__ = [
    "conditioning",
    "convergence",
    "covariances",
    "impulse",
    "tangent",
    "tangent_proof",
    "training",
    "training_proof",
    "wide_networks",
]
