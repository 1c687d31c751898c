"""Where a curve crosses a level."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, flag, number, numbers, real, whole


@door(
    answer="any",
    x=real(empty=True),
    y=real(finite=False, empty=True),
    level=numbers(infinite=True),
    falling=flag,
    for_good=flag,
    log_x=flag,
    log_y=flag,
    never=number(infinite=True, nan=True),
    at_start=number(infinite=True, nan=True),
    axis=whole(-64, 64),
)
def crossing(
    x: ArrayLike,
    y: ArrayLike,
    level: float | int | ArrayLike,
    *,
    falling: bool = False,
    for_good: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    never: float = np.inf,
    at_start: float | None = None,
    axis: int = -1,
) -> np.ndarray | np.float64:
    """The x at which each curve y(x) first reaches a level, interpolated between two points.

    With (x₀, y₀) the last point before the level and (x₁, y₁) the first one at it or beyond,

        x = x₀ + (level − y₀) / (y₁ − y₀) · (x₁ − x₀).

    Points whose y is NaN are left out; where y₀ is infinite (the logarithm of zero), x is x₁.

    **Arguments:**

    - `x`: the points, along `axis`; one vector for all curves, or an array of y's shape.
    - `y`: the curves, along `axis`.
    - `level`: one for all curves, or one for each (y's shape without `axis`).
    - `falling`: the curve reaches the level from above.
    - `for_good`: the curve stays at the level or beyond to the last point. NaN does not stay.
    - `log_x`, `log_y`: interpolate in the logarithm of x, of y.
    - `never`: returned for a curve that does not reach the level.
    - `at_start`: returned for a curve that is at the level or beyond from its first point on; the
      x of that point if None.

    **Returns:** float64, of y's shape without `axis`.
    """
    curves = np.asarray(y, np.float64)
    if not -curves.ndim <= axis < curves.ndim:
        raise ValueError(f"axis: received {axis}, y has {curves.ndim} axes")
    if not curves.shape[axis]:
        raise ValueError(f"y: received the shape {curves.shape}, a curve has at least one point")
    curves = np.moveaxis(curves, axis, -1)
    points = _points(x, curves, axis)
    goal = np.asarray(level, np.float64)
    if goal.ndim and goal.shape != curves.shape[:-1]:
        raise ValueError(
            f"level: received the shape {goal.shape}, which is not that of the curves, "
            f"{curves.shape[:-1]}; give one number, or one for each curve"
        )
    goal = np.broadcast_to(goal, curves.shape[:-1])
    _check_logarithms(points if log_x else None, curves if log_y else None, goal)

    beyond = curves <= goal[..., None] if falling else curves >= goal[..., None]
    counted = beyond
    if for_good:
        counted = np.logical_and.accumulate(beyond[..., ::-1], axis=-1)[..., ::-1]
    after = np.argmax(counted, axis=-1)
    known = ~np.isnan(curves) & (np.arange(curves.shape[-1]) < after[..., None])
    before = np.where(known, np.arange(curves.shape[-1]), -1).max(axis=-1)
    first = before < 0
    before = np.maximum(before, 0)

    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 and ∞ / ∞, seen to below
        y0, y1, target = (
            np.log(v) if log_y else v for v in (_at(curves, before), _at(curves, after), goal)
        )
        part = (target - y0) / (y1 - y0)
        x0, x1 = (np.log(v) if log_x else v for v in (_at(points, before), _at(points, after)))
        between = x0 + part * (x1 - x0)
        between = np.exp(between) if log_x else between
    jumps = np.isnan(part) | _at(beyond, before)
    found = np.where(jumps, _at(points, after), between)
    found = np.where(first, _at(points, after) if at_start is None else at_start, found)
    return np.where(counted.any(axis=-1), found, never)[()]


def _points(x: ArrayLike, curves: np.ndarray, axis: int) -> np.ndarray:
    """x along the last axis, one row for each curve."""
    points = np.asarray(x, np.float64)
    if points.ndim > 1 and points.ndim == curves.ndim:
        points = np.moveaxis(points, axis, -1)
    if points.shape not in (curves.shape, curves.shape[-1:]):
        raise ValueError(
            f"x: received the shape {points.shape}, which does not match the curves: "
            f"give {curves.shape[-1]} points, or an array of y's shape"
        )
    return np.broadcast_to(points, curves.shape)


def _check_logarithms(
    points: np.ndarray | None, curves: np.ndarray | None, goal: np.ndarray
) -> None:
    if points is not None and np.any(points <= 0):
        raise ValueError(f"x: received {points.min():.6g}, log_x needs points above zero")
    if curves is not None and np.any(curves < 0):
        raise ValueError(f"y: received {np.nanmin(curves):.6g}, log_y needs values from zero on")
    if curves is not None and np.any(goal <= 0):
        raise ValueError(f"level: received {goal.min():.6g}, log_y needs a level above zero")


def _at(table: np.ndarray, index: np.ndarray | np.integer) -> np.ndarray:
    return np.take_along_axis(table, np.asarray(index)[..., None], axis=-1)[..., 0]
