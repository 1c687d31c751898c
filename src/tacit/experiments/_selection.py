"""Selecting labels that the grid may not have."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._doors import door, having
from tacit._errors import shown

if TYPE_CHECKING:  # only a type here; importing this room stays light
    import xarray


@door(answer="any", values=having("reindex", "isel"))
def at(values: "xarray.DataArray", **labels: Any) -> "xarray.DataArray":
    """The part of an array at some labels; all NaN where the grid lacks one of them.

    A claim about a label that is not in the grid then has no runs, and stays undecided:
    `claim.median("k = 11: extrapolates", at(errors, length=11), …)`.
    """
    for name, label in labels.items():
        if np.ndim(label) or isinstance(label, list | tuple):
            raise ValueError(f"{name}: received {shown(label)}, it must be one label")
        values = values.reindex({name: [label]}).isel({name: 0})
    return values
