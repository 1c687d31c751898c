"""The Hankel matrix of an impulse response: its rank is the order of the smallest system."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._types import precise
from tacit.measures._namespace import AnyArray, as_real
from tacit.measures._ranks import singular_values


@precise
def hankel(response: ArrayLike, *, rows: int | None = None) -> AnyArray:
    """The (block) matrix with h_{i+j} at row i, column j, using every lag once or more.

    `response` is (length,) or (length, outputs, inputs); `rows` counts block rows and is half of
    the length, rounded up, unless given. The result has (rows · outputs) rows and
    (length − rows + 1) · inputs columns.
    """
    h = as_real("response", response, (1, 3), "of shape (length,) or (length, outputs, inputs)")
    length, *block = h.shape
    rows = (length + 1) // 2 if rows is None else rows
    if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or not 1 <= rows <= length:
        raise ValueError(
            f"rows: received {rows!r}, it must be an integer in [1, length = {length}]"
        )
    columns = length - rows + 1
    blocks = h[np.add.outer(np.arange(rows), np.arange(columns))]
    if not block:
        return blocks
    outputs, inputs = block
    return blocks.transpose(0, 2, 1, 3).reshape(rows * outputs, columns * inputs)


@precise
def hankel_singular_values(response: ArrayLike, *, rows: int | None = None) -> AnyArray:
    """The singular values of `hankel(response)`, the largest first."""
    return singular_values(hankel(response, rows=rows))
