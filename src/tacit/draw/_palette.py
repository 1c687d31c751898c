"""Colours by meaning: one categorical palette, roles with names, and ordered shades.

The categorical colours are Okabe and Ito's (jfly.uni-koeln.de/color), without black (which is the
role "ink") and yellow (unreadable on white), and with two of Paul Tol's in their place. They stay
apart under the common colour-vision deficiencies, which the tests check.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from tacit._doors import door, each, whole
from tacit._errors import shown
from tacit.draw._checks import check_fraction

CATEGORICAL = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # pink
    "#E69F00",  # orange
    "#56B4E9",  # sky
    "#332288",  # indigo
    "#882255",  # wine
)

ROLES = {
    "ink": "#1F2933",  # text, measured data that needs no family
    "muted": "#6B7280",  # secondary text, single seeds behind a median
    "reference": "#4B5563",  # theory, bounds and other people's numbers
    "warning": "#B42318",  # what the reader must not miss
}

# Furniture of the page; not offered to marks.
SPINE = "#9AA3AF"
GRID = "#E8EBEF"
PAPER = "#FFFFFF"
NO_VALUE = "#EEF0F2"
HATCH = "#A9B0BA"

# Ordered families on white paper: plasma from its dark end to orange, where it is still readable.
ORDERED = ("#0D0887", "#4903A0", "#7E03A8", "#A82296", "#CB4679", "#E56B5D", "#F79044")

# Heatmaps: viridis, and a blue-white-red map for values around a centre.
SEQUENTIAL = (
    "#440154", "#482878", "#3E4A89", "#31688E", "#26828E", "#1F9E89", "#35B779", "#6DCD59",
    "#B4DE2C", "#FDE725",
)  # fmt: skip
DIVERGING = (
    "#2166AC", "#4393C3", "#92C5DE", "#D1E5F0", "#F7F7F7", "#FDDBC7", "#F4A582", "#D6604D",
    "#B2182B",
)  # fmt: skip


@dataclass(frozen=True)
class Shade:
    """A colour by its place in an ordered family, such as a training length: 0 dark, 1 light."""

    place: SupportsFloat

    def __post_init__(self) -> None:
        check_fraction("Shade", "place", self.place)

    @classmethod
    @door(size=whole(-100_000, 100_000))
    def family(cls, size: int) -> list["Shade"]:
        """`size` shades spread evenly from dark to light, in order."""
        if size < 1:
            raise ValueError(f"Shade.family.size: received {size}, it must be at least 1")
        return [cls(rank / max(size - 1, 1)) for rank in range(size)]

    @classmethod
    @door(values=each())
    def by_value(cls, values: Iterable[Any]) -> dict[Any, "Shade"]:
        """A shade for each of these values, from dark to light in the order given."""
        ordered = list(values)
        if not all(isinstance(value, Hashable) for value in ordered):
            raise ValueError(f"values: received {shown(ordered)}, they must be hashable")
        return dict(zip(ordered, cls.family(len(ordered)), strict=True))


Colour: TypeAlias = SupportsIndex | str | Shade
"""An index into the categorical palette, the name of a role, or a `Shade`."""


def blend(stops: Sequence[str], place: float) -> str:
    """The colour at `place` in [0, 1] along evenly spaced `stops`, as #RRGGBB."""
    position = place * (len(stops) - 1)
    left = min(int(position), len(stops) - 2)
    part = position - left
    pairs = zip(channels(stops[left]), channels(stops[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + part * (b - a)):02X}" for a, b in pairs)


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of #RRGGBB."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def translucent(colour: str, opacity: float) -> str:
    """#RRGGBB as the CSS colour rgba(r, g, b, opacity)."""
    red, green, blue = channels(colour)
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


def readable_on(colour: str) -> str:
    """Ink or white, whichever is easier to read on `colour` (by relative luminance)."""
    linear = [(channel / 255) ** 2.2 for channel in channels(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return ROLES["ink"] if luminance > 0.24 else PAPER


def hex_of(colour: Colour, *, owner: str = "colour") -> str:
    """The #RRGGBB of a `Colour`; ValueError, in the name of `owner`, if there is none."""
    if isinstance(colour, Shade):
        return blend(ORDERED, float(colour.place))
    if isinstance(colour, str):
        if colour not in ROLES:
            raise ValueError(
                f"{owner}.colour: received {colour!r}, it must be a role ({', '.join(ROLES)}), a "
                "palette index or a Shade"
            )
        return ROLES[colour]
    try:
        number = -1 if isinstance(colour, bool) else index(colour)
    except TypeError:
        number = -1
    if not 0 <= number < len(CATEGORICAL):
        raise ValueError(
            f"{owner}.colour: received {shown(colour)}, it must be an index from 0 to "
            f"{len(CATEGORICAL) - 1}; more colours cannot be told apart, so use Shade for an "
            "ordered family, line styles and markers, or more panels"
        )
    return CATEGORICAL[number]
