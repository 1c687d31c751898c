"""Statements of `memoryless`: temporal extrapolation from a teacher without memory.

Equation numbers are those of the whole paper, in which the supplement goes on counting: its (7) is
(20), its Lemma 3.1 is Lemma C.1.
"""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _memoryless_loss as _loss
from tacit.statements import _memoryless_solutions as _solutions
from tacit.statements import _memoryless_symmetry as _symmetry

__all__: list[str] = []
_PARTS = (_loss, _solutions, _symmetry)
