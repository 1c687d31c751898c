"""Whether a part holds what is declared of its cells."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.store._names import OUTCOME, OUTCOMES
from tacit.store._part import Layout
from tacit.store._variable import Variable

Coordinates = Mapping[str, Sequence[Any] | np.ndarray]


def misfit(layout: Layout, variables: Mapping[str, Variable], coords: Coordinates) -> str | None:
    """How the arrays of a part differ from what is declared, None if they do not."""
    for name, variable in variables.items():
        if name not in layout:
            return f"it has no variable {name!r}"
        dtype, shape = layout[name]
        declared = np.dtype(variable.dtype)
        words = declared.kind == dtype.kind == "U"
        if not words and dtype.newbyteorder("=") != declared.newbyteorder("="):
            return f"it has {name!r} as {dtype}, declared is {variable.dtype}"
        expected = tuple(len(coords[dim]) for dim in variable.dims if dim in coords)
        if shape != expected:
            return f"it has {name!r} with shape {shape} a cell, declared is {expected}"
    return None


def wrong_outcomes(arrays: Mapping[str, np.ndarray]) -> str | None:
    """How the outcomes of a part differ from the words that there are for them."""
    words = {str(word) for word in np.ravel(arrays.get(OUTCOME, ()))}
    wrong = sorted(words - set(OUTCOMES))
    return f"it has the outcome {wrong[0]!a:.40}" if wrong else None
