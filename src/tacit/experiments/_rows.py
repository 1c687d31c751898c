"""From the results of single cells to the arrays of a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit._doors import door, each, instance


@door(answer="any", rows=each(instance(Mapping)))
def stacked(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """What each cell of a batch found, one row per cell, as arrays by name.

    For a `cell` that looks at its networks one by one: all rows have the names of the first.
    """
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
