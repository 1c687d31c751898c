"""The Plotly renderer: the same figure as something to hover over and zoom into."""

import hashlib
from typing import Any

import numpy as np

from tacit._doors import door, instance
from tacit.draw._axis import Axis
from tacit.draw._checks import check_choice
from tacit.draw._figure import Figure
from tacit.draw._legend import MARGIN as LEGEND_MARGIN
from tacit.draw._palette import GRID, PAPER, ROLES, SPINE
from tacit.draw._plotly_marks import DRAW, Canvas, plain
from tacit.draw._plotly_page import (
    LABEL,
    MARGIN,
    PANEL_TITLE,
    SMALL,
    TITLE,
    Page,
    Slot,
    height_of,
    lay_out,
    lines,
)

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
# Plotly's bar of buttons would stand on the title; dragging zooms and a double click goes back.
_CONFIG = {"displayModeBar": False}


@door(figure=instance(Figure))
def to_html(figure: Figure, *, include_plotlyjs: bool | str = False) -> str:
    """The figure as a div for a page.

    `include_plotlyjs` says where Plotly's script comes from: False, the page has it already;
    "cdn", a link; True, a copy in the div (about 4 MB). The same figure gives the same text.
    """
    check_choice("to_html", "include_plotlyjs", include_plotlyjs, (False, "cdn", True))
    page = to_plotly(figure)
    name = "tacit-" + hashlib.sha256(page.to_json().encode()).hexdigest()[:12]
    return str(
        page.to_html(
            full_html=False, include_plotlyjs=include_plotlyjs, div_id=name, config=_CONFIG
        )
    )


@door(figure=instance(Figure))
def to_plotly(figure: Figure) -> Any:
    """The figure as a Plotly figure (`plotly.graph_objects.Figure`).

    Plotly is an extra of tacit; without it, the `ImportError` says what to install.
    """
    graph_objects = _graph_objects()
    page = lay_out(figure)
    layout: dict[str, Any] = {
        "template": "none",
        "width": round(page.width),
        "height": round(page.height),
        # Without margins Plotly's "paper" is the whole page.
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0, "autoexpand": False},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "font": {"family": FONT, "size": LABEL, "color": ROLES["ink"]},
        "hovermode": "closest",
        "showlegend": True,
        "shapes": [],
        "annotations": [],
    }
    traces: list[dict[str, Any]] = []
    for place, (panel, slot) in enumerate(zip(figure.panels, page.slots, strict=True)):
        canvas = Canvas(panel, str(place + 1) if place else "", _bar(slot, page))
        layout.update(_axes(canvas, slot, page))
        layout.update(_draw_marks(canvas, slot, page))
        _write_around(canvas, slot, page, figure.letter(place))
        traces += canvas.traces
        layout["shapes"] += canvas.shapes
        layout["annotations"] += canvas.annotations
    _write_page(page, layout)
    return graph_objects.Figure(data=traces, layout=layout)


def _graph_objects() -> Any:
    try:
        from plotly import graph_objects
    except ImportError as error:
        raise ImportError(
            "plotly is not installed, and interactive figures need it: pip install plotly"
        ) from error
    return graph_objects


