"""Statements of `depth`: implicit bias of deep matrix completion, and loss of plasticity.

Factors are in the order in which they act: `factors[0]` is W_1, or B at depth two, and
`factors[-1]` is W_L, or A.
"""

# Importing a topic registers its statements.
from tacit.statements.depth import (
    alignment,
    coupling,
    family,
    invariance,
    lazy_lemmas,
    limit_proofs,
    limits,
    pairs,
    plasticity,
    post_training,
    singular_values,
    useful_lemmas,
    warm_identities,
    warm_signs,
)

__all__ = [
    "alignment",
    "coupling",
    "family",
    "invariance",
    "lazy_lemmas",
    "limit_proofs",
    "limits",
    "pairs",
    "plasticity",
    "post_training",
    "singular_values",
    "useful_lemmas",
    "warm_identities",
    "warm_signs",
]
