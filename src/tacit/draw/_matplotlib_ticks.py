"""Scale and ticks of Matplotlib's axes: as many as have room."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tacit.draw._axis import Axis
from tacit.draw._figure import Panel
from tacit.draw._matplotlib_page import size_of, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FINE = 1e8  # a log axis over a larger ratio has no room for minor ticks
_SIZE = 8.0  # of a tick's text, in points
_GAP = 4.0  # between two texts that stand side by side


def set_axis(axes: "Axes", name: str, axis: Axis, ends: tuple[float, float]) -> None:
    """Scale and ticks of an axis."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    # With this linscale Matplotlib's symlog is ours: a decade as long as the linear part.
    bend = {"linthresh": axis.threshold, "linscale": 0.9} if axis.scale == "symlog" else {}
    getattr(axes, f"set_{name}scale")(axis.scale, **bend)
    ruler = getattr(axes, f"{name}axis")
    _write(axes, name, axis.ticks_within(*ends))
    fine = axis.scale == "log" and axis.ticks is None and ends[1] / ends[0] < _FINE
    ruler.set_minor_locator(LogLocator(subs=range(2, 10)) if fine else NullLocator())
    ruler.set_minor_formatter(NullFormatter())


def fit_ticks(axes: "Axes", panel: Panel) -> None:
    """Fewer ticks where their texts would touch each other, for the axes as they are now."""
    for name, axis, ends in zip("xy", (panel.x, panel.y), panel.ranges(), strict=True):
        for most in (None, 6, 5, 4, 3, 2):
            ticks = axis.ticks_within(*ends, most=most)
            if not _crowded(axes, name, axis, ends, ticks):
                break
        _write(axes, name, ticks)


def _crowded(
    axes: "Axes", name: str, axis: Axis, ends: tuple[float, float], ticks: dict[float, str]
) -> bool:
    """Whether two texts come closer to each other than a gap."""
    length = size_of(axes)[0 if name == "x" else 1]
    low, high = axis.forward(np.array(ends))
    places = (axis.forward(np.array(list(ticks))) - low) / (high - low) * length
    shown = [(float(at), text) for at, text in zip(places, ticks.values(), strict=True) if text]
    if name == "y":
        return any(b - a < 1.15 * _SIZE for (a, _), (b, _) in pairwise(shown))
    sizes = [text_width(text, axes, _SIZE) for _, text in shown]
    gaps = zip(pairwise(shown), pairwise(sizes), strict=True)
    return any(b - a < sum(both) / 2 + _GAP for ((a, _), (b, _)), both in gaps)


def _write(axes: "Axes", name: str, ticks: dict[float, str]) -> None:
    # A tick's text cannot be told not to read TeX; an escaped dollar sign stays one.
    words = [text.replace("$", r"\$") for text in ticks.values()]
    getattr(axes, f"{name}axis").set_ticks(list(ticks), labels=words)
