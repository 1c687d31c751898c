"""Statements that are in none of the papers: what `tacit.theory` adds to them.

They are derived in the docstrings of the functions that `place` names.
"""

# Importing them registers their statements.
from tacit.statements import _ours_kernel as _kernel
from tacit.statements import _ours_lazy as _lazy
from tacit.statements import _ours_linear as _linear
from tacit.statements import _ours_moments as _moments
from tacit.statements import _ours_quadrature as _quadrature
from tacit.statements import _ours_small_start as _small_start

__all__: list[str] = []
_PARTS = (_kernel, _lazy, _linear, _moments, _quadrature, _small_start)
