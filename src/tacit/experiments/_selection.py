"""Selecting labels that the grid may not have."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # only a type here; importing this room stays light
    import xarray


def at(values: "xarray.DataArray", **labels: Any) -> "xarray.DataArray":
    """The part of an array at some labels; all NaN where the grid lacks one of them.

    A claim about a label that is not in the grid then has no runs, and stays undecided:
    `claim.median("k = 11: extrapolates", at(errors, length=11), …)`.
    """
    for name, label in labels.items():
        values = values.reindex({name: [label]}).isel({name: 0})
    return values
