"""From where on a curve stays below a level."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, number, real


@door(answer="any", x=real(1), y=real(finite=False, empty=True), level=number())
def settling_point(x: ArrayLike, y: ArrayLike, level: float | int) -> np.ndarray:
    """The least x from which on y ≤ level, one for each curve (…, x); infinite if there is none.

    Points whose y is NaN are passed over, but a curve settles at a point that it has. The points
    may come in any order. Nothing is interpolated: see `crossing` for that.
    """
    points, curves = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if points.ndim != 1 or not points.size or curves.shape[-1:] != points.shape:
        raise ValueError(
            f"y: received the shape {curves.shape} for the points {points.shape}, the curves must "
            "have the points along their last axis"
        )
    order = np.argsort(points)
    curves, missing = curves[..., order], np.isnan(curves[..., order])
    low = (curves <= level) | missing
    settled = np.logical_and.accumulate(low[..., ::-1], axis=-1)[..., ::-1] & ~missing
    first = points[order][np.argmax(settled, axis=-1)]
    return np.where(settled.any(axis=-1), first, np.inf)
