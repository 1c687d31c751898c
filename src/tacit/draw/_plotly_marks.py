"""How Plotly draws each mark: one small function for each mark, in the table `DRAW` at the end.

Plotly has no symmetric log axis and no logarithmic colours. There positions and colours are bent
here, and the values themselves travel along as `customdata`, which is what hovering shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeAlias

import numpy as np

from tacit.draw._axis import Axis, Floats, number_text
from tacit.draw._figure import Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Points, Text, VerticalRule
from tacit.draw._palette import HATCH, NO_VALUE, PAPER, hex_of, translucent
from tacit.draw._plotly_page import LABEL, lines

Entry: TypeAlias = dict[str, Any]

BAND_OPACITY = 0.16
_PIXEL = 96 / 72  # a point in pixels
_DASHES = {"solid": "solid", "dashed": "6px,3px", "dotted": "2px,3px"}
_SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "x": "x-thin"}
_TILES = 600  # up to this cells are set apart by thin white lines


@dataclass
class Canvas:
    """What has been drawn so far in one panel, as Plotly's plain dictionaries."""

    panel: Panel
    number: str  # Plotly's suffix of the axes: "" for the first panel, then "2", "3", ...
    bar: dict[str, Any] = field(default_factory=dict)  # where a colour bar stands
    traces: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)

    @property
    def axes(self) -> dict[str, str]:
        """The names of the axes, as a trace refers to them."""
        return {"xaxis": f"x{self.number}", "yaxis": f"y{self.number}"}

    def place(self, axis: Axis, values: Any) -> Floats:
        """Values as Plotly takes them; NaN where the axis cannot show them."""
        array = np.asarray(values, dtype=np.float64)
        if axis.scale == "symlog":
            return axis.forward(array)
        return np.where(axis.showable(array), array, np.nan)

    def scatter(
        self, x: Any, y: Any, words: Sequence[str] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Add a trace of points in data units, with words to hover over, and return it."""
        panel = self.panel
        kept = panel.x.showable(x) & panel.y.showable(y)
        trace: dict[str, Any] = {
            "type": "scatter",
            "x": np.where(kept, self.place(panel.x, x), np.nan),
            "y": np.where(kept, self.place(panel.y, y), np.nan),
            "hovertemplate": "%{x:.4g}, %{y:.4g}",
        }
        if "symlog" in (panel.x.scale, panel.y.scale):
            trace["customdata"] = np.column_stack([x, y])
            trace["hovertemplate"] = "%{customdata[0]:.4g}, %{customdata[1]:.4g}"
        if words is not None:
            trace["text"] = [plain(word) for word in words]
            trace["hovertemplate"] += "<br>%{text}"
        trace.update(self.axes, **options)
        self.traces.append(trace)
        return trace

    def shape(self, **options: Any) -> dict[str, Any]:
        """Add a shape, and return it."""
        self.shapes.append(options)
        return options


def _line(mark: Line, canvas: Canvas) -> Entry:
    colour = hex_of(mark.colour)
    return canvas.scatter(
        mark.x,
        mark.y,
        mark.hover,
        mode="lines" if mark.marker is None else "lines+markers",
        line={"color": colour, "width": mark.width * _PIXEL, "dash": _DASHES[mark.style]},
        marker=_marker(mark.marker or "o", colour, 4.5, filled=True),
        opacity=mark.opacity,
        connectgaps=False,
    )


def _points(mark: Points, canvas: Canvas) -> Entry:
    marker = _marker(mark.marker, hex_of(mark.colour), mark.size, filled=mark.filled)
    look = {"mode": "markers", "marker": marker, "opacity": mark.opacity}
    return canvas.scatter(mark.x, mark.y, mark.hover, **look)


def _band(mark: Band, canvas: Canvas) -> Entry:
    x, low, high = (np.asarray(part) for part in (mark.x, mark.low, mark.high))
    panel = canvas.panel
    whole = panel.x.showable(x) & panel.y.showable(low) & panel.y.showable(high)
    # One closed outline for each unbroken stretch, with gaps between them.
    xs, ys = [np.empty(0)], [np.empty(0)]
    for run in np.split(np.arange(len(x)), np.flatnonzero(np.diff(whole)) + 1):
        if len(run) and whole[run[0]]:
            xs += [x[run], x[run[::-1]], x[run[:1]], np.array([np.nan])]
            ys += [low[run], high[run[::-1]], low[run[:1]], np.array([np.nan])]
    return canvas.scatter(
        np.concatenate(xs)[:-1],
        np.concatenate(ys)[:-1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=translucent(hex_of(mark.colour), BAND_OPACITY),
        hoverinfo="skip",
        hovertemplate=None,
    )


def _vertical_rule(mark: VerticalRule, canvas: Canvas) -> Entry | None:
    (x,) = canvas.place(canvas.panel.x, [float(mark.x)])
    if not np.isfinite(x):
        return None
    ends = {"x0": x, "x1": x, "xref": canvas.axes["xaxis"]}
    return canvas.shape(**ends, y0=0, y1=1, yref=f"{canvas.axes['yaxis']} domain", **_rule(mark))


def _horizontal_rule(mark: HorizontalRule, canvas: Canvas) -> Entry | None:
    (y,) = canvas.place(canvas.panel.y, [float(mark.y)])
    if not np.isfinite(y):
        return None
    ends = {"y0": y, "y1": y, "yref": canvas.axes["yaxis"]}
    return canvas.shape(**ends, x0=0, x1=1, xref=f"{canvas.axes['xaxis']} domain", **_rule(mark))


def _text(mark: Text, canvas: Canvas) -> Entry | None:
    panel = canvas.panel
    # Unlike every other part of Plotly, annotations want logarithms on a log axis.
    x, y = float(panel.x.forward(float(mark.x))), float(panel.y.forward(float(mark.y)))
    if not np.isfinite([x, y]).all():
        return None
    across = {"left": ("right", -5), "right": ("left", 5)}.get(mark.anchor, ("center", 0))
    up = {"above": ("bottom", 5), "below": ("top", -5)}.get(mark.anchor, ("middle", 0))
    canvas.annotations.append(
        {
            "x": x,
            "y": y,
            "xref": canvas.axes["xaxis"],
            "yref": canvas.axes["yaxis"],
            "text": plain(mark.text),
            "showarrow": False,
            "xanchor": across[0],
            "yanchor": up[0],
            "xshift": across[1],
            "yshift": up[1],
            "font": {"color": hex_of(mark.colour), "size": 12},
        }
    )
    return None


def _heatmap(mark: Heatmap, canvas: Canvas) -> Entry | None:
    panel, axis = canvas.panel, mark.colour_axis
    z, known = np.asarray(mark.z), mark.has_value
    low, high = mark.colour_range()
    x, y = panel.x.edges(np.asarray(mark.x)), panel.y.edges(np.asarray(mark.y))
    centres = np.meshgrid(np.asarray(mark.x), np.asarray(mark.y))
    texts = np.array([[number_text(v, 3) if np.isfinite(v) else "" for v in row] for row in z])
    ticks = axis.ticks_within(low, high)
    label = "\n".join(lines(mark.label, canvas.bar["len"], LABEL))
    canvas.traces.append(
        {
            "type": "heatmap",
            "x": canvas.place(panel.x, x),
            "y": canvas.place(panel.y, y),
            "z": np.where(known, axis.forward(z), np.nan),
            "customdata": np.stack([*centres, z], axis=-1),
            "zmin": float(axis.forward(low)),
            "zmax": float(axis.forward(high)),
            "colorscale": [[n / (len(mark.stops) - 1), c] for n, c in enumerate(mark.stops)],
            "colorbar": {
                **canvas.bar,
                "title": {"text": plain(label), "side": "right"},
                "tickvals": axis.forward(np.array(list(ticks))),
                "ticktext": [plain(text) for text in ticks.values()],
            },
            "text": texts if mark.annotate else None,
            "texttemplate": "%{text}" if mark.annotate else None,
            "hoverongaps": False,
            "hovertemplate": "%{customdata[0]:.4g}, %{customdata[1]:.4g}: "
            "<b>%{customdata[2]:.4g}</b><extra></extra>",
            "xgap": 1 if z.size <= _TILES else 0,
            "ygap": 1 if z.size <= _TILES else 0,
            **canvas.axes,
        }
    )
    return None if known.all() else _cells_without_value(x, y, known, canvas)


def _cells_without_value(x: Floats, y: Floats, known: Any, canvas: Canvas) -> Entry:
    corners = [(x[c : c + 2], y[r : r + 2]) for r, c in np.argwhere(~known)]
    # Five corners close a cell, and NaN keeps it apart from the next.
    xs = [[a[0], a[1], a[1], a[0], a[0], np.nan] for a, _ in corners]
    ys = [[b[0], b[0], b[1], b[1], b[0], np.nan] for _, b in corners]
    return canvas.scatter(
        np.ravel(xs)[:-1],
        np.ravel(ys)[:-1],
        mode="lines",
        line={"width": 1, "color": PAPER},
        fill="toself",
        fillcolor=NO_VALUE,
        fillpattern={
            "shape": "/",
            "fgcolor": HATCH,
            "bgcolor": NO_VALUE,
            "size": 6,
            "solidity": 0.2,
        },
        hoverinfo="skip",
        hovertemplate=None,
    )


def _rule(mark: VerticalRule | HorizontalRule) -> dict[str, Any]:
    look = {"color": hex_of(mark.colour), "width": _PIXEL, "dash": _DASHES[mark.style]}
    return {"type": "line", "line": look, "layer": "above"}


def _marker(marker: str, colour: str, size: float, *, filled: bool) -> dict[str, Any]:
    solid = filled and marker != "x"
    return {
        "symbol": _SYMBOLS[marker] + ("" if solid or marker == "x" else "-open"),
        "size": size * _PIXEL,
        "color": colour,
        "line": {"color": PAPER if solid else colour, "width": 0.7 if solid else 1.6},
    }


def plain(text: str) -> str:
    """Text that Plotly shows as it is: it reads tags, entities and, between dollars, TeX."""
    return escape(text, quote=False).replace("$", "&#36;").replace("\n", "<br>")


DRAW: dict[type[Mark], Callable[[Any, Canvas], Entry | None]] = {
    Line: _line,
    Points: _points,
    Band: _band,
    VerticalRule: _vertical_rule,
    HorizontalRule: _horizontal_rule,
    Heatmap: _heatmap,
    Text: _text,
}
"""Adds a mark to a canvas and returns the trace or shape that stands for it in a legend."""
