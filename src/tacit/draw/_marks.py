"""What can be drawn in a panel: frozen records, checked when they are made.

Values that are NaN are missing and leave a gap. Values that the axes cannot show (infinite, or not
above zero on a log axis) are left out too, but counted: the panel says how many. What `hover` says
of the single points of a line or of points ("seed 3, converged") is shown on a page only.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit._doors import flag, text
from tacit.draw._axis import Axis, Floats
from tacit.draw._checks import (
    check_choice,
    check_fraction,
    check_increasing,
    check_lengths,
    check_positive,
    check_words,
    checked_array,
    checked_number,
    checked_texts,
)
from tacit.draw._palette import Colour, hex_of

STYLES = ("solid", "dashed", "dotted")
MARKERS = ("o", "s", "^", "D", "x")
ANCHORS = ("centre", "left", "right", "above", "below")


class Mark(ABC):
    """Something drawn in a panel. A new mark is a subclass here and a function in each renderer."""

    label: str | None

    @abstractmethod
    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """The points that must be seen, as two arrays; NaN where a mark has no such coordinate."""

    @property
    def legend_label(self) -> str | None:
        """The words in the legend, if any."""
        return self.label

    @property
    def look(self) -> tuple[object, ...]:
        """What a legend entry shows: marks that look and are called the same share one."""
        return self.legend_label, *self.appearance

    @property
    def appearance(self) -> tuple[object, ...]:
        """What it looks like, whatever it is called."""
        names = [f.name for f in fields(self) if f.kw_only]  # type: ignore[arg-type]
        shown = [name for name in names if name not in ("label", "hover")]
        return type(self), *(repr(getattr(self, name)) for name in shown)

    def left_out(self, x: Axis, y: Axis) -> tuple[int, int]:
        """How many values the axes cannot show: those not above zero, and infinite ones."""
        xs, ys = self.coordinates(x, y)
        infinite = np.isinf(xs) | np.isinf(ys)
        low = np.zeros_like(infinite)
        for values, axis in ((xs, x), (ys, y)):
            low |= (values <= 0) & (axis.scale == "log")
        return int((low & ~infinite).sum()), int(infinite.sum())

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Line(Mark):
    """Points joined in the order given; NaN in `x` or `y` breaks the line."""

    x: ArrayLike
    y: ArrayLike
    _: KW_ONLY
    label: str | None = None
    colour: Colour = 0
    style: str = "solid"
    marker: str | None = None
    width: float | int = 1.6
    opacity: float | int = 1.0
    hover: Sequence[str] | None = None

    def __post_init__(self) -> None:
        x, y = checked_array("Line", "x", self.x), checked_array("Line", "y", self.y)
        check_lengths("Line", x=x, y=y)
        hex_of(self.colour, owner="Line")
        check_words("Line", label=self.label)
        check_choice("Line", "style", self.style, STYLES)
        check_choice("Line", "marker", self.marker, (None, *MARKERS))
        check_positive("Line", "width", self.width)
        check_fraction("Line", "opacity", self.opacity)
        self._set(x=x, y=y, hover=checked_texts("Line", "hover", self.hover, len(x)))

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """The points of the line."""
        return _present(self.x, self.y)


@dataclass(frozen=True, eq=False)
class Points(Mark):
    """Separate points; `filled=False` draws outlines (theory, or lanes that did not converge)."""

    x: ArrayLike
    y: ArrayLike
    _: KW_ONLY
    label: str | None = None
    colour: Colour = 0
    marker: str = "o"
    filled: bool = True
    size: float | int = 5.0
    opacity: float | int = 1.0
    hover: Sequence[str] | None = None

    def __post_init__(self) -> None:
        x, y = checked_array("Points", "x", self.x), checked_array("Points", "y", self.y)
        check_lengths("Points", x=x, y=y)
        hex_of(self.colour, owner="Points")
        check_words("Points", label=self.label)
        check_choice("Points", "marker", self.marker, MARKERS)
        flag("Points.filled", self.filled)
        check_positive("Points", "size", self.size)
        check_fraction("Points", "opacity", self.opacity)
        self._set(x=x, y=y, hover=checked_texts("Points", "hover", self.hover, len(x)))

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """The points."""
        return _present(self.x, self.y)


@dataclass(frozen=True, eq=False)
class Band(Mark):
    """The region between `low` and `high` over ascending `x`, such as the spread over seeds."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    _: KW_ONLY
    label: str | None = None
    colour: Colour = 0

    def __post_init__(self) -> None:
        x, low, high = (checked_array("Band", n, getattr(self, n)) for n in ("x", "low", "high"))
        check_lengths("Band", x=x, low=low, high=high)
        check_increasing("Band", "x", x, strictly=False)
        if (low > high).any():
            first = int(np.argmax(low > high))
            raise ValueError(
                f"Band.low: received low[{first}] = {low[first]:g} above high[{first}] = "
                f"{high[first]:g}, it must not exceed high; swap them"
            )
        hex_of(self.colour, owner="Band")
        check_words("Band", label=self.label)
        self._set(x=x, low=low, high=high)

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """The points of both edges."""
        return _present(np.tile(np.asarray(self.x), 2), np.concatenate([self.low, self.high]))


@dataclass(frozen=True, eq=False)
class VerticalRule(Mark):
    """A thin line across the panel at one x."""

    x: SupportsFloat
    _: KW_ONLY
    label: str | None = None
    colour: Colour = "reference"
    style: str = "dashed"

    def __post_init__(self) -> None:
        hex_of(self.colour, owner="VerticalRule")
        check_words("VerticalRule", label=self.label)
        check_choice("VerticalRule", "style", self.style, STYLES)
        self._set(x=checked_number("VerticalRule", "x", self.x))

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """Its one x."""
        return np.array([float(self.x)]), np.array([np.nan])


@dataclass(frozen=True, eq=False)
class HorizontalRule(Mark):
    """A thin line across the panel at one y."""

    y: SupportsFloat
    _: KW_ONLY
    label: str | None = None
    colour: Colour = "reference"
    style: str = "dashed"

    def __post_init__(self) -> None:
        hex_of(self.colour, owner="HorizontalRule")
        check_words("HorizontalRule", label=self.label)
        check_choice("HorizontalRule", "style", self.style, STYLES)
        self._set(y=checked_number("HorizontalRule", "y", self.y))

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """Its one y."""
        return np.array([np.nan]), np.array([float(self.y)])


@dataclass(frozen=True, eq=False)
class Text(Mark):
    """A few words standing at, or `anchor` of, a point: "above" puts them above it."""

    x: SupportsFloat
    y: SupportsFloat
    text: str
    _: KW_ONLY
    anchor: str = "centre"
    colour: Colour = "ink"

    def __post_init__(self) -> None:
        hex_of(self.colour, owner="Text")
        text("Text.text", self.text)
        check_choice("Text", "anchor", self.anchor, ANCHORS)
        x, y = checked_number("Text", "x", self.x), checked_number("Text", "y", self.y)
        self._set(x=x, y=y)

    @property
    def legend_label(self) -> None:
        """Text speaks for itself."""
        return None

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """The point that it is anchored to."""
        return np.array([float(self.x)]), np.array([float(self.y)])


def _present(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The pairs of which neither part is missing."""
    xs, ys = np.asarray(x), np.asarray(y)
    kept: NDArray[np.bool_] = ~(np.isnan(xs) | np.isnan(ys))
    return xs[kept], ys[kept]
