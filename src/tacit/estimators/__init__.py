"""Estimators for people's own data, with scikit-learn's conventions."""

from tacit.estimators._completion import DeepMatrixCompleter, LazyStartWarning
from tacit.estimators._identification import LinearSystemIdentifier
from tacit.estimators._linear_system import LinearSystem
from tacit.estimators._regime import Regime, regime

__all__ = [
    "DeepMatrixCompleter",
    "LazyStartWarning",
    "LinearSystem",
    "LinearSystemIdentifier",
    "Regime",
    "regime",
]
