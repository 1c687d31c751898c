"""The figure of an entry, as the page needs it: plots in a script, and a small picture."""

import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit._files import write_atomically
from tacit.draw import Figure, KeyEntry, WebPanel, figure_from_dict, save_thumbnail, to_web
from tacit.site._entries import Entry


@dataclass(frozen=True)
class Shown:
    """A figure on its page: texts and keys for the page, plots for its script."""

    figure: Figure
    panels: list[WebPanel]
    key: list[KeyEntry]

    @property
    def order(self) -> list[WebPanel]:
        """The panels with the main one first."""
        main = self.panels[self.figure.main]
        return [main, *(panel for panel in self.panels if panel is not main)]

    @property
    def script(self) -> str:
        """The plots, in the order of the page, as a script that hands them over."""
        plots = [panel.plot for panel in self.order]
        text = json.dumps(plots, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return f"window.tacitPlots = {text};\n"


def shown_figure(record: Any) -> Shown:
    """The figure of a page's record; a `ValueError` if it is none."""
    figure = figure_from_dict(record)
    panels, key = to_web(figure)
    return Shown(figure, panels, key)


def thumbnail_name(entry: Entry) -> str:
    """The name of its small picture, another one for another figure."""
    return f"{entry.slug}.{entry.page_digest[:8]}.png"


def make_thumbnail(shown: Shown, path: Path) -> None:
    """Make the small picture, unless it is there already."""
    if not path.is_file() or path.is_symlink():
        path.unlink(missing_ok=True)
        save_thumbnail(shown.figure, path)


def plotly_script() -> bytes | None:
    """Plotly's own script, of the package's copy; None where Plotly is not installed."""
    try:
        found = importlib.util.find_spec("plotly")
    except (ImportError, ValueError):
        return None
    for place in (found.submodule_search_locations or ()) if found else ():
        path = Path(place) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path.read_bytes()
    return None


def size_of_svg(data: bytes) -> tuple[int, int]:
    """Width and height that an SVG of ours asks for, in pixels; a guess if it does not tell."""
    head = data[:4096]
    found = [
        re.search(rb' %s="(\d{1,5})(?:\.\d+)?pt"' % name, head) for name in (b"width", b"height")
    ]
    if not all(found):
        return 1200, 800
    width, height = (round(int(one[1]) * 96 / 72) for one in found if one)
    return width, height


def same_bytes(path: Path, data: bytes) -> bool:
    """Whether a regular file holds these bytes already."""
    try:
        if path.is_symlink() or path.stat().st_size != len(data):
            return False
        return path.read_bytes() == data
    except OSError:
        return False


def write_if_changed(path: Path, data: bytes) -> None:
    """Write a file whole, unless that would change nothing."""
    if not same_bytes(path, data):
        write_atomically(path, data)
