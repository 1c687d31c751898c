"""A heatmap: coloured cells, with cells that have no value drawn as such."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit._doors import flag, text
from tacit.draw._axis import Axis, Floats
from tacit.draw._checks import (
    check_choice,
    check_increasing,
    check_listed,
    checked_array,
    checked_number,
)
from tacit.draw._marks import Mark
from tacit.draw._palette import DIVERGING, SEQUENTIAL


@dataclass(frozen=True, eq=False)
class Heatmap(Mark):
    """Cells coloured by `z[row, column]` around the centres `y[row]` and `x[column]`.

    Cells that are NaN or infinite, or not above zero on a log scale, are hatched as "no value".

    **Arguments**
    - `x`, `y`: ascending centres. Name categories through the axis: `ticks={0: "GRU", 1: "LSTM"}`.
    - `label`: what the colours mean, written beside the colour bar.
    - `scale`: "linear" or "log", of the colours.
    - `limits`: ends of the colours, either may be None; values beyond them take the end colour.
    - `centre`: colours diverge, equally to both sides (in ratio on a log scale), from this value.
    - `annotate`: write each value into its cell.
    """

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike
    _: KW_ONLY
    label: str
    scale: str = "linear"
    limits: Sequence[SupportsFloat | None] | None = None
    centre: SupportsFloat | None = None
    annotate: bool = False

    def __post_init__(self) -> None:
        x, y = checked_array("Heatmap", "x", self.x), checked_array("Heatmap", "y", self.y)
        z = checked_array("Heatmap", "z", self.z, ndim=2)
        if z.shape != (len(y), len(x)) or not z.size:
            raise ValueError(
                f"Heatmap.z: received {z.shape}, it must have shape (len(y), len(x)) = ({len(y)}, "
                f"{len(x)}) with at least one cell; transpose it, or pass the centres of its cells"
            )
        check_increasing("Heatmap", "x", x, strictly=True)
        check_increasing("Heatmap", "y", y, strictly=True)
        text("Heatmap.label", self.label)
        flag("Heatmap.annotate", self.annotate)
        check_listed("Heatmap", "limits", self.limits)
        check_choice("Heatmap", "scale", self.scale, ("linear", "log"))
        if self.limits is not None and len(self.limits) != 2:
            raise ValueError(f"Heatmap.limits: received {self.limits}, they must be two ends")
        chosen = {"limits": [end for end in self.limits or () if end is not None]}
        chosen["centre"] = [] if self.centre is None else [self.centre]
        for name, values in chosen.items():
            array = np.array([checked_number("Heatmap", name, value) for value in values])
            check_increasing("Heatmap", name, array, strictly=True)
            if self.scale == "log" and (array <= 0).any():
                raise ValueError(
                    f"Heatmap.{name}: received {values}, it must be above 0 on a log scale"
                )
        self._set(x=x, y=y, z=z)

    @property
    def colour_axis(self) -> Axis:
        """The colour bar as an axis: its scale and limits do the arithmetic."""
        return Axis(self.label, scale=self.scale, limits=self.limits)

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Which cells can be coloured."""
        return self.colour_axis.showable(np.asarray(self.z))

    @property
    def legend_label(self) -> str | None:
        """Named only if there are cells without a value."""
        return None if self.has_value.all() else "no value"

    @property
    def appearance(self) -> tuple[object, ...]:
        """Cells without a value look the same in every map."""
        return (type(self),)

    @property
    def stops(self) -> tuple[str, ...]:
        """The colours, evenly spaced from the low to the high end."""
        return SEQUENTIAL if self.centre is None else DIVERGING

    def colour_range(self) -> tuple[float, float]:
        """The values at the two ends of the colours."""
        axis = self.colour_axis
        low, high = axis.span(np.asarray(self.z)[self.has_value], padded=False)
        if self.centre is None:
            return low, high
        middle, ends = axis.forward(float(self.centre)), axis.forward(np.array([low, high]))
        reach = float(np.abs(ends - middle).max())
        balanced = axis.backward(np.array([middle - reach, middle + reach]))
        return float(balanced[0]), float(balanced[1])

    def places(self) -> Floats:
        """Each cell's place in [0, 1] along the colours; NaN where it has no value."""
        axis, (low, high) = self.colour_axis, self.colour_range()
        first, last = axis.forward(low), axis.forward(high)
        return np.clip((axis.forward(np.asarray(self.z)) - first) / (last - first), 0, 1)

    def coordinates(self, x: Axis, y: Axis) -> tuple[Floats, Floats]:
        """Two opposite corners of the whole map."""
        return x.edges(np.asarray(self.x))[[0, -1]], y.edges(np.asarray(self.y))[[0, -1]]

    def left_out(self, x: Axis, y: Axis) -> tuple[int, int]:
        """Cells whose value the colours cannot show."""
        z = np.asarray(self.z)
        infinite = np.isinf(z)
        low = (z <= 0) & ~infinite & (self.scale == "log")
        return int(low.sum()), int(infinite.sum())
