"""Where everything stands on Plotly's page, in pixels from its upper left corner.

Plotly lays out one pair of axes well, but not a page of panels with legends and captions. All
lengths are therefore worked out here, and the widths of texts estimated: it is the reader's
browser that will choose the font.
"""

import math
import textwrap
from dataclasses import dataclass

from tacit.draw._figure import Figure, Panel
from tacit.draw._legend import Corner, columns_for, free_corner

PIXELS = 96.0  # an inch
TITLE, PANEL_TITLE, LABEL, SMALL = 18.0, 14.0, 12.0, 11.0  # sizes of type
MARGIN = 14.0
LINE = 1.35  # distance of lines over size of type
ENTRY = 19.5  # height of a legend entry
_SAMPLE = 48.0  # width of a legend entry without its words
_GLYPH = 0.55  # width of a character over its size, on the average
_TICKS_BELOW = 46.0  # tick texts and label under the axes
_GAP = 12.0
_HEIGHTS = {1: 320.0, 2: 245.0}  # of axes, by columns
_HEIGHT_OF_MANY = 225.0
_LEAST = 110.0


@dataclass(frozen=True)
class Slot:
    """The place of a panel: its axes as (left, top, width, height), and what stands around them."""

    left: float
    top: float
    width: float
    height: float
    title: list[str]
    note: list[str]
    note_top: float
    legend_top: float
    labels: list[list[str]]
    corner: Corner | None  # inside the axes, or None: below, in columns
    columns: int
    entry_width: float


@dataclass(frozen=True)
class Page:
    """The whole page."""

    width: float
    height: float
    title: list[str]
    caption: list[str]
    notice: list[str]
    caption_top: float
    slots: list[Slot]


def lines(text: str, width: float, size: float) -> list[str]:
    """The text in lines of about `width` pixels; its own line breaks are kept."""
    most = max(8, int(width / (_GLYPH * size)))
    found = (textwrap.wrap(part, most) or [""] for part in text.strip().splitlines())
    return [line for part in found for line in part]


def height_of(found: list[str], size: float) -> float:
    """The height of some lines in a size of type."""
    return len(found) * size * LINE


def lay_out(figure: Figure) -> Page:
    """Place the title, all panels, the caption and the notice."""
    rows, columns = figure.shape
    width = figure.width * PIXELS
    inner = width - 2 * MARGIN
    title = lines(figure.title, inner, TITLE * 1.06)
    caption = lines(figure.caption, inner, SMALL)
    notice = lines(figure.notice or "", inner, SMALL * 1.06)
    top = MARGIN + (height_of(title, TITLE) + _GAP if title else 0.0)
    words = height_of([*caption, *notice], SMALL)
    end = MARGIN + (words + _GAP if words else 0.0)
    height = _HEIGHTS.get(columns, _HEIGHT_OF_MANY)
    if figure.size is not None:
        # Lay out once to learn what stands around the axes, then share what is left.
        _, bottom = _place_rows(figure, inner, top, height)
        spare = float(figure.size[1]) * PIXELS - end - bottom
        height = max(_LEAST, height + spare / rows)
    slots, bottom = _place_rows(figure, inner, top, height)
    return Page(width, bottom + end, title, caption, notice, bottom + _GAP, slots)


def _place_rows(
    figure: Figure, inner: float, top: float, height: float
) -> tuple[list[Slot], float]:
    """All panels, and where the last row ends. All axes are equally wide, and stand in columns."""
    rows, columns = figure.shape
    groups = [figure.panels[place::columns] for place in range(columns)]
    before = [max(_left(panel, height) for panel in group) for group in groups]
    after = [max(_right(panel, height) for panel in group) for group in groups]
    width = max(_LEAST, (inner - sum(before) - sum(after)) / columns)
    slots: list[Slot] = []
    for row in range(rows):
        places = range(row * columns, min((row + 1) * columns, len(figure.panels)))
        titles = [
            lines(f"{figure.letter(place)} {figure.panels[place].title}", width, PANEL_TITLE)
            for place in places
        ]
        axes_top = top + max(height_of(title, PANEL_TITLE) for title in titles) + 8
        bottom = axes_top
        for column, place in enumerate(places):
            left = MARGIN + sum(before[: column + 1]) + sum(after[:column]) + column * width
            box = (left, axes_top, width, height)
            slot, end = _place(figure.panels[place], box, titles[column])
            slots.append(slot)
            bottom = max(bottom, end)
        top = bottom + _GAP
    return slots, bottom


def _place(
    panel: Panel, box: tuple[float, float, float, float], title: list[str]
) -> tuple[Slot, float]:
    """The slot of a panel whose axes are at `box`, and where it ends."""
    _, top, width, height = box
    note = lines(panel.full_note(), width, SMALL)
    label = lines(panel.x.label, width, LABEL)
    note_top = top + height + _TICKS_BELOW + height_of(label[1:], LABEL)
    bottom = legend_top = note_top + (height_of(note, SMALL) + 6 if note else 0.0)
    marks = [] if panel.empty else panel.legend_marks()
    labels = [lines(mark.legend_label or "", width - _SAMPLE, SMALL) for mark in marks]
    corner, columns, entry = None, 0, 0.0
    if labels:
        entry = _SAMPLE + _GLYPH * SMALL * max(len(line) for label in labels for line in label)
        deep = ENTRY + (max(map(len, labels)) - 1) * SMALL * LINE
        # Distances in the search for a place are in points.
        size = (entry * 0.75, (len(labels) * deep + 4) * 0.75)
        corner = free_corner(panel, size, (width * 0.75, height * 0.75))
        columns = columns_for(len(labels), entry, width)
        if corner is None:
            bottom += math.ceil(len(labels) / columns) * deep + 6
    return Slot(*box, title, note, note_top, legend_top, labels, corner, columns, entry), bottom


def _left(panel: Panel, height: float) -> float:
    """Room for tick texts and the label left of axes of this height."""
    _, ends = panel.ranges()
    longest = max(map(len, panel.y.ticks_within(*ends).values()), default=0)
    return 34 + 0.6 * SMALL * longest + height_of(lines(panel.y_label, height, LABEL)[1:], LABEL)


def _right(panel: Panel, height: float) -> float:
    """Room right of the axes, for a colour bar if there is a heatmap."""
    for heatmap in panel.heatmaps:
        ticks = heatmap.colour_axis.ticks_within(*heatmap.colour_range())
        longest = max(map(len, ticks.values()), default=0)
        label = height_of(lines(heatmap.label, height, LABEL)[1:], LABEL)
        return 56 + 0.6 * SMALL * longest + label
    return 16.0
