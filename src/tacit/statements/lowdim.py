"""Statements of `lowdim`: learning low-dimensional state spaces."""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _lowdim_fit as _fit
from tacit.statements import _lowdim_flow as _flow
from tacit.statements import _lowdim_moments as _moments
from tacit.statements import _lowdim_moments_proof as _moments_proof
from tacit.statements import _lowdim_near_zero as _near_zero
from tacit.statements import _lowdim_near_zero_proof as _near_zero_proof

__all__: list[str] = []
_PARTS = (_fit, _flow, _moments, _moments_proof, _near_zero, _near_zero_proof)
