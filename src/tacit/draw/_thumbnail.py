"""A figure at a glance: its main panel as a small picture without words."""

import io
from pathlib import Path

from tacit._doors import door, instance, path
from tacit._files import write_atomically
from tacit.draw._figure import Figure
from tacit.draw._marks import Text
from tacit.draw._matplotlib_marks import DRAW
from tacit.draw._matplotlib_page import style
from tacit.draw._matplotlib_ticks import set_axis

THUMBNAIL = (360, 216)
"""Width and height of a thumbnail, in pixels."""
_DPI = 120


@door(figure=instance(Figure), path=path)
def save_thumbnail(figure: Figure, path: str | Path) -> Path:
    """Write the main panel's marks and frame as a PNG of `THUMBNAIL` pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    panel = figure.panels[figure.main]
    content = io.BytesIO()
    with style():
        sheet = Sheet(figsize=(THUMBNAIL[0] / _DPI, THUMBNAIL[1] / _DPI), dpi=_DPI)
        canvas = FigureCanvasAgg(sheet)
        axes = sheet.add_axes((0.03, 0.05, 0.94, 0.9))
        ends = panel.ranges()
        for name, axis, pair in (("x", panel.x, ends[0]), ("y", panel.y, ends[1])):
            set_axis(axes, name, axis, pair)
        axes.grid(visible=not panel.heatmaps)
        axes.set(xlim=ends[0], ylim=ends[1])
        for mark in panel.marks:
            if not isinstance(mark, Text):
                DRAW[type(mark)](mark, panel, axes)
        for other in (*sheet.axes[1:], *axes.texts):  # a colour bar, numbers in cells
            other.remove()
        axes.set_position((0.03, 0.05, 0.94, 0.9))
        axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        canvas.print_png(content, metadata={"Software": None})
    write_atomically(Path(path), content.getvalue())
    return Path(path)
