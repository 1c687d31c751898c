"""Statements of `lowdim`: learning low-dimensional state spaces."""

# Importing a topic registers its statements.
from tacit.statements.lowdim import (
    fit,
    flow,
    moments,
    moments_proof,
    near_zero,
    near_zero_proof,
    near_zero_steps,
    responses,
)

__all__ = [
    "fit",
    "flow",
    "moments",
    "moments_proof",
    "near_zero",
    "near_zero_proof",
    "near_zero_steps",
    "responses",
]
