"""Statements that are not in the papers: what `tacit.theory` adds to them.

They are derived in the docstrings of the functions named by `place`.
"""

# Importing a topic registers its statements.
from tacit.statements.ours import (
    group_rates,
    kernel,
    lazy,
    linear,
    moments,
    quadrature,
    small_start,
)

__all__ = [
    "group_rates",
    "kernel",
    "lazy",
    "linear",
    "moments",
    "quadrature",
    "small_start",
]
