"""What was received, in a few words: for messages about wrong arguments."""

from typing import Any

import jax
import numpy as np

ARGUMENTS = "the order is descend(model, loss_or_problem, method)"


def received(value: Any) -> str:
    """A few words that tell what was received."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str | int | float | complex | bool | None):
        return repr(value)
    if isinstance(value, jax.Array | np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dictionary with keys {list(value)}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    return type(value).__name__


def first_line(error: Exception) -> str:
    """The error's name and the beginning of its message, as one line without a full stop."""
    line = next((part.strip() for part in str(error).splitlines() if part.strip()), "")
    line = line if len(line) <= 200 else line[:200] + "…"
    return f"{type(error).__name__}: {line.rstrip('.')}" if line else type(error).__name__
