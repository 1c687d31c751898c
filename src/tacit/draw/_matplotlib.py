"""The Matplotlib renderer: the page around the panels, in inches and points.

Only the object interface is used (no pyplot) and settings change only inside a context, so that
drawing leaves nothing behind in the caller's process.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._doors import door, instance
from tacit.draw._axis import Axis
from tacit.draw._figure import Figure, Panel
from tacit.draw._key import key_marks, y_labels
from tacit.draw._legend import MARGIN, columns_for, free_corner
from tacit.draw._marks import Mark
from tacit.draw._matplotlib_marks import DRAW
from tacit.draw._matplotlib_page import (
    LABEL,
    LINE_SPACING,
    PANEL_TITLE,
    POINT,
    SMALL,
    Page,
    axes_depth,
    extent,
    say,
    size_of,
    style,
    text_width,
    wrapped,
)
from tacit.draw._palette import ROLES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet
    from matplotlib.legend import Legend

DPI = 160
_ROW = {1: 4.1, 2: 3.3}  # inches that a row of panels takes, by columns
_ROW_OF_MANY = 3.1
_LEAST_ROW = 1.7  # where a figure's size was given
_SAMPLE = 24  # points that a line's sample takes in a legend
_FINE = 1e8  # a log axis over a larger ratio has no room for minor ticks


@door(figure=instance(Figure))
def to_matplotlib(figure: Figure) -> "Sheet":
    """The figure as a Matplotlib figure on an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    rows, columns = figure.shape
    with style():
        sheet = Sheet(figsize=(figure.width, 1), dpi=DPI, layout="constrained")
        FigureCanvasAgg(sheet)
        page = Page(figure, sheet)
        natural = rows * _ROW.get(columns, _ROW_OF_MANY)
        page.resize(natural)
        grid = sheet.add_gridspec(rows, columns)
        labels, shared = y_labels(figure), {mark.look: mark for mark in key_marks(figure)}
        panels, samples = [], {}
        for place, panel in enumerate(figure.panels):
            axes = sheet.add_subplot(grid[divmod(place, columns)])
            handles = _draw_panel(panel, axes, labels[place])
            samples.update({mark.look: artist for mark, artist in handles})
            own = [(mark, artist) for mark, artist in handles if mark.look not in shared]
            panels.append((panel, axes, own))
        words = [mark.legend_label or "" for mark in shared.values()]
        page.set_key([samples[look] for look in shared], words)
        given = 0.0 if figure.size is None else float(figure.size[1]) - page.top - page.bottom
        page.fit(given or natural)
        # Titles and legends depend on the room that the axes have, known only now.
        extra = np.zeros((rows, columns))
        for place, (panel, axes, handles) in enumerate(panels):
            above = _set_title(panel, axes, figure.letter(place))
            extra[divmod(place, columns)] = above + _set_foot(panel, axes, handles)
        around = float(extra.max(axis=1).sum())
        least = natural if figure.size is None else rows * _LEAST_ROW
        height = max(given, least + around)
        page.fit(height)
        changed = [_set_label(panels[n][1], "y", label) for n, label in enumerate(labels)]
        if any(changed):
            page.fit(height)  # axes turned out shorter than a label beside them
        page.draw()
    return sheet


def _draw_panel(panel: Panel, axes: "Axes", y_label: str) -> list[tuple[Mark, "Artist"]]:
    """Axes and marks; the marks of the legend are returned with what stands for each there."""
    x, y = panel.ranges()
    set_axis(axes, "x", panel.x, x)
    set_axis(axes, "y", panel.y, y)
    _set_label(axes, "x", panel.x.label)
    _set_label(axes, "y", y_label)
    axes.grid(visible=not panel.heatmaps)
    # Setting limits also stops Matplotlib from scaling the axes itself.
    axes.set(xlim=x, ylim=y)
    entries = [] if panel.empty else panel.legend_marks()
    handles = [(mark, DRAW[type(mark)](mark, panel, axes)) for mark in panel.marks]
    if panel.heatmaps:
        axes.spines[:].set_visible(False)
    if panel.empty:
        words: dict[str, Any] = {"ha": "center", "va": "center", "color": ROLES["muted"]}
        axes.text(0.5, 0.5, "nothing to show", transform=axes.transAxes, **words)
    return [(mark, handle) for mark, handle in handles if mark in entries]


