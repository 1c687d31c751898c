"""Figures to files: complete or not at all, and the same bytes for the same figure."""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit._doors import door, each, instance, path, text
from tacit._files import write_atomically
from tacit.draw._checks import check_choice
from tacit.draw._figure import Figure
from tacit.draw._matplotlib import to_matplotlib
from tacit.draw._matplotlib_page import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

FORMATS = ("png", "svg", "pdf")
# What Matplotlib would say of itself and of the moment: the same figure has the same bytes.
_UNSAID = {"png": ["Software"], "svg": ["Date"], "pdf": ["CreationDate", "Producer", "Creator"]}
WIDTHS = {"single": 3.4, "double": 7.0}
"""How wide a figure is in a journal of two columns, in inches."""


@door(figure=instance(Figure), path=path)
def save_png(figure: Figure, path: str | Path) -> Path:
    """Write the figure as a PNG."""
    return _write(to_matplotlib(figure), figure, Path(path), "png")


@door(figure=instance(Figure), path=path)
def save_svg(figure: Figure, path: str | Path) -> Path:
    """Write the figure as an SVG, text as outlines, without a date."""
    return _write(to_matplotlib(figure), figure, Path(path), "svg")


@door(figure=instance(Figure), stem=path)
def save_both(figure: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write `stem.png` and `stem.svg`; the layout, which takes longest, is made once."""
    png, svg = save_all(figure, stem, ("png", "svg"))
    return png, svg


@door(figure=instance(Figure), stem=path, kinds=each(text))
def save_all(figure: Figure, stem: str | Path, kinds: Sequence[str]) -> list[Path]:
    """Write `stem.KIND` for each of these kinds, of `FORMATS`; the layout is made once."""
    for kind in kinds:
        check_choice("save_all", "kinds", kind, FORMATS)
    sheet = to_matplotlib(figure)
    return [_write(sheet, figure, Path(f"{stem}.{kind}"), kind) for kind in kinds]


def save_figure(figure: Figure, path: Path) -> Path:
    """Write the figure as the file's ending says."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ValueError(
            f"path: received {str(path)!r}, it must end in one of "
            + ", ".join(f".{known}" for known in FORMATS)
        )
    return _write(to_matplotlib(figure), figure, path, kind)


def as_bytes(sheet: "Sheet", figure: Figure, kind: str) -> bytes:
    """The file's contents."""
    metadata: dict[str, Any] = dict.fromkeys(_UNSAID[kind])
    if kind != "png":
        metadata["Title"] = figure.title
    content = io.BytesIO()
    with style():
        # Not `savefig`, which would draw everything again for a layout that is already made.
        _print(sheet, kind)(content, metadata=metadata)
    data = content.getvalue()
    return with_steady_names(data) if kind == "svg" else data


def _write(sheet: "Sheet", figure: Figure, path: Path, kind: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, as_bytes(sheet, figure, kind))
    return path


_CLIP = re.compile(rb' *<clipPath id="(p[0-9a-f]{10})">(.*?)</clipPath>\n?', re.DOTALL)


def with_steady_names(svg: bytes) -> bytes:
    """An SVG whose clipping frames are named by their order and written once.

    Matplotlib names them by their corners to the last bit, of which the layout gives no two runs
    the same; what is drawn is written to six decimals.
    """
    names: dict[bytes, bytes] = {}  # by what the frame is
    renamed: dict[bytes, bytes] = {}
    for found in _CLIP.finditer(svg):
        renamed[found[1]] = names.setdefault(found[2], b"clip%d" % (len(names) + 1))
    seen: set[bytes] = set()

    def once(found: re.Match[bytes]) -> bytes:
        first = renamed[found[1]] not in seen
        seen.add(renamed[found[1]])
        return found[0] if first else b""

    kept = _CLIP.sub(once, svg)
    return re.sub(
        rb'(#|id=")(p[0-9a-f]{10})(?=[)"])',
        lambda found: found[1] + renamed.get(found[2], found[2]),
        kept,
    )


def _print(sheet: "Sheet", kind: str) -> Callable[..., None]:
    # Each kind imports its own canvas: the PDF's takes longer to import than a PNG to draw.
    if kind == "png":
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        return FigureCanvasAgg(sheet).print_png
    if kind == "svg":
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        return FigureCanvasSVG(sheet).print_svg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    return FigureCanvasPdf(sheet).print_pdf
