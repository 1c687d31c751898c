"""A figure: titled panels with axes and marks, a caption, and a notice of what is undecided.

All words are plain Unicode text. Neither renderer reads markup or TeX in them, so that what is
written is what both show: write W₀, not $W_0$.
"""

import math
import os
import re
import string
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from tacit._doors import each, instance, text, whole
from tacit._doors import path as check_path
from tacit.draw._axis import Axis
from tacit.draw._checks import check_choice, check_listed, check_positive, check_words
from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Mark

T = TypeVar("T")

LEGENDS = ("best", "outside", None)
_NARROWEST = 2.2  # inches that a panel needs to be read
_SQUAT, _WORDS = 0.6, 0.75  # height of axes over a panel's width; inches for words around them
_PARTS = re.compile(r"[:;,()]")  # what sets the parts of a title apart


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes with its marks.

    **Arguments**
    - `title`: plain text above the panel; the figure adds a letter if it has several panels.
    - `x`, `y`: the axes.
    - `marks`: what is drawn; an empty panel says that there is nothing to show.
    - `legend`: "outside" is always below the panel; "best" stands inside where it hides no data,
      else below; None is no legend.
    - `note`: small words under the panel. Values that cannot be shown are counted there too.
    - `ours`: marks that the paper's own panel does not have; they are drawn after the others.
    """

    title: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    _: KW_ONLY
    legend: str | None = "outside"
    note: str | None = None
    ours: Sequence[Mark] = ()

    def __post_init__(self) -> None:
        text("Panel.title", self.title)
        check_words("Panel", note=self.note)
        check_choice("Panel", "legend", self.legend, LEGENDS)
        instance(Axis)("Panel.x", self.x)
        instance(Axis)("Panel.y", self.y)
        for name, given in (("marks", self.marks), ("ours", self.ours)):
            each(instance(Mark), least=0)(f"Panel.{name}", given)
        object.__setattr__(self, "ours", tuple(self.ours))
        object.__setattr__(self, "marks", (*_without(self.marks, self.ours), *self.ours))
        for mark in self.marks:
            if not isinstance(mark, Mark):
                raise ValueError(
                    f"Panel.marks: received {mark!r}, it must hold marks; pass records such as "
                    "Line or Points"
                )
        maps = self.heatmaps
        if len(maps) > 1:
            raise ValueError(
                f"Panel.marks: received {len(maps)} Heatmaps, there must be at most one; use more "
                "panels"
            )
        for heatmap in maps:
            for name, axis, centres in (("x", self.x, heatmap.x), ("y", self.y, heatmap.y)):
                if not axis.showable(np.asarray(centres)).all():
                    raise ValueError(
                        f"Panel.marks: received a Heatmap with {name} = {np.asarray(centres)}, it "
                        "must be above 0 on a log axis; use a linear axis"
                    )

    def published(self) -> "Panel | None":
        """The panel without our marks and note; None if it has no other marks."""
        marks = _without(self.marks, self.ours)
        return replace(self, marks=marks, ours=(), note=None) if marks or not self.ours else None

    @property
    def heatmaps(self) -> list[Heatmap]:
        """The heatmap, if there is one."""
        return [mark for mark in self.marks if isinstance(mark, Heatmap)]

    @property
    def empty(self) -> bool:
        """Whether no mark has a value that can be shown."""
        for mark in self.marks:
            xs, ys = mark.coordinates(self.x, self.y)
            if ((self.x.showable(xs) | np.isnan(xs)) & (self.y.showable(ys) | np.isnan(ys))).any():
                return False
        return True

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of the x and of the y axis, in data units."""
        every = [mark.coordinates(self.x, self.y) for mark in self.marks]
        xs = np.concatenate([pair[0] for pair in every]) if every else np.array([])
        ys = np.concatenate([pair[1] for pair in every]) if every else np.array([])
        # A point with one part that cannot be shown is not drawn, so it claims no room.
        bad_x, bad_y = (~a.showable(v) & ~np.isnan(v) for a, v in ((self.x, xs), (self.y, ys)))
        drawn = ~(bad_x | bad_y)
        padded = not self.heatmaps
        return self.x.span(xs[drawn], padded=padded), self.y.span(ys[drawn], padded=padded)

    def full_note(self) -> str:
        """The note, with counts of the values that could not be shown."""
        counts = [mark.left_out(self.x, self.y) for mark in self.marks]
        low, infinite = (sum(count[part] for count in counts) for part in (0, 1))
        words = [self.note] if self.note else []
        words += [f"{low:,} {_plural('value', low)} ≤ 0 not shown"] if low else []
        words += (
            [f"{infinite:,} infinite {_plural('value', infinite)} not shown"] if infinite else []
        )
        return "; ".join(words)

    @property
    def y_label(self) -> str:
        """The label of the y axis; none where a part of the title says the same."""
        label = _plain(self.y.label)
        return "" if label in map(_plain, _PARTS.split(self.title)) else self.y.label

    def legend_marks(self) -> list[Mark]:
        """The marks in the legend: those with a label, alike ones once."""
        if self.legend is None:
            return []
        alike: dict[object, Mark] = {}
        for mark in self.marks:
            if mark.legend_label:
                alike.setdefault(mark.look, mark)
        return list(alike.values())


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels in rows, with a title above and a caption below.

    **Arguments**
    - `columns`: panels a row; chosen for the number of panels if None.
    - `caption`: small text below, wrapped to the width.
    - `notice`: the caption's last line, in a colour that is not missed: "Undecided: …".
    - `size`: (width, height) in inches; chosen for the panels if None. What stands around the
      panels may need more height, and gets it.
    - `ours`: panels that the paper's own figure does not have; they come after the others.
    - `main`: the place of the panel that says most at a glance: a page shows it first and large.
    """

    title: str
    panels: Sequence[Panel]
    _: KW_ONLY
    columns: int | None = None
    caption: str = ""
    notice: str | None = None
    size: Sequence[float | int] | None = None
    ours: Sequence[Panel] = ()
    main: int = 0

    def __post_init__(self) -> None:
        text("Figure.title", self.title)
        text("Figure.caption", self.caption)
        check_words("Figure", notice=self.notice)
        for name, given in (("panels", self.panels), ("ours", self.ours)):
            each(instance(Panel), least=0)(f"Figure.{name}", given)
        if self.columns is not None:
            whole(-100, 100)("Figure.columns", self.columns)
            if self.columns < 1:
                raise ValueError(
                    f"Figure.columns: received {self.columns}, it must be at least 1; leave it out "
                    "to let the figure choose"
                )
        check_listed("Figure", "size", self.size)
        object.__setattr__(self, "ours", tuple(self.ours))
        object.__setattr__(self, "panels", (*_without(self.panels, self.ours), *self.ours))
        if not self.panels:
            raise ValueError(
                "Figure.panels: received none, there must be at least one; add a Panel"
            )
        if self.notice is not None and not self.notice.strip():
            raise ValueError(
                f"Figure.notice: received {self.notice!r}, it must have words; pass None for no "
                "notice"
            )
        if not 0 <= self.main < len(self.panels):
            raise ValueError(
                f"Figure.main: received {self.main}, it must be the place of one of "
                f"{len(self.panels)} panels, counted from 0"
            )
        if self.size is not None:
            if len(self.size) != 2:
                raise ValueError(
                    f"Figure.size: received {self.size}, it must be (width, height) in inches; "
                    "pass two numbers"
                )
            for part in self.size:
                check_positive("Figure", "size", part)

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Write it to a file, as its ending says: .png, .svg or .pdf."""
        from tacit.draw._save import save_figure

        check_path("path", path)
        return save_figure(self, Path(path))

    def show(self) -> None:
        """Show it: in a notebook below the cell, else in the system's viewer of pictures."""
        from tacit.draw._shown import show

        show(self)

    def __repr__(self) -> str:
        from tacit.draw._shown import figure_text

        return figure_text(self)

    def _repr_png_(self) -> bytes:
        from tacit.draw._shown import png_bytes

        return png_bytes(self)

    def _repr_html_(self) -> str:
        from tacit.draw._shown import figure_html

        return figure_html(self)

    def with_notice(self, text: str | None) -> "Figure":
        """The same figure with another notice, or with none."""
        return replace(self, notice=text)

    def only(self, letter: str) -> "Figure":
        """The figure of one panel alone, chosen by its letter: "a", "b", …"""
        letters = [self.letter(place).strip("()") or "a" for place in range(len(self.panels))]
        if letter not in letters:
            raise ValueError(f"panel: received {letter!r}, this figure has {', '.join(letters)}")
        kept = self.panels[letters.index(letter)]
        return Figure(self.title, [kept], caption=self.caption, notice=self.notice)

    def in_columns(self, width: float) -> "Figure":
        """The figure for a page's column of this width, in inches: fewer panels stand in a row.

        What a paper says in its own caption, title, caption and notice, is left out.
        """
        columns = max(1, min(self.shape[1], int(width / _NARROWEST)))
        rows = math.ceil(len(self.panels) / columns)
        height = rows * (_SQUAT * width / columns + _WORDS)
        return replace(
            self, title="", caption="", notice=None, columns=columns, size=(width, height)
        )

    def published(self, caption: str = "") -> "Figure":
        """The paper's panels and marks alone: no title, notice or notes, and another caption."""
        found = [panel.published() for panel in _without(self.panels, self.ours)]
        panels = [panel for panel in found if panel is not None]
        if len(panels) < len(self.panels):  # its layout was for more of them
            return Figure("", panels, caption=caption)
        return Figure("", panels, columns=self.columns, caption=caption, size=self.size)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of panels."""
        count = len(self.panels)
        columns = min(self.columns or {1: 1, 2: 2, 4: 2}.get(count, 3), count)
        return math.ceil(count / columns), columns

    @property
    def width(self) -> float:
        """The width in inches."""
        if self.size is not None:
            return float(self.size[0])
        return {1: 6.4, 2: 9.2, 3: 12.4}.get(self.shape[1], 3.9 * self.shape[1])

    def letter(self, place: int) -> str:
        """The letter of a panel, "(a)"; empty in a figure of one panel."""
        if len(self.panels) == 1:
            return ""
        rank, last = divmod(place, 26)
        return f"({string.ascii_lowercase[rank - 1] if rank else ''}{string.ascii_lowercase[last]})"


def _without(all_: Sequence[T], some: Sequence[T]) -> list[T]:
    """The others of them: records that hold arrays are told apart by identity."""
    left = {id(one) for one in some}
    return [one for one in all_ if id(one) not in left]


def _plain(words: str) -> str:
    return words.strip().casefold()


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
