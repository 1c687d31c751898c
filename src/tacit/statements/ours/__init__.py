"""Statements that are in none of the papers: what `tacit.theory` adds to them.

They are derived in the docstrings of the functions that `place` names.
"""

# Importing a topic registers its statements.
from tacit.statements.ours import (
    kernel,
    lazy,
    linear,
    moments,
    quadrature,
    small_start,
)

__all__ = [
    "kernel",
    "lazy",
    "linear",
    "moments",
    "quadrature",
    "small_start",
]
