"""Statements of `connectivity`: randomness and structure in trained recurrent networks.

B = (I − W₀)⁻¹ and β = 1/(1 − g²) throughout. Equation numbers are the paper's, in which the
supplement goes on counting from (16).
"""

# Importing them registers their statements, in the paper's order.
from tacit.statements import _connectivity_beginning as _beginning
from tacit.statements import _connectivity_curves as _curves
from tacit.statements import _connectivity_factors as _factors
from tacit.statements import _connectivity_readout as _readout
from tacit.statements import _connectivity_shuffling as _shuffling
from tacit.statements import _connectivity_traces as _traces
from tacit.statements import _connectivity_words as _words

__all__: list[str] = []
_PARTS = (_beginning, _curves, _factors, _readout, _shuffling, _traces, _words)
