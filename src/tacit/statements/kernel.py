"""Statements of `kernel`: linear RNNs in the kernel regime.

What holds as the width n grows is tried at two or three widths, against the predicted rate.
"""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _kernel_impulse as _impulse
from tacit.statements import _kernel_tangent as _tangent
from tacit.statements import _kernel_tangent_proof as _tangent_proof
from tacit.statements import _kernel_training as _training
from tacit.statements import _kernel_training_proof as _training_proof

__all__: list[str] = []
_PARTS = (_impulse, _tangent, _tangent_proof, _training, _training_proof)
