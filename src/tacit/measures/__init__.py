"""Measures: arrays in, numbers or spectra out, in the namespace of their input."""

from tacit._signatures import with_readable_signatures
from tacit.measures._balancedness import balancedness, factor_balancedness
from tacit.measures._change import (
    change_singular_values,
    eigenvalues,
    epochs_to_fraction,
    functional_rank,
    outlying_eigenvalues,
    shuffled,
    truncated,
    truncation_losses,
    truncations,
    with_truncated_change,
)
from tacit.measures._crossing import crossing
from tacit.measures._layer_ranks import MATRICES, RANKS, by_inputs, by_outputs, mean_layer_ranks
from tacit.measures._leading_eigenvalues import leading_real_parts
from tacit.measures._lyapunov import largest_lyapunov_exponent
from tacit.measures._rank_rows import effective_ranks, stable_ranks
from tacit.measures._ranks import (
    effective_rank,
    effective_rank_from_singular_values,
    effective_rank_squared,
    effective_rank_squared_from_singular_values,
    numerical_rank,
    numerical_rank_from_singular_values,
    singular_values,
    singular_values_or_nan,
    stable_rank,
    stable_rank_from_singular_values,
)
from tacit.measures._responses import (
    extrapolation_error,
    hankel,
    hankel_singular_values,
    mean_tail_errors,
    tail_errors,
)
from tacit.measures._rotation import kernel_rotation, relative_change
from tacit.measures._settling import settling_point

__all__ = [
    "MATRICES",
    "RANKS",
    "balancedness",
    "by_inputs",
    "by_outputs",
    "change_singular_values",
    "crossing",
    "effective_rank",
    "effective_rank_from_singular_values",
    "effective_rank_squared",
    "effective_rank_squared_from_singular_values",
    "effective_ranks",
    "eigenvalues",
    "epochs_to_fraction",
    "extrapolation_error",
    "factor_balancedness",
    "functional_rank",
    "hankel",
    "hankel_singular_values",
    "kernel_rotation",
    "largest_lyapunov_exponent",
    "leading_real_parts",
    "mean_layer_ranks",
    "mean_tail_errors",
    "numerical_rank",
    "numerical_rank_from_singular_values",
    "outlying_eigenvalues",
    "relative_change",
    "settling_point",
    "shuffled",
    "singular_values",
    "singular_values_or_nan",
    "stable_rank",
    "stable_rank_from_singular_values",
    "stable_ranks",
    "tail_errors",
    "truncated",
    "truncation_losses",
    "truncations",
    "with_truncated_change",
]

with_readable_signatures(globals(), __all__)
