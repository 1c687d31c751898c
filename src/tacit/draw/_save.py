"""Figures to files: complete or not at all, and the same bytes for the same figure."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tacit._files import write_atomically
from tacit.draw._figure import Figure
from tacit.draw._matplotlib import to_matplotlib
from tacit.draw._matplotlib_page import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet


def save_png(figure: Figure, path: str | Path) -> Path:
    """Write the figure as a PNG."""
    return _write(to_matplotlib(figure), figure, Path(path), "png")


def save_svg(figure: Figure, path: str | Path) -> Path:
    """Write the figure as an SVG, text as outlines, without a date."""
    return _write(to_matplotlib(figure), figure, Path(path), "svg")


def save_both(figure: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write `stem.png` and `stem.svg`; the layout, which takes longest, is made once."""
    sheet = to_matplotlib(figure)
    png, svg = (_write(sheet, figure, Path(f"{stem}.{kind}"), kind) for kind in ("png", "svg"))
    return png, svg


def _write(sheet: "Sheet", figure: Figure, path: Path, kind: str) -> Path:
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Title": figure.title}}[kind]
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    with style():
        # Not `savefig`, which would draw everything again for a layout that is already made.
        _print(sheet, kind)(content, metadata=metadata)
    write_atomically(path, content.getvalue())
    return path


def _print(sheet: "Sheet", kind: str) -> Callable[..., None]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    return FigureCanvasAgg(sheet).print_png if kind == "png" else FigureCanvasSVG(sheet).print_svg
