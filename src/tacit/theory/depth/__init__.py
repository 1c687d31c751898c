"""Deep matrix completion: limits of gradient flow on products of factors (the paper `depth`)."""

from tacit.theory.depth._block_diagonal import LimitSpectrum, escape_time, limit_singular_values
from tacit.theory.depth._disconnected import DisconnectedLimit, disconnected_limit
from tacit.theory.depth._reduced_flow import Eigenvalues, conserved_quantity, reduced_flow

__all__ = [
    "DisconnectedLimit",
    "Eigenvalues",
    "LimitSpectrum",
    "conserved_quantity",
    "disconnected_limit",
    "escape_time",
    "limit_singular_values",
    "reduced_flow",
]
