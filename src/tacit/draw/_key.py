"""What the panels of a figure say together, so that none of them repeats it."""

from itertools import chain

from tacit.draw._figure import Figure, Panel
from tacit.draw._marks import Mark


def key_marks(figure: Figure) -> list[Mark]:
    """The marks of the key that panels share: those that two or more have in their legends.

    One stays in its panels where another panel shows a mark that looks the same and is called
    otherwise: the key would be read for it too.
    """
    marks = list(chain.from_iterable(map(_legend, figure.panels)))
    looks = [mark.look for mark in marks]
    labels: dict[object, set[object]] = {}
    for mark in marks:
        labels.setdefault(mark.appearance, set()).add(mark.legend_label)
    found: dict[object, Mark] = {}
    for mark in marks:
        if looks.count(mark.look) > 1 and len(labels[mark.appearance]) == 1:
            found.setdefault(mark.look, mark)
    return list(found.values())


def own_marks(figure: Figure, panel: Panel) -> list[Mark]:
    """What is left for a panel's own legend, beside the key."""
    shared = {mark.look for mark in key_marks(figure)}
    return [mark for mark in _legend(panel) if mark.look not in shared]


def y_labels(figure: Figure) -> list[str]:
    """The y labels to write: none that a panel's title says, or the neighbour on its left has."""
    _, columns = figure.shape
    found: list[str] = []
    for place, panel in enumerate(figure.panels):
        left = figure.panels[place - 1] if place % columns else None
        said = left is not None and left.y_label == panel.y.label and not left.heatmaps
        found.append("" if said else panel.y_label)
    return found


def _legend(panel: Panel) -> list[Mark]:
    return [] if panel.empty else panel.legend_marks()
