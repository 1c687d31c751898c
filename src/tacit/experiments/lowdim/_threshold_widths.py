"""Where the range of a later lag must become a point, and stored widths on either side of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.store import ENDS, LENGTH, ORDER, SEED

if TYPE_CHECKING:
    import xarray


def threshold_of(order: int, ends: int) -> int:
    """2d̂ + 1 lags, less one for each atom on an end of the support (one atom has one place)."""
    return 2 * order + 1 - min(order, ends)


def widths_at(
    dataset: "xarray.Dataset",
    name: str,
    orders: Sequence[int],
    ends: int,
    chosen: Callable[[int, int], bool],
) -> np.ndarray:
    """Widths of all teachers of these orders, at the lengths for which `chosen`(k, threshold)."""
    found = [np.zeros(0)]
    for order in orders:
        edge = threshold_of(order, ends)
        lengths = [int(k) for k in dataset[LENGTH].values if chosen(int(k), edge)]
        values = dataset[name].sel({ORDER: order, ENDS: ends, LENGTH: lengths}).values
        found.append(values.ravel())
    values = np.concatenate(found)
    return values[~np.isnan(values)]


def first_point(dataset: "xarray.Dataset", order: int, ends: int, point: float) -> np.ndarray:
    """For each teacher, the first k from which on all its ranges are points; NaN without one."""
    table = dataset["width"].sel({ORDER: order, ENDS: ends}).transpose(SEED, LENGTH)
    lengths = np.asarray(dataset[LENGTH].values)
    ranked = np.argsort(lengths)
    narrow = table.values[:, ranked] <= point
    from_here = np.flip(np.logical_and.accumulate(np.flip(narrow, axis=1), axis=1), axis=1)
    first = lengths[ranked][np.argmax(from_here, axis=1)].astype(float)
    return np.where(from_here.any(axis=1), first, np.nan)
