"""Errors of experiments, each in one sentence that can be shown as it is."""

from tacit._errors import UsageError, nearest

__all__ = ["ReproductionError", "UsageError", "nearest"]


class ReproductionError(RuntimeError):
    """A run without any result: every batch failed. Its notes hold the first traceback."""