def set_axis(axes: "Axes", name: str, axis: Axis, ends: tuple[float, float]) -> None:
    """Scale and ticks of an axis."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    # With this linscale Matplotlib's symlog is ours: a decade as long as the linear part.
    bend = {"linthresh": axis.threshold, "linscale": 0.9} if axis.scale == "symlog" else {}
    getattr(axes, f"set_{name}scale")(axis.scale, **bend)
    ruler = getattr(axes, f"{name}axis")
    ticks = axis.ticks_within(*ends)
    # A tick's text cannot be told not to read TeX; an escaped dollar sign stays one.
    ruler.set_ticks(list(ticks), labels=[text.replace("$", r"\$") for text in ticks.values()])
    fine = axis.scale == "log" and axis.ticks is None and ends[1] / ends[0] < _FINE
    ruler.set_minor_locator(LogLocator(subs=range(2, 10)) if fine else NullLocator())
    ruler.set_minor_formatter(NullFormatter())


def _set_label(axes: "Axes", name: str, words: str) -> bool:
    """Label an axis, in lines as long as it is now; says whether that changed anything."""
    room = size_of(axes)[0 if name == "x" else 1]
    label = getattr(axes, f"{name}axis").label
    before, now = label.get_text(), "\n".join(wrapped(words, axes, room, LABEL))
    label.set(text=now, parse_math=False)
    return bool(before != now)


def _set_title(panel: Panel, axes: "Axes", letter: str) -> float:
    """Title and letter, left aligned; the height of its lines beyond the first is returned."""
    indent = text_width(letter, axes, PANEL_TITLE, "bold") + 4 if letter else 0.0
    lines = wrapped(panel.title, axes, size_of(axes)[0] - indent, PANEL_TITLE)
    title = axes.annotate(
        "\n".join(lines) or " ",
        (0, 1),
        xycoords="axes fraction",
        xytext=(indent, 7),
        textcoords="offset points",
        va="bottom",
        fontsize=PANEL_TITLE,
        linespacing=LINE_SPACING,
        parse_math=False,
    )
    if letter:
        # It hangs on the title, so that it stands at the first of several lines.
        axes.annotate(
            letter,
            (0, 1),
            xycoords=title,
            xytext=(-indent, 0),
            textcoords="offset points",
            va="top",
            fontsize=PANEL_TITLE,
            fontweight="bold",
            linespacing=LINE_SPACING,
        )
    return (len(lines) - 1) * PANEL_TITLE * LINE_SPACING * POINT


def _set_foot(panel: Panel, axes: "Axes", handles: list[tuple[Mark, "Artist"]]) -> float:
    """Note and legend; the height in inches that they need under the axes is returned."""
    width, _ = size_of(axes)
    used = depth = axes_depth(axes)
    note = wrapped(panel.full_note(), axes, width, SMALL)
    if note:
        axes.annotate(
            "\n".join(note),
            (0, 0),
            xycoords="axes fraction",
            xytext=(0, -used - 5),
            textcoords="offset points",
            va="top",
            fontsize=SMALL,
            fontstyle="italic",
            linespacing=LINE_SPACING,
            color=ROLES["muted"],
            parse_math=False,
        )
        used += 5 + len(note) * SMALL * LINE_SPACING
    if handles:
        words = [mark.legend_label or "" for mark, _ in handles]
        labels = ["\n".join(wrapped(label, axes, width - _SAMPLE, SMALL)) for label in words]
        used += _set_legend(panel, axes, [artist for _, artist in handles], labels, used + 7)
    return (used - depth) * POINT


def _set_legend(
    panel: Panel, axes: "Axes", handles: list["Artist"], labels: list[str], depth: float
) -> float:
    """A legend where it hides nothing; the height that it takes below `depth`, in points."""
    from matplotlib.transforms import ScaledTranslation

    size = size_of(axes)
    one = extent(_legend(axes, handles, labels))
    corner = free_corner(panel, one, size)
    if corner is not None:
        across = {0: "left", 0.5: "center", 1: "right"}[corner.x]
        up = {0: "lower", 0.5: "center", 1: "upper"}[corner.y]
        _legend(
            axes,
            handles,
            labels,
            loc=f"{up} {across}",
            bbox_to_anchor=(MARGIN, MARGIN, 1 - 2 * MARGIN, 1 - 2 * MARGIN),
        )
        return 0.0
    down = ScaledTranslation(0, -depth * POINT, axes.figure.dpi_scale_trans)
    below = {"loc": "upper left", "bbox_to_anchor": (0, 0)}
    columns = columns_for(len(labels), one[0] + 12, size[0])
    legend = _legend(
        axes, handles, labels, ncols=columns, bbox_transform=axes.transAxes + down, **below
    )
    return extent(legend)[1] + 7


def _legend(axes: "Axes", handles: list["Artist"], labels: list[str], **options: Any) -> "Legend":
    legend = axes.legend(handles, ["-"] * len(labels), **options)
    say(legend, labels)
    legend.set_zorder(5)
    return legend
