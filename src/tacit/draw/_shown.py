"""A figure at a prompt and in a notebook: a few words, or the picture itself."""

import base64
import sys
import tempfile
import weakref
import webbrowser
from html import escape
from pathlib import Path

from tacit._notebook import few_lines, in_notebook
from tacit.draw._figure import Figure
from tacit.draw._matplotlib import to_matplotlib
from tacit.draw._save import as_bytes

_PIXELS_AN_INCH = 96  # of a page in a browser

# A notebook asks for the HTML and for the PNG of one figure; drawing takes longest.
_drawn: "weakref.WeakKeyDictionary[Figure, bytes]" = weakref.WeakKeyDictionary()


def png_bytes(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG."""
    if figure not in _drawn:
        _drawn[figure] = as_bytes(to_matplotlib(figure), figure, "png")
    return _drawn[figure]


def figure_html(figure: Figure) -> str:
    """The figure as a picture within a page, with words for those who do not see it."""
    data = base64.b64encode(png_bytes(figure)).decode()
    width = round(figure.width * _PIXELS_AN_INCH)
    alt = escape(" ".join(filter(None, (figure.title, figure.caption, figure.notice))), quote=True)
    return (
        f'<img alt="{alt}" style="width:{width}px;max-width:100%;background:white" '
        f'src="data:image/png;base64,{data}">'
    )


def figure_text(figure: Figure) -> str:
    """The title and the panels, in a few lines."""
    count = len(figure.panels)
    first = f"Figure {figure.title!r}, {count} panel{'s' if count != 1 else ''}"
    lines = (
        f"{figure.letter(place)} {panel.title}: {panel.y.label} against {panel.x.label}".strip()
        for place, panel in enumerate(figure.panels)
    )
    return few_lines(first, lines)


def show(figure: Figure) -> None:
    """Show the figure where the user is: below the cell, or in a viewer."""
    if in_notebook():
        from IPython.display import display

        display(figure)
        return
    with tempfile.NamedTemporaryFile(prefix="tacit-", suffix=".png", delete=False) as file:
        file.write(png_bytes(figure))
    if not webbrowser.open(Path(file.name).as_uri()):
        print(f"tacit: no viewer was found; the figure is {file.name}", file=sys.stderr)
