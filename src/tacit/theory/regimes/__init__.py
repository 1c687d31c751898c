"""Between the kernel regime and the rich one: scales, limits and the estimated border (ours)."""

from tacit.theory.regimes._kernel_corner import (
    kappa,
    kernel_norm,
    kernel_response,
    threshold,
)

__all__ = ["kappa", "kernel_norm", "kernel_response", "threshold"]
