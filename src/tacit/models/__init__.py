"""Models: Equinox modules that act on one example; callers `vmap`."""

from tacit.models._deep_factorisation import DeepFactorisation
from tacit.models._dense import Dense, Symmetric
from tacit.models._diagonal import ConjugatePairs, Diagonal
from tacit.models._linear_rnn import LinearRNN
from tacit.models._rate_rnn import BY_MAPS, BY_VECTORS, Parametrisation, RateRNN
from tacit.models._recurrence import identity
from tacit.models._transition import AbstractTransition

__all__ = [
    "BY_MAPS",
    "BY_VECTORS",
    "AbstractTransition",
    "ConjugatePairs",
    "DeepFactorisation",
    "Dense",
    "Diagonal",
    "LinearRNN",
    "Parametrisation",
    "RateRNN",
    "Symmetric",
    "identity",
]
