"""What stands above and below the axes of a Matplotlib panel: title, note and legend."""

from typing import TYPE_CHECKING, Any

from tacit.draw._figure import Panel
from tacit.draw._legend import MARGIN, columns_for, free_corner
from tacit.draw._marks import Mark
from tacit.draw._matplotlib_page import (
    LINE_SPACING,
    PANEL_TITLE,
    POINT,
    SMALL,
    axes_depth,
    extent,
    say,
    size_of,
    text_width,
    wrapped,
)
from tacit.draw._palette import ROLES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

_SAMPLE = 24  # points that a line's sample takes in a legend
_SLANT = 0.94  # italics are wider than the upright letters that are measured


class Surroundings:
    """Title, note and legend of one panel, which can be written anew when its axes have changed.

    `as_in` is the letter of an earlier panel whose legend has all entries of this one; they are
    not repeated then. `y_label` is that of the axis where it has no room beside it: it stands
    below the title.
    """

    def __init__(
        self,
        panel: Panel,
        axes: "Axes",
        handles: list[tuple[Mark, "Artist"]],
        *,
        letter: str,
        as_in: str,
        y_label: str,
    ) -> None:
        self._panel, self._axes, self._letter, self._as_in = panel, axes, letter, as_in
        self._y_label = y_label
        self._handles = [] if as_in else handles
        self._written: list[Any] = []

    def write(self) -> float:
        """Write them for the axes as they are now; the height in inches that they need."""
        for artist in self._written:
            artist.remove()
        self._written = []
        return self._title() + self._foot()

    def _title(self) -> float:
        """Title and letter, left aligned; the height of its lines beyond the first is returned."""
        axes, letter = self._axes, self._letter
        indent = text_width(letter, axes, PANEL_TITLE, "bold") + 4 if letter else 0.0
        width = size_of(axes)[0]
        lines = wrapped(self._panel.title, axes, width - indent, PANEL_TITLE)
        label = wrapped(self._y_label, axes, width, SMALL)
        if label:
            self._written.append(self._words("\n".join(label), (0, 6)))
        raised = len(label) * SMALL * LINE_SPACING
        title = axes.annotate(
            "\n".join(lines) or " ",
            (0, 1),
            xycoords="axes fraction",
            xytext=(indent, 7 + raised),
            textcoords="offset points",
            va="bottom",
            fontsize=PANEL_TITLE,
            linespacing=LINE_SPACING,
            parse_math=False,
        )
        self._written.append(title)
        if letter:
            # It hangs on the title, so that it stands at the first of several lines.
            hung = axes.annotate(
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
            self._written.append(hung)
        return ((len(lines) - 1) * PANEL_TITLE * LINE_SPACING + raised) * POINT

    def _words(self, words: str, offset: tuple[float, float]) -> Any:
        """Small words above the axes, left aligned."""
        return self._axes.annotate(
            words,
            (0, 1),
            xycoords="axes fraction",
            xytext=offset,
            textcoords="offset points",
            va="bottom",
            fontsize=SMALL,
            linespacing=LINE_SPACING,
            parse_math=False,
        )

    def _foot(self) -> float:
        """Note and legend; the height in inches that they need under the axes is returned."""
        axes, handles = self._axes, self._handles
        width, _ = size_of(axes)
        used = depth = axes_depth(axes)
        words = [self._panel.full_note(), f"lines as in {self._as_in}" if self._as_in else ""]
        note = wrapped("; ".join(filter(None, words)), axes, _SLANT * width, SMALL)
        if note:
            told = axes.annotate(
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
            self._written.append(told)
            used += 5 + len(note) * SMALL * LINE_SPACING
        if handles:
            names = [mark.legend_label or "" for mark, _ in handles]
            labels = ["\n".join(wrapped(name, axes, width - _SAMPLE, SMALL)) for name in names]
            used += self._legend([artist for _, artist in handles], labels, used + 7)
        return (used - depth) * POINT

    def _legend(self, handles: list["Artist"], labels: list[str], depth: float) -> float:
        """A legend where it hides nothing; the height that it takes below `depth`, in points."""
        from matplotlib.transforms import ScaledTranslation

        axes = self._axes
        size = size_of(axes)
        one = extent(_legend(axes, handles, labels))
        corner = free_corner(self._panel, one, size)
        if corner is not None:
            across = {0: "left", 0.5: "center", 1: "right"}[corner.x]
            up = {0: "lower", 0.5: "center", 1: "upper"}[corner.y]
            legend = _legend(
                axes,
                handles,
                labels,
                loc=f"{up} {across}",
                bbox_to_anchor=(MARGIN, MARGIN, 1 - 2 * MARGIN, 1 - 2 * MARGIN),
            )
            self._written.append(legend)
            return 0.0
        down = ScaledTranslation(0, -depth * POINT, axes.figure.dpi_scale_trans)
        below = {"loc": "upper left", "bbox_to_anchor": (0, 0)}
        columns = columns_for(len(labels), one[0] + 12, size[0])
        legend = _legend(
            axes, handles, labels, ncols=columns, bbox_transform=axes.transAxes + down, **below
        )
        self._written.append(legend)
        return extent(legend)[1] + 7


def _legend(axes: "Axes", handles: list["Artist"], labels: list[str], **options: Any) -> "Legend":
    legend = axes.legend(handles, ["-"] * len(labels), **options)
    say(legend, labels)
    legend.set_zorder(5)
    return legend
