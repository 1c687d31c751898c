"""The sample of a mark in a key on a page, as a small SVG."""

from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Points, Text, VerticalRule
from tacit.draw._palette import HATCH, NO_VALUE, hex_of

_WIDTH, _HEIGHT = 26, 12
_DASHES = {"solid": "", "dashed": "5 3", "dotted": "1.5 2.5"}
_SHAPES = {
    "o": '<circle cx="13" cy="6" r="3.4"/>',
    "s": '<rect x="9.8" y="2.8" width="6.4" height="6.4"/>',
    "^": '<path d="M13 2 L17 9.4 L9 9.4 Z"/>',
    "D": '<path d="M13 1.4 L17.6 6 L13 10.6 L8.4 6 Z"/>',
    "x": '<path d="M9.6 2.6 L16.4 9.4 M16.4 2.6 L9.6 9.4" fill="none"/>',
}


def swatch(mark: Mark) -> str:
    """A sample of the mark; colours and shapes only, no text of anybody's."""
    return (
        f'<svg class="swatch" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'aria-hidden="true">{_inside(mark)}</svg>'
    )


def _inside(mark: Mark) -> str:
    if isinstance(mark, Line | VerticalRule | HorizontalRule):
        width = mark.width if isinstance(mark, Line) else 1.2
        dash = f' stroke-dasharray="{_DASHES[mark.style]}"' if _DASHES[mark.style] else ""
        colour = hex_of(mark.colour)
        line = f'<path d="M1 6 H25" stroke="{colour}" stroke-width="{float(width):g}"{dash}/>'
        marker = mark.marker if isinstance(mark, Line) else None
        return line + (_shape(marker, colour, filled=True) if marker else "")
    if isinstance(mark, Points):
        return _shape(mark.marker, hex_of(mark.colour), filled=mark.filled)
    if isinstance(mark, Band):
        fill = hex_of(mark.colour)
        return f'<rect x="1" y="1" width="24" height="10" fill="{fill}" fill-opacity="0.25"/>'
    if isinstance(mark, Heatmap):
        frame = f'fill="{NO_VALUE}" stroke="{HATCH}"'
        return f'<rect x="5" y="1" width="16" height="10" {frame}/>'
    assert isinstance(mark, Text)  # it has no entry in a key
    return ""


def _shape(marker: str, colour: str, *, filled: bool) -> str:
    fill = colour if filled else "none"
    look = f'fill="{fill}" stroke="{colour}" stroke-width="{0.6 if filled else 1.4}"'
    if marker == "x":
        look = f'stroke="{colour}" stroke-width="1.6"'
    return f"<g {look}>{_SHAPES[marker]}</g>"
