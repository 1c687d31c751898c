"""Between the kernel regime and the rich one: scales, limits and the border (ours)."""

from tacit._signatures import with_readable_signatures
from tacit.theory.regimes._border import extrapolation_scale, wide_error
from tacit.theory.regimes._first_correction import first_correction
from tacit.theory.regimes._group_rates import LazyFit, lazy_fit, rated_kernel, ssm_kernel_parts
from tacit.theory.regimes._kernel_corner import (
    kappa,
    kernel_norm,
    kernel_response,
    threshold,
)
from tacit.theory.regimes._wide_flow import WideFlow, wide_flow, wide_start

__all__ = [
    "LazyFit",
    "WideFlow",
    "extrapolation_scale",
    "first_correction",
    "kappa",
    "kernel_norm",
    "kernel_response",
    "lazy_fit",
    "rated_kernel",
    "ssm_kernel_parts",
    "threshold",
    "wide_error",
    "wide_flow",
    "wide_start",
]

with_readable_signatures(globals(), __all__)
