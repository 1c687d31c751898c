"""Lines that many figures draw: what a number does over runs, against something swept."""

import numpy as np
from numpy.typing import ArrayLike

from tacit.draw import Band, Colour, Line, Mark


def median_line(
    x: ArrayLike,
    table: ArrayLike,
    *,
    label: str,
    colour: Colour,
    style: str = "solid",
    band: bool = True,
) -> list[Mark]:
    """The median over seeds at each x, with the middle half as a band.

    `table` is (x, seed). NaN is a run that does not count, an infinite value one that does; a row
    of NaN leaves a gap. `x` may come in any order.
    """
    places, values = np.asarray(x, dtype=float), np.asarray(table, dtype=float)
    if places.ndim != 1 or values.ndim != 2 or len(values) != len(places):
        raise ValueError(
            f"table: received the shape {values.shape} for {places.size} values of x, "
            "it must be (x, seed)"
        )
    order = np.argsort(places)
    quartiles = np.full((3, len(values)), np.nan)
    for row, runs in enumerate(values):
        counted = runs[~np.isnan(runs)]
        if counted.size:
            # A run's own value, since no number lies between one and infinity.
            quartiles[:, row] = np.quantile(counted, [0.25, 0.5, 0.75], method="nearest")
    low, middle, high = quartiles[:, order]
    marker = "o" if band else None
    line = Line(places[order], middle, label=label, colour=colour, style=style, marker=marker)
    return [*([Band(places[order], low, high, colour=colour)] if band else []), line]
