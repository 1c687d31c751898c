"""How Matplotlib draws each mark: one small function a mark, in the table `DRAW` at the end."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.draw._axis import Floats, number_text
from tacit.draw._figure import Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Points, Text, VerticalRule
from tacit.draw._matplotlib_maps import NUMBER, SIZES
from tacit.draw._palette import HATCH, NO_VALUE, PAPER, blend, hex_of, readable_on

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Layers from the back to the front.
CELLS, FILLS, RULES, LINES, POINTS, WORDS = 1.0, 1.5, 2.0, 2.5, 3.0, 4.0

BAND_OPACITY = 0.16
_DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (4.5, 2.2)), "dotted": (0, (1.2, 1.8))}
_MANY_CELLS = 2_500  # beyond this a vector file of single cells is too heavy
_RULE = 1.0  # points
_BEADS = 15  # markers on a line of more than twice as many points, which would hide it
_TILES = 600  # up to this cells are set apart by thin white lines


def _line(mark: Line, panel: Panel, axes: "Axes") -> "Artist":
    x, y = _shown(panel, mark.x, mark.y)
    (artist,) = axes.plot(
        x,
        y,
        color=hex_of(mark.colour),
        linestyle=_DASHES[mark.style],
        linewidth=mark.width,
        alpha=mark.opacity,
        solid_capstyle="round",
        solid_joinstyle="round",
        zorder=LINES,
        path_effects=_rim(panel, mark.width),
        markevery=max(1, -(-len(x) // _BEADS)) if len(x) > 2 * _BEADS else None,
        **_marker(mark.marker, hex_of(mark.colour), 4.5, filled=True),
    )
    return artist


def _points(mark: Points, panel: Panel, axes: "Axes") -> "Artist":
    x, y = _shown(panel, mark.x, mark.y)
    (artist,) = axes.plot(
        x,
        y,
        linestyle="none",
        alpha=mark.opacity,
        zorder=POINTS,
        **_marker(mark.marker, hex_of(mark.colour), mark.size, filled=mark.filled),
    )
    return artist


def _band(mark: Band, panel: Panel, axes: "Axes") -> "Artist":
    low, high = np.asarray(mark.low), np.asarray(mark.high)
    whole = panel.x.showable(mark.x) & panel.y.showable(low) & panel.y.showable(high)
    low, high = np.where(whole, low, np.nan), np.where(whole, high, np.nan)
    x = np.where(panel.x.showable(mark.x), mark.x, np.nan)
    return axes.fill_between(
        x, low, high, color=hex_of(mark.colour), alpha=BAND_OPACITY, linewidth=0, zorder=FILLS
    )


def _vertical_rule(mark: VerticalRule, panel: Panel, axes: "Axes") -> "Artist":
    x = float(mark.x) if panel.x.showable(float(mark.x)) else np.nan
    return axes.axvline(x, path_effects=_rim(panel, _RULE), **_rule(mark))


def _horizontal_rule(mark: HorizontalRule, panel: Panel, axes: "Axes") -> "Artist":
    y = float(mark.y) if panel.y.showable(float(mark.y)) else np.nan
    return axes.axhline(y, path_effects=_rim(panel, _RULE), **_rule(mark))


def _text(mark: Text, panel: Panel, axes: "Axes") -> "Artist":
    from matplotlib.patheffects import withStroke

    across = {"left": ("right", -4), "right": ("left", 4)}.get(mark.anchor, ("center", 0))
    up = {"above": ("bottom", 4), "below": ("top", -4)}.get(mark.anchor, ("center", 0))
    x, y = _shown(panel, [float(mark.x)], [float(mark.y)])
    return axes.annotate(
        mark.text,
        (x[0], y[0]),
        xytext=(across[1], up[1]),
        textcoords="offset points",
        ha=across[0],
        va=up[0],
        color=hex_of(mark.colour),
        fontsize=8.5,
        zorder=WORDS,
        parse_math=False,
        path_effects=[withStroke(linewidth=2.0, foreground=PAPER)],
    )


def _heatmap(mark: Heatmap, panel: Panel, axes: "Axes") -> "Artist":
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
    from matplotlib.patches import Patch

    z = np.asarray(mark.z)
    known, (low, high) = mark.has_value, mark.colour_range()
    x, y = panel.x.edges(np.asarray(mark.x)), panel.y.edges(np.asarray(mark.y))
    norm = LogNorm(low, high) if mark.scale == "log" else Normalize(low, high)
    axes.pcolormesh(
        x,
        y,
        np.ma.array(z, mask=~known),
        cmap=LinearSegmentedColormap.from_list("tacit", mark.stops),
        norm=norm,
        edgecolors=PAPER if z.size <= _TILES else "none",
        linewidth=0.6 if z.size <= _TILES else 0.0,
        rasterized=z.size > _MANY_CELLS,
        zorder=CELLS,
    )
    missing: dict[str, Any] = {"facecolor": NO_VALUE, "edgecolor": HATCH, "hatch": "////"}
    for row, column in np.argwhere(~known):
        _cell(axes, x[column : column + 2], y[row : row + 2], missing)
    if mark.annotate:
        places = mark.places()
        for row, column in np.argwhere(known):
            axes.text(
                np.asarray(mark.x)[column],
                np.asarray(mark.y)[row],
                number_text(z[row, column], 3),
                color=readable_on(blend(mark.stops, places[row, column])),
                ha="center",
                va="center",
                fontsize=SIZES[0],
                gid=NUMBER,
                zorder=WORDS,
                clip_on=True,
            )
    return Patch(linewidth=0.0, **missing)


def _cell(axes: "Axes", x: Floats, y: Floats, look: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    size = (x[1] - x[0], y[1] - y[0])
    axes.add_patch(Rectangle((x[0], y[0]), *size, linewidth=0.0, zorder=CELLS, **look))


def _rule(mark: VerticalRule | HorizontalRule) -> dict[str, Any]:
    look = {"color": hex_of(mark.colour), "linestyle": _DASHES[mark.style]}
    return {**look, "linewidth": _RULE, "zorder": RULES}


def _rim(panel: Panel, width: float) -> list[Any] | None:
    """A white rim for lines on a heatmap, where no colour stands out from all cells."""
    if not panel.heatmaps:
        return None
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=width + 1.6, foreground=PAPER), Normal()]


def _marker(marker: str | None, colour: str, size: float, *, filled: bool) -> dict[str, Any]:
    if marker is None:
        return {"marker": "none"}
    solid = filled and marker != "x"
    return {
        "marker": marker,
        "markersize": size,
        "markerfacecolor": colour if solid else "none",
        # A white rim keeps filled points apart where they meet.
        "markeredgecolor": PAPER if solid else colour,
        "markeredgewidth": 0.5 if solid else 1.2,
    }


def _shown(panel: Panel, x: Any, y: Any) -> tuple[Floats, Floats]:
    """The coordinates, NaN where the axes cannot show the point."""
    kept = panel.x.showable(x) & panel.y.showable(y)
    return np.where(kept, x, np.nan), np.where(kept, y, np.nan)


DRAW: dict[type[Mark], Callable[[Any, Panel, "Axes"], "Artist"]] = {
    Line: _line,
    Points: _points,
    Band: _band,
    VerticalRule: _vertical_rule,
    HorizontalRule: _horizontal_rule,
    Heatmap: _heatmap,
    Text: _text,
}
"""Draws a mark and returns what stands for it in a legend."""