def _draw_marks(canvas: Canvas, slot: Slot, page: Page) -> dict[str, Any]:
    """All marks; the layout of the legends of the panel is returned."""
    panel = canvas.panel
    entries = [] if panel.empty else panel.legend_marks()
    rows = len(entries) if slot.corner else -(-len(entries) // max(slot.columns, 1))
    legends: dict[str, Any] = {}
    for mark in panel.marks:
        entry = DRAW[type(mark)](mark, canvas)
        if entry is None or mark not in entries:
            continue
        rank = entries.index(mark)
        # A column is a legend of its own, since Plotly cannot set one in columns.
        name = f"legend{_legend_number(canvas, rank // rows)}"
        legends[name] = _legend(slot, page, rank // rows)
        label = plain("\n".join(slot.labels[rank]))
        entry.update(name=label, showlegend=True, legend=name, legendrank=rank + 1)
    for drawn in (*canvas.traces, *canvas.shapes):
        drawn.setdefault("showlegend", False)
    for trace in canvas.traces:
        if trace.get("hovertemplate") and trace["type"] == "scatter":
            # Beside the numbers stands the label, and for marks without one, nothing.
            trace["hovertemplate"] += f"<extra>{trace.get('name', '')}</extra>"
    return legends


def _legend_number(canvas: Canvas, column: int) -> int:
    """A number for each column of each panel (a panel has fewer than a hundred columns)."""
    return 100 * int(canvas.number or 1) + column


def _legend(slot: Slot, page: Page, column: int) -> dict[str, Any]:
    look = {"font": {"size": SMALL}, "bgcolor": "rgba(0, 0, 0, 0)", "tracegroupgap": 0}
    if slot.corner is None:
        left = slot.left - 6 + column * slot.entry_width
        place = {"x": left / page.width, "y": 1 - slot.legend_top / page.height}
        return {**look, **place, "xanchor": "left", "yanchor": "top"}
    x, y = slot.corner.x, slot.corner.y
    across = LEGEND_MARGIN + x * (1 - 2 * LEGEND_MARGIN)
    up = LEGEND_MARGIN + y * (1 - 2 * LEGEND_MARGIN)
    return {
        **look,
        "x": (slot.left + across * slot.width) / page.width,
        "y": 1 - (slot.top + (1 - up) * slot.height) / page.height,
        "xanchor": {0: "left", 0.5: "center", 1: "right"}[x],
        "yanchor": {0: "bottom", 0.5: "middle", 1: "top"}[y],
    }


def _axes(canvas: Canvas, slot: Slot, page: Page) -> dict[str, Any]:
    x_ends, y_ends = canvas.panel.ranges()
    across = [slot.left / page.width, (slot.left + slot.width) / page.width]
    up = [1 - (slot.top + slot.height) / page.height, 1 - slot.top / page.height]
    names = canvas.axes
    panel = canvas.panel
    x = axis_look(panel.x, panel.x.label, x_ends, slot.width, domain=across, anchor=names["yaxis"])
    y = axis_look(panel.y, panel.y_label, y_ends, slot.height, domain=up, anchor=names["xaxis"])
    if canvas.panel.heatmaps:
        bare = {"showgrid": False, "showline": False}
        x.update(bare)
        y.update(bare)
    return {f"xaxis{canvas.number}": x, f"yaxis{canvas.number}": y}


def axis_look(
    axis: Axis, words: str, ends: tuple[float, float], room: float, **place: Any
) -> dict[str, Any]:
    """An axis as Plotly wants it, without its place."""
    label = plain("\n".join(lines(words, room, LABEL)))
    look: dict[str, Any] = {
        "type": "log" if axis.scale == "log" else "linear",
        "title": {"text": label, "standoff": 8, "font": {"size": LABEL}},
        "range": axis.forward(np.array(ends)).tolist(),
        "showline": True,
        "linecolor": SPINE,
        "linewidth": 1,
        "gridcolor": GRID,
        "gridwidth": 1,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": SPINE,
        "tickfont": {"size": SMALL},
        "exponentformat": "power",
        "automargin": False,
        **place,
    }
    if axis.scale != "linear" or axis.ticks is not None:
        ticks = axis.ticks_within(*ends)
        places = np.array(list(ticks))
        look["tickvals"] = axis.forward(places) if axis.scale == "symlog" else places
        look["ticktext"] = [plain(text) for text in ticks.values()]
    if axis.scale == "log" and axis.ticks is None:
        look["minor"] = {"ticks": "outside", "ticklen": 2, "tickcolor": SPINE, "dtick": "D1"}
    return look


def _bar(slot: Slot, page: Page) -> dict[str, Any]:
    """Where the colour bar of a panel stands."""
    return {
        "x": (slot.left + slot.width + 8) / page.width,
        "xanchor": "left",
        "xpad": 0,
        "y": 1 - (slot.top + slot.height / 2) / page.height,
        "yanchor": "middle",
        "ypad": 0,
        "len": slot.height,
        "lenmode": "pixels",
        "thickness": 12,
        "outlinewidth": 0,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": SPINE,
        "tickfont": {"size": SMALL},
    }


def _write_around(canvas: Canvas, slot: Slot, page: Page, letter: str) -> None:
    """Title and note of a panel."""
    title = "<br>".join(plain(line) for line in slot.title)
    if letter:
        title = f"<b>{letter}</b>{title.removeprefix(letter)}"
    canvas.annotations.append(
        _words(title, page, slot.left, slot.top - 7, "bottom", size=PANEL_TITLE)
    )
    note = "<br>".join(plain(line) for line in slot.note)
    if note:
        look = {"size": SMALL, "color": ROLES["muted"], "style": "italic"}
        canvas.annotations.append(_words(note, page, slot.left, slot.note_top, "top", **look))
    if canvas.panel.empty:
        middle = (slot.left + slot.width / 2, slot.top + slot.height / 2)
        words = _words("nothing to show", page, *middle, "middle", color=ROLES["muted"])
        canvas.annotations.append({**words, "xanchor": "center"})


def _write_page(page: Page, layout: dict[str, Any]) -> None:
    """Title, caption and notice."""
    if page.title:
        title = "<b>" + "<br>".join(map(plain, page.title)) + "</b>"
        layout["annotations"].append(_words(title, page, MARGIN, MARGIN, "top", size=TITLE))
    small: dict[str, Any] = {"size": SMALL, "color": ROLES["muted"]}
    if page.caption:
        caption = "<br>".join(map(plain, page.caption))
        place = (MARGIN, page.caption_top, "top")
        layout["annotations"].append(_words(caption, page, *place, **small))
    if page.notice:
        text = "<b>" + "<br>".join(map(plain, page.notice)) + "</b>"
        below = page.caption_top + height_of(page.caption, SMALL)
        look = small | {"color": ROLES["warning"]}
        told = _words(text, page, MARGIN, below, "top", **look)
        layout["annotations"].append({**told, "name": "notice"})


def _words(text: str, page: Page, left: float, top: float, anchor: str, **font: Any) -> Any:
    return {
        "text": text,
        "x": left / page.width,
        "y": 1 - top / page.height,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": anchor,
        "align": "left",
        "showarrow": False,
        "borderpad": 0,
        "borderwidth": 0,
        "font": font,
    }
