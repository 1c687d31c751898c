"""Low-dimensional state spaces: the moment problem behind extrapolation (the paper `lowdim`).

A balanced system with a symmetric A has the impulse response Σ p_i λ_i^j with p_i = B_i² ≥ 0: the
moments of a positive measure on its eigenvalues. What its first k lags say about a later one is
therefore a question about measures, answered here without training.
"""

from tacit._signatures import with_readable_signatures
from tacit.theory.lowdim._atoms import Atoms, prony
from tacit.theory.lowdim._extrapolation_bound import ExtrapolationBound, extrapolation_bound
from tacit.theory.lowdim._moment_range import MomentRange, moment_range
from tacit.theory.lowdim._student import Student, nonextrapolating_student
from tacit.theory.lowdim._threshold import threshold

__all__ = [
    "Atoms",
    "ExtrapolationBound",
    "MomentRange",
    "Student",
    "extrapolation_bound",
    "moment_range",
    "nonextrapolating_student",
    "prony",
    "threshold",
]

with_readable_signatures(globals(), __all__)
