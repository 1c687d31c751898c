"""Statements of `lowdim`: learning low-dimensional state spaces."""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _lowdim_fit as _fit
from tacit.statements import _lowdim_flow as _flow

__all__: list[str] = []
_PARTS = (_fit, _flow)
