"""What Matplotlib draws around the cells of heatmaps: colour bars, and numbers that fit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.draw._figure import Figure, Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._matplotlib_page import LABEL, size_of, text_width, wrapped
from tacit.draw._palette import SPINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBER = "number of a cell"  # the mark of such a text
SIZES = (7.5, 6.5)  # of a number, in points; where the smaller one does not fit there are none


class ColourBar:
    """The colour bar of one map, or of all maps of a row that mean the same by their colours."""

    def __init__(self, mark: Heatmap, axes: "list[Axes]") -> None:
        sheet: Any = axes[0].figure
        low, high = mark.colour_range()
        cells = next(found for found in axes[0].collections if found.get_array() is not None)
        self._mark, self._axes = mark, axes[0]
        self._bar = sheet.colorbar(cells, ax=axes, pad=0.025, aspect=22, extend=_extend(mark))
        self._bar.outline.set_visible(False)
        self._bar.ax.tick_params(length=2.5, width=0.6, color=SPINE)
        self._bar.ax.minorticks_off()
        ticks = mark.colour_axis.ticks_within(low, high)
        self._bar.set_ticks(list(ticks), labels=list(ticks.values()))
        self.fit()

    def fit(self) -> bool:
        """Write its label in lines as long as it is now; says whether that changed anything."""
        label = self._bar.ax.yaxis.label
        now = "\n".join(wrapped(self._mark.label, self._axes, size_of(self._axes)[1], LABEL))
        before = label.get_text()
        self._bar.set_label(now, parse_math=False)
        return bool(before != now)


def draw_colour_bars(figure: Figure, axes: "list[Axes]") -> list[ColourBar]:
    """One for each map; neighbours in a row whose colours mean the same share one."""
    _, columns = figure.shape
    groups: list[tuple[Heatmap, list[Axes]]] = []
    last = None
    for place, panel in enumerate(figure.panels):
        meaning = None
        for mark in panel.heatmaps:
            ends = (*mark.colour_range(), mark.scale, mark.stops, mark.label)
            meaning = (place // columns, ends, _extend(mark))
            if meaning == last:
                groups[-1][1].append(axes[place])
            else:
                groups.append((mark, [axes[place]]))
        last = meaning
    return [ColourBar(mark, together) for mark, together in groups]


def fit_numbers(axes: "Axes", panel: Panel) -> None:
    """Numbers in cells as large as they can be, and none where one would not fit its cell."""
    for mark in panel.heatmaps:
        texts = [text for text in axes.texts if text.get_gid() == NUMBER]
        edges = panel.x.forward(panel.x.edges(np.asarray(mark.x)))
        low, high = panel.x.forward(np.array(panel.ranges()[0]))
        rooms = np.diff(edges) / (high - low) * size_of(axes)[0]
        centres = list(np.asarray(mark.x))
        for size in SIZES:
            room = {text: rooms[centres.index(text.get_position()[0])] - 2 for text in texts}
            fits = all(text_width(t.get_text(), axes, size) <= room[t] for t in texts)
            for text in texts:
                text.set(fontsize=size, visible=fits)
            if fits:
                break


def _extend(mark: Heatmap) -> str:
    low, high = mark.colour_range()
    shown = np.asarray(mark.z)[mark.has_value]
    ends = bool((shown < low).any()), bool((shown > high).any())
    words = {(True, True): "both", (True, False): "min", (False, True): "max"}
    return words.get(ends, "neither")
