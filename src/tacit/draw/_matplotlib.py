"""The Matplotlib renderer: the page around the panels, in inches and points.

Only the object interface is used (no pyplot) and settings change only inside a context, so that
drawing leaves nothing behind in the caller's process.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._doors import door, instance
from tacit.draw._figure import Figure, Panel
from tacit.draw._key import key_marks, own_marks, y_labels
from tacit.draw._marks import Mark
from tacit.draw._matplotlib_maps import draw_colour_bars, fit_numbers
from tacit.draw._matplotlib_marks import DRAW
from tacit.draw._matplotlib_page import LABEL, Page, size_of, style, wrapped
from tacit.draw._matplotlib_surroundings import Surroundings
from tacit.draw._matplotlib_ticks import fit_ticks, set_axis
from tacit.draw._palette import ROLES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

DPI = 160
_ROW = {1: 4.1, 2: 3.3}  # inches that a row of panels takes, by columns
_ROW_OF_MANY = 3.1
_LEAST_ROW = 1.7  # where a figure's size was given
_ROUNDS = 2  # until panels have settled
_SAME = 1.5  # points by which a panel's width may still change


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
        bars = draw_colour_bars(figure, [axes for _, axes, _ in panels])
        given = 0.0 if figure.size is None else float(figure.size[1]) - page.top - page.bottom
        page.fit(given or natural)
        raised = [""] * len(panels)
        if figure.size is not None and (
            columns > 2 or any(_set_label(p[1], "y", labels[n]) for n, p in enumerate(panels))
        ):  # in a narrow column, labels beside the axes take their room from the data
            raised, labels = labels, raised
            for _, axes, _ in panels:
                axes.set_ylabel("")
            page.fit(given)
        around = [
            Surroundings(
                panel,
                axes,
                handles,
                letter=figure.letter(place),
                as_in=_as_in(figure, place),
                y_label=raised[place],
            )
            for place, (panel, axes, handles) in enumerate(panels)
        ]
        least = natural if figure.size is None else rows * _LEAST_ROW
        # Titles, legends, labels and ticks depend on the room that axes have, and the other way.
        for _ in range(_ROUNDS):
            before = [size_of(axes)[0] for _, axes, _ in panels]
            extra = np.zeros((rows, columns))
            for place, (panel, axes, _) in enumerate(panels):
                fit_ticks(axes, panel)
                extra[divmod(place, columns)] = around[place].write()
            height = max(given, least + float(extra.max(axis=1).sum()))
            page.fit(height)
            changed = [_set_label(panels[n][1], "y", label) for n, label in enumerate(labels)]
            changed += [bar.fit() for bar in bars]
            if any(changed):
                page.fit(height)  # axes turned out shorter than a label beside them
            now = [size_of(axes)[0] for _, axes, _ in panels]
            if max(abs(a - b) for a, b in zip(before, now, strict=True)) < _SAME:
                break
        for panel, axes, _ in panels:
            fit_numbers(axes, panel)
        page.draw()
    return sheet


def _as_in(figure: Figure, place: int) -> str:
    """The letter of the first panel whose own legend has all entries of this panel's."""
    wanted = {mark.look for mark in own_marks(figure, figure.panels[place])}
    for earlier in range(place if len(wanted) > 1 else 0):
        if wanted <= {mark.look for mark in own_marks(figure, figure.panels[earlier])}:
            return figure.letter(earlier)
    return ""


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


def _set_label(axes: "Axes", name: str, words: str) -> bool:
    """Label an axis, in lines as long as it is now; says whether that changed anything."""
    room = size_of(axes)[0 if name == "x" else 1]
    label = getattr(axes, f"{name}axis").label
    before, now = label.get_text(), "\n".join(wrapped(words, axes, room, LABEL))
    label.set(text=now, parse_math=False)
    return bool(before != now)
