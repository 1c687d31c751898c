"""Measures: arrays in, numbers or spectra out, in the namespace of their input."""

from tacit.measures._balancedness import balancedness, factor_balancedness
from tacit.measures._extrapolation import extrapolation_error
from tacit.measures._hankel import hankel, hankel_singular_values
from tacit.measures._ranks import (
    effective_rank,
    effective_rank_from_singular_values,
    effective_rank_squared,
    effective_rank_squared_from_singular_values,
    numerical_rank,
    numerical_rank_from_singular_values,
    singular_values,
    stable_rank,
    stable_rank_from_singular_values,
)

__all__ = [
    "balancedness",
    "effective_rank",
    "effective_rank_from_singular_values",
    "effective_rank_squared",
    "effective_rank_squared_from_singular_values",
    "extrapolation_error",
    "factor_balancedness",
    "hankel",
    "hankel_singular_values",
    "numerical_rank",
    "numerical_rank_from_singular_values",
    "singular_values",
    "stable_rank",
    "stable_rank_from_singular_values",
]
