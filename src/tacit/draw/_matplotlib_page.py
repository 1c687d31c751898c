"""The page around Matplotlib's panels: style, title, key, caption, and how text is measured.

Lengths are in points, except those of the page, which are in inches as Matplotlib's are.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from tacit.draw._figure import Figure
from tacit.draw._legend import columns_for
from tacit.draw._palette import GRID, ROLES, SPINE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet
    from matplotlib.legend import Legend


POINT = 1 / 72  # in inches
TITLE, PANEL_TITLE, LABEL, SMALL = 12.5, 9.5, 9.0, 8.0
LINE_SPACING = 1.3
_MARGIN = 9.0  # around the page
_GAP = 8.0  # between title, panels and caption
_LETTER = 0.57  # how wide a letter is on average, in sizes of the font

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so that all machines draw the same
    "font.size": 9.0,
    "text.color": ROLES["ink"],
    "axes.labelcolor": ROLES["ink"],
    "axes.labelsize": LABEL,
    "axes.labelpad": 4.0,
    "axes.edgecolor": SPINE,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": SPINE,
    "ytick.color": SPINE,
    "xtick.labelcolor": ROLES["ink"],
    "ytick.labelcolor": ROLES["ink"],
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.minor.size": 1.6,
    "ytick.minor.size": 1.6,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "legend.handlelength": 1.9,
    "legend.handletextpad": 0.6,
    "legend.labelspacing": 0.4,
    "legend.columnspacing": 1.4,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.0,
    "svg.hashsalt": "tacit",  # else the names inside an SVG are drawn at random
    "svg.fonttype": "path",
}


def style() -> AbstractContextManager[None]:
    """Matplotlib's own defaults with this style on top, whatever the user's settings are."""
    from matplotlib import style as styles

    context: AbstractContextManager[None] = styles.context(["default", _STYLE])
    return context


class Page:
    """Lays out a sheet from top to bottom: title, key, panels, caption and notice."""

    def __init__(self, figure: Figure, sheet: "Sheet") -> None:
        self.sheet = sheet
        self._width = figure.width / POINT - 2 * _MARGIN
        self.title = wrapped(figure.title, sheet, self._width, TITLE, "bold")
        self.caption = wrapped(figure.caption, sheet, self._width, SMALL)
        self.notice = wrapped(figure.notice or "", sheet, self._width, SMALL, "bold")
        self._key: Legend | None = None
        self._title_height = _height(self.title, TITLE) + _GAP if self.title else 0.0
        caption = _height([*self.caption, *self.notice], SMALL)
        self.top = (_MARGIN + self._title_height) * POINT
        self.bottom = (_MARGIN + (caption + _GAP if caption else 0.0)) * POINT

    def set_key(self, handles: list["Artist"], labels: list[str]) -> None:
        """The key of the marks that several panels show, under the title."""
        if not handles:
            return
        self._key = self._legend(handles, labels, 1)
        entry = extent(self._key)[0] + 14
        self._key.remove()
        self._key = self._legend(handles, labels, columns_for(len(labels), entry, self._width))
        self.top += (extent(self._key)[1] + _GAP) * POINT

    def _legend(self, handles: list["Artist"], labels: list[str], columns: int) -> "Legend":
        legend = self.sheet.legend(
            handles,
            ["-"] * len(labels),
            ncols=columns,
            loc="upper left",
            bbox_to_anchor=(0, 1),
            bbox_transform=self.sheet.transFigure,
        )
        say(legend, ["\n".join(wrapped(label, self.sheet, self._width, SMALL)) for label in labels])
        legend.set_in_layout(False)
        return legend

    def resize(self, panels: float) -> None:
        """Give the sheet the height for panels of this height, in inches, and all around them."""
        self.sheet.set_size_inches(self.sheet.get_figwidth(), self.top + panels + self.bottom)

    def fit(self, panels: float) -> None:
        """Resize, and let the panels share their height."""
        self.resize(panels)
        width, height = self.sheet.get_size_inches()
        engine: Any = self.sheet.get_layout_engine()
        side = _MARGIN * POINT / width
        rect = (side, self.bottom / height, 1 - 2 * side, panels / height)
        engine.set(rect=rect, w_pad=0.02, h_pad=0.02, wspace=0.05, hspace=0.06)
        engine.execute(self.sheet)

    def draw(self) -> None:
        """Write what stands around the panels, and keep the panels where they are now."""
        self.sheet.set_layout_engine("none")
        width, height = (inches / POINT for inches in self.sheet.get_size_inches())
        left = _MARGIN / width
        title = {"fontsize": TITLE, "fontweight": "bold"}
        self._write(self.title, left, 1 - _MARGIN / height, "top", title)
        if self._key is not None:
            below = 1 - (_MARGIN + self._title_height) / height
            self._key.set_bbox_to_anchor((left, below), self.sheet.transFigure)
        small = {"fontsize": SMALL, "color": ROLES["muted"]}
        above = (_MARGIN + _height(self.notice, SMALL)) / height
        self._write(self.caption, left, above, "bottom", small)
        told = {"fontsize": SMALL, "color": ROLES["warning"], "fontweight": "bold"}
        self._write(self.notice, left, _MARGIN / height, "bottom", told)

    def _write(self, lines: list[str], x: float, y: float, va: Any, look: dict[str, Any]) -> None:
        if lines:
            words = self.sheet.text(
                x, y, "\n".join(lines), va=va, linespacing=LINE_SPACING, parse_math=False, **look
            )
            words.set_in_layout(False)


def say(legend: "Legend", labels: list[str]) -> None:
    """Label a legend: Matplotlib drops labels that begin with "_", and reads TeX in them."""
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)


def _height(lines: list[str], size: float) -> float:
    return len(lines) * size * LINE_SPACING


def wrapped(
    text: str, inside: "Axes | Sheet", width: float, size: float, weight: str = "normal"
) -> list[str]:
    """The text in lines no wider than `width` points; its own line breaks are kept."""

    def fits(words: list[str]) -> bool:
        return text_width(" ".join(words), inside, size, weight) <= width

    lines = []
    for paragraph in text.strip().splitlines():
        words = paragraph.split()
        lines += [] if words else [""]
        while words:
            count = _fitting(words, fits, most=width / (_LETTER * size))
            lines.append(" ".join(words[:count]))
            words = words[count:]
    return lines


def _fitting(words: list[str], fits: Callable[[list[str]], bool], *, most: float) -> int:
    """How many of the first words make a line that fits, at least one.

    To measure a line takes long, so the search begins where lines of `most` letters end.
    """
    count, letters = 1, len(words[0])
    while count < len(words) and letters + 1 + len(words[count]) <= most:
        letters += 1 + len(words[count])
        count += 1
    guess = count
    while count < len(words) and fits(words[: count + 1]):
        count += 1
    while guess == count > 1 and not fits(words[:count]):
        guess = count = count - 1
    return count


def text_width(text: str, inside: "Axes | Sheet", size: float, weight: str = "normal") -> float:
    """How wide a line of text is, in points."""
    from matplotlib.font_manager import FontProperties

    sheet = _sheet_of(inside)
    font = FontProperties(size=size, weight=weight)
    wide, _, _ = sheet.canvas.get_renderer().get_text_width_height_descent(text, font, False)
    return float(wide) * 72 / sheet.dpi


def size_of(axes: "Axes") -> tuple[float, float]:
    """Width and height of the axes, in points."""
    box = axes.get_window_extent()
    return box.width * 72 / axes.figure.dpi, box.height * 72 / axes.figure.dpi


def axes_depth(axes: "Axes") -> float:
    """How far ticks and label reach below the axes, in points."""
    box = axes.xaxis.get_tightbbox(_sheet_of(axes).canvas.get_renderer())
    bottom = axes.get_window_extent().y0
    return 0.0 if box is None else max(0.0, bottom - box.y0) * 72 / axes.figure.dpi


def extent(artist: Any) -> tuple[float, float]:
    """Width and height of an artist, in points."""
    box = artist.get_window_extent()
    return box.width * 72 / artist.figure.dpi, box.height * 72 / artist.figure.dpi


def _sheet_of(inside: "Axes | Sheet") -> Any:
    return inside.figure if inside.figure is not None else inside
