"""Where a legend can stand without hiding data: the same answer for both renderers.

Everything is in fractions of the axes: (0, 0) is the lower left corner, (1, 1) the upper right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.draw._axis import Floats
from tacit.draw._figure import Panel
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Text, VerticalRule

MARGIN = 0.025  # between a legend and the data, and between a legend and the frame
_LARGEST = 0.62  # a legend wider or higher than this stands below
_STEP = 0.01  # lines are seen as points this far apart
_MOST = 200_000  # points that one line may stand for
_GLYPH = 0.6  # width of a character over the size of its type, about
_INSIDE = np.linspace(0, 1, 9)


@dataclass(frozen=True)
class Corner:
    """A place inside the axes: `x` and `y` are fractions, 0, 0.5 or 1, of legend and axes alike."""

    x: float
    y: float

    def box(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a legend of this size standing here."""
        left = MARGIN + self.x * (1 - 2 * MARGIN - width)
        bottom = MARGIN + self.y * (1 - 2 * MARGIN - height)
        return left, bottom, left + width, bottom + height


_CORNERS = [
    Corner(x, y)
    for x, y in ((1, 1), (0, 1), (1, 0), (0, 0), (1, 0.5), (0, 0.5), (0.5, 1), (0.5, 0))
]


def free_corner(
    panel: Panel, size: tuple[float, float], axes: tuple[float, float]
) -> Corner | None:
    """The first place where a legend of `size` hides nothing; None if it must stand outside.

    `size` and `axes` are (width, height) of the legend and of the axes, in points.
    """
    width, height = size[0] / axes[0], size[1] / axes[1]
    if panel.legend == "outside" or panel.heatmaps or max(width, height) > _LARGEST:
        return None
    taken = obstacles(panel, axes)
    for corner in _CORNERS:
        left, bottom, right, top = corner.box(width, height)
        hidden = (taken[:, 0] > left - MARGIN) & (taken[:, 0] < right + MARGIN)
        hidden &= (taken[:, 1] > bottom - MARGIN) & (taken[:, 1] < top + MARGIN)
        if not hidden.any():
            return corner
    return None


def columns_for(count: int, entry: float, room: float) -> int:
    """Columns for `count` entries of width `entry` in `room`, with even rows."""
    most = max(1, min(count, int(room // entry)))
    rows = -(-count // most)
    return -(-count // rows)


def obstacles(panel: Panel, axes: tuple[float, float]) -> Floats:
    """Points, as rows (x, y), that stand for everything drawn in the panel."""
    frame = _Frame(panel, axes)
    found = [_OCCUPIES.get(type(mark), _at_points)(mark, frame) for mark in panel.marks]
    points = np.concatenate([np.empty((0, 2)), *found])
    return points[np.isfinite(points).all(axis=1)]


class _Frame:
    """Values to fractions of the axes."""

    def __init__(self, panel: Panel, axes: tuple[float, float]) -> None:
        self.panel, self.axes = panel, axes
        xs, ys = panel.ranges()
        self._x, self._y = panel.x.forward(np.array(xs)), panel.y.forward(np.array(ys))

    def x(self, values: Any) -> Floats:
        return (self.panel.x.forward(values) - self._x[0]) / (self._x[1] - self._x[0])

    def y(self, values: Any) -> Floats:
        return (self.panel.y.forward(values) - self._y[0]) / (self._y[1] - self._y[0])


def _at_points(mark: Mark, frame: _Frame) -> Floats:
    xs, ys = mark.coordinates(frame.panel.x, frame.panel.y)
    return np.column_stack([frame.x(xs), frame.y(ys)])


def _along(mark: Line, frame: _Frame) -> Floats:
    # Far outside the axes the exact place does not matter, only that steps stay bounded.
    points = np.clip(np.column_stack([frame.x(mark.x), frame.y(mark.y)]), -1, 2)
    if len(points) < 2:
        return points
    steps = np.abs(np.diff(points, axis=0)).max(axis=1)
    longest = float(steps[np.isfinite(steps)].max(initial=0.0))
    count = min(int(longest / _STEP) + 2, max(2, _MOST // len(points)))
    parts = np.linspace(0, 1, count)[:, None, None]
    return (points[:-1] + parts * (points[1:] - points[:-1])).reshape(-1, 2)


def _between(mark: Band, frame: _Frame) -> Floats:
    x, low, high = frame.x(mark.x), frame.y(mark.low), frame.y(mark.high)
    rows = [low + part * (high - low) for part in _INSIDE]
    # Joining along x as well as across keeps wide steps from leaving holes.
    strands = [np.column_stack([x, row]) for row in rows]
    middles = [(strand[:-1] + strand[1:]) / 2 for strand in strands]
    return np.concatenate([*strands, *middles])


def _up(mark: VerticalRule, frame: _Frame) -> Floats:
    ys = np.linspace(0, 1, 50)
    return np.column_stack([np.full_like(ys, frame.x(float(mark.x))), ys])


def _across(mark: HorizontalRule, frame: _Frame) -> Floats:
    xs = np.linspace(0, 1, 50)
    return np.column_stack([xs, np.full_like(xs, frame.y(float(mark.y)))])


def _under_words(mark: Text, frame: _Frame, *, points: float = 9.0) -> Floats:
    width = _GLYPH * points * max(map(len, mark.text.splitlines()), default=0) / frame.axes[0]
    height = 1.4 * points * (mark.text.count("\n") + 1) / frame.axes[1]
    across = {"left": -1.0, "right": 0.0}.get(mark.anchor, -0.5)
    up = {"above": 0.0, "below": -1.0}.get(mark.anchor, -0.5)
    x = float(frame.x(float(mark.x))) + width * (across + _INSIDE)
    y = float(frame.y(float(mark.y))) + height * (up + _INSIDE)
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


_OCCUPIES: dict[type[Mark], Callable[[Any, _Frame], Floats]] = {
    Line: _along,
    Band: _between,
    VerticalRule: _up,
    HorizontalRule: _across,
    Text: _under_words,
}
