"""Deep matrix completion: limits of gradient flow on products of factors (the paper `depth`)."""

from tacit._signatures import with_readable_signatures
from tacit.theory.depth._block_diagonal import LimitSpectrum, escape_time, limit_singular_values
from tacit.theory.depth._bounds import (
    LazyBound,
    PlasticityBound,
    alignment_bound,
    lazy_bound,
    plasticity_bound,
)
from tacit.theory.depth._coupling import coupled_group_count, coupled_groups, coupling
from tacit.theory.depth._disconnected import DisconnectedLimit, disconnected_limit
from tacit.theory.depth._lazy_condition import LazyCondition, lazy_condition
from tacit.theory.depth._limit_ranks import (
    halfway_ratio,
    limit_effective_rank,
    limit_factor_effective_rank,
)
from tacit.theory.depth._reduced_flow import Eigenvalues, conserved_quantity, reduced_flow
from tacit.theory.depth._small_start import TwoFactors, early_flow, vanishing_limit

__all__ = [
    "DisconnectedLimit",
    "Eigenvalues",
    "LazyBound",
    "LazyCondition",
    "LimitSpectrum",
    "PlasticityBound",
    "TwoFactors",
    "alignment_bound",
    "conserved_quantity",
    "coupled_group_count",
    "coupled_groups",
    "coupling",
    "disconnected_limit",
    "early_flow",
    "escape_time",
    "halfway_ratio",
    "lazy_bound",
    "lazy_condition",
    "limit_effective_rank",
    "limit_factor_effective_rank",
    "limit_singular_values",
    "plasticity_bound",
    "reduced_flow",
    "vanishing_limit",
]

with_readable_signatures(globals(), __all__)
