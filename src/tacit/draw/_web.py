"""A figure for a page that lays it out itself: each panel as a plot of its own, and one key.

The plots are Plotly's dictionaries, made without Plotly. A page can set them in as many columns as
it has room for, and switch a series off in all panels at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit._doors import door, instance
from tacit.draw._axis import Axis
from tacit.draw._figure import Figure, Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._key import key_marks, own_marks
from tacit.draw._marks import Mark
from tacit.draw._palette import GRID, ROLES, SPINE
from tacit.draw._plotly import FONT, axis_look
from tacit.draw._plotly_marks import DRAW, Canvas, plain
from tacit.draw._swatch import swatch

_ROOM = 220  # pixels for the words along a y axis
_CLEAR = "rgba(0, 0, 0, 0)"


@dataclass(frozen=True)
class KeyEntry:
    """One series of a key: its number on the page, its label, and a sample as SVG."""

    series: int
    label: str
    sample: str


@dataclass(frozen=True)
class WebPanel:
    """One panel: `plot` is for `Plotly.newPlot`, `key` is what the page's own key does not say.

    `alt` says in words what the plot shows.
    """

    letter: str
    title: str
    note: str
    alt: str
    plot: dict[str, Any]
    key: tuple[KeyEntry, ...]


@door(answer="any", figure=instance(Figure))
def to_web(figure: Figure) -> tuple[list[WebPanel], list[KeyEntry]]:
    """The panels in their order, and the key that they share."""
    numbers: dict[object, int] = {}
    for panel in figure.panels:
        for mark in panel.legend_marks():
            numbers.setdefault(mark.look, len(numbers))

    def entry(mark: Mark) -> KeyEntry:
        return KeyEntry(numbers[mark.look], mark.legend_label or "", swatch(mark))

    panels = [
        WebPanel(
            letter=figure.letter(place),
            title=panel.title,
            note=panel.full_note(),
            alt=_in_words(panel),
            plot=_plot(panel, numbers),
            key=tuple(map(entry, own_marks(figure, panel))),
        )
        for place, panel in enumerate(figure.panels)
    ]
    return panels, [entry(mark) for mark in key_marks(figure)]


def _plot(panel: Panel, numbers: dict[object, int]) -> dict[str, Any]:
    bar = {"len": _ROOM, "thickness": 11, "outlinewidth": 0, "xpad": 4, "tickfont": {"size": 11}}
    canvas = Canvas(panel, "", bar)
    series: dict[str, list[int | None]] = {"data": [], "shapes": []}
    for place, mark in enumerate(panel.marks):
        DRAW[type(mark)](mark, canvas)
        number = _series_of(place, panel, numbers)
        series["data"] += [number] * (len(canvas.traces) - len(series["data"]))
        series["shapes"] += [number] * (len(canvas.shapes) - len(series["shapes"]))
        for trace in canvas.traces[-1:] if not isinstance(mark, Heatmap) else ():
            if trace.get("hovertemplate") and "<extra>" not in trace["hovertemplate"]:
                trace["hovertemplate"] += (
                    f"<extra>{plain(getattr(mark, 'label', '') or '')}</extra>"
                )
    ends = panel.ranges()
    bare = {"showgrid": False, "showline": False} if panel.heatmaps else {}
    layout = {
        "template": "none",
        "autosize": True,
        "margin": {"l": 46, "r": 12, "t": 8, "b": 40},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"family": FONT, "size": 12, "color": ROLES["ink"]},
        "hovermode": "closest",
        "showlegend": False,
        "shapes": [{**shape, "showlegend": False} for shape in canvas.shapes],
        "annotations": canvas.annotations,
        "xaxis": {**_axis(panel.x, panel.x.label, ends[0], 420), **bare},
        "yaxis": {**_axis(panel.y, panel.y_label, ends[1], _ROOM), **bare},
    }
    if panel.empty:
        layout["annotations"] = [_nothing()]
    traces = [{**trace, "showlegend": False} for trace in canvas.traces]
    for trace in traces:
        if "colorbar" in trace:  # as long as the axes, however high the page makes them
            trace["colorbar"] = {**trace["colorbar"], "len": 1, "lenmode": "fraction"}
    return {"data": _numbers(traces), "layout": _numbers(layout), "series": series}


def _axis(axis: Axis, label: str, ends: tuple[float, float], room: float) -> dict[str, Any]:
    look = axis_look(axis, label, ends, room)
    look |= {"automargin": True, "gridcolor": GRID, "linecolor": SPINE}
    if axis.scale == "log" and axis.ticks is None:
        # Ticks that follow when somebody zooms in.
        look = {name: value for name, value in look.items() if name not in ("tickvals", "ticktext")}
        look |= {"nticks": 6}
    return look


def _series_of(place: int, panel: Panel, numbers: dict[object, int]) -> int | None:
    """The series that a mark is switched with: a band without a label goes with its line."""
    mark = panel.marks[place]
    if mark.look in numbers and mark.legend_label:
        return numbers[mark.look]
    colour = repr(getattr(mark, "colour", None))
    others = [*panel.marks[place + 1 :], *reversed(panel.marks[:place])]
    for other in others:
        if other.legend_label and repr(getattr(other, "colour", None)) == colour:
            return numbers.get(other.look)
    return None


def _in_words(panel: Panel) -> str:
    """What a reader who does not see the plot is told."""
    scales = {"log": " (log scale)", "symlog": " (signed log scale)"}
    axes = [f"{axis.label}{scales.get(axis.scale, '')}" for axis in (panel.y, panel.x)]
    labels = [mark.legend_label or "" for mark in panel.legend_marks()]
    colours = [f"; colours show {one.label}" for one in panel.heatmaps]
    words = f"{panel.title}: {axes[0]} against {axes[1]}{''.join(colours)}."
    return f"{words} Series: {'; '.join(labels)}." if labels else words


def _nothing() -> dict[str, Any]:
    middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
    return {**middle, "text": "nothing to show", "font": {"color": ROLES["muted"]}}


def _numbers(value: Any) -> Any:
    """The same for JSON: arrays as lists of six digits, null where there is no number."""
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items() if item is not None}
    if isinstance(value, np.ndarray):
        return _numbers(value.tolist())
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value
