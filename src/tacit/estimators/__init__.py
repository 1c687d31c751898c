"""Estimators for people's own data, with scikit-learn's conventions."""

from tacit.estimators._completion import DeepMatrixCompleter, LazyStartWarning

__all__ = ["DeepMatrixCompleter", "LazyStartWarning"]
