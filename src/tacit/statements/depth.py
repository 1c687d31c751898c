"""Statements of `depth`: implicit bias of deep matrix completion, and loss of plasticity.

Factors stand in the order in which they act: `factors[0]` is W_1, or B at depth two, and
`factors[-1]` is W_L, or A.
"""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _depth_alignment as _alignment
from tacit.statements import _depth_coupling as _coupling
from tacit.statements import _depth_family as _family
from tacit.statements import _depth_invariance as _invariance
from tacit.statements import _depth_limits as _limits
from tacit.statements import _depth_pairs as _pairs
from tacit.statements import _depth_plasticity as _plasticity
from tacit.statements import _depth_post_training as _post_training
from tacit.statements import _depth_singular_values as _singular_values

__all__: list[str] = []
_PARTS = (
    _alignment,
    _coupling,
    _family,
    _invariance,
    _limits,
    _pairs,
    _plasticity,
    _post_training,
    _singular_values,
)
