"""How Matplotlib's pages look: thin spines, a light grid, legends without frames."""

from contextlib import AbstractContextManager
from typing import Any

from tacit.draw._matplotlib_page import LABEL, SMALL
from tacit.draw._palette import GRID, ROLES, SPINE

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
