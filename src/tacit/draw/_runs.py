"""Lines of labelled arrays: what a number does over runs, against something swept.

They take an `xarray.DataArray`, one of its dimensions for the x axis and those that tell lines
apart (`by`). In a run's number NaN means that the run does not count; an infinite value counts.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit._doors import door, flag, having, number, text
from tacit.draw._marks import Band, Line, Mark, Points
from tacit.draw._one_line import Label, Labelled, split
from tacit.draw._palette import Colour


@door(answer="any", values=having("dims", "sel", "transpose"), x=text)
def median_lines(
    values: Labelled,
    x: str,
    *,
    by: str | Sequence[str] = (),
    label: Label = None,
    colour: Colour | Mapping[Any, Colour] | None = None,
    style: str | Mapping[Any, str] = "solid",
    band: bool | Mapping[Any, bool] = True,
    marker: str | None = "o",
) -> list[Mark]:
    """Medians over runs against `x`, with the middle half as a band; a line for each value of `by`.

    The median is a run's own value (the nearest rank), since no number lies between one and
    infinity. All dimensions but `x` and `by` are runs.

    **Arguments:**

    - `values`, `x`, `by`: the array, the dimension along the axis, those that tell lines apart.
    - `label`: of a line: a template such as `"d = {width}, {iterate}"`, words for the labels such
      as `{"last": "last iterate"}`, or a function of the labels as keywords (None from it leaves
      the line without a label). None names the labels themselves, or nothing without `by`.
    - `colour`, `style`, `band`: one for all, or a mapping from a label of the line, such as
      `{"last": "solid", "best": "dotted"}`; colours count up by default.
    - `marker`: on lines with a band; None is none.
    """
    return _summary_lines(values, x, _quartiles, by, label, colour, style, band, marker)


@door(answer="any", values=having("dims", "sel", "transpose"), x=text, errors=number(0))
def mean_lines(
    values: Labelled,
    x: str,
    *,
    by: str | Sequence[str] = (),
    label: Label = None,
    colour: Colour | Mapping[Any, Colour] | None = None,
    style: str | Mapping[Any, str] = "solid",
    band: bool | Mapping[Any, bool] = True,
    marker: str | None = "o",
    errors: float | int | None = None,
) -> list[Mark]:
    """Means over runs against `x` with a band of one standard deviation; see `median_lines`.

    - `errors`: if given, the band is so many standard errors of the mean instead.
    """
    summary = functools.partial(_mean_and_spread, errors=errors)
    return _summary_lines(values, x, summary, by, label, colour, style, band, marker)


@door(answer="any", values=having("dims", "sel", "transpose"), x=text)
def lines(
    values: Labelled,
    x: str,
    *,
    by: str | Sequence[str] = (),
    label: Label = None,
    colour: Colour | Mapping[Any, Colour] | None = None,
    style: str | Mapping[Any, str] = "solid",
    marker: str | None = None,
) -> list[Mark]:
    """The values themselves against `x`, such as a theory's; see `median_lines`.

    Dimensions other than `x` and `by` are runs, drawn as thin lines that share a label.
    """
    marks: list[Mark] = []
    for place, line in enumerate(split(values, x, by)):
        look = line.look(place, label, colour, style)
        alone = line.table.shape[1] == 1
        kept: dict[str, Any] = {} if alone else {"width": 0.8, "opacity": 0.6}
        for rank, run in enumerate(line.table.T):
            hover = line.hover(rank) or None
            marks.append(Line(line.x, run, marker=marker, hover=hover, **look, **kept))
    return marks


@door(answer="any", values=having("dims", "sel", "transpose"), x=text)
def range_lines(
    values: Labelled,
    x: str,
    *,
    by: str | Sequence[str] = (),
    label: Label = None,
    colour: Colour | Mapping[Any, Colour] | None = None,
    style: str | Mapping[Any, str] = "solid",
) -> list[Mark]:
    """Medians over runs against `x`, with the range of all runs as a band; see `median_lines`.

    For few runs and smooth curves: there are no markers, and of an even number of runs the median
    lies half-way between the middle two.
    """
    return _summary_lines(values, x, _median_and_range, by, label, colour, style, True, None)


@door(
    answer="any",
    values=having("dims", "sel", "transpose"),
    x=text,
    size=number(above=0),
    opacity=number(0, 1),
)
def run_points(
    values: Labelled,
    x: str,
    *,
    by: str | Sequence[str] = (),
    colour: Colour | Mapping[Any, Colour] | None = None,
    size: float | int = 3.0,
    opacity: float | int = 0.5,
) -> list[Mark]:
    """Every run that counts as a small point above its `x`; see `median_lines`."""
    marks: list[Mark] = []
    for place, line in enumerate(split(values, x, by)):
        shade = place if colour is None else line.choose("colour", colour)
        shown = ~np.isnan(line.table)
        places = np.broadcast_to(line.x[:, None], shown.shape)
        words = [line.hover(run) for run in range(shown.shape[1])]
        hover = [words[run][row] for row, run in np.argwhere(shown)] if all(words) else None
        look: dict[str, Any] = {"size": size, "opacity": opacity, "hover": hover}
        marks.append(Points(places[shown], line.table[shown], colour=shade, **look))
    return marks


def _summary_lines(
    values: Labelled,
    x: str,
    summary: Callable[[np.ndarray], tuple[float, float, float]],
    by: str | Sequence[str],
    label: Label,
    colour: Any,
    style: Any,
    band: Any,
    marker: str | None,
) -> list[Mark]:
    marks: list[Mark] = []
    for place, line in enumerate(split(values, x, by)):
        low, middle, high = np.full((3, len(line.x)), np.nan)
        for row, runs in enumerate(line.table):
            counted = runs[~np.isnan(runs)]
            if counted.size:
                low[row], middle[row], high[row] = summary(counted)
        look, banded = line.look(place, label, colour, style), line.choose("band", band)
        flag("band", banded)
        if banded:
            marks.append(Band(line.x, low, high, colour=look["colour"]))
        told = tuple(line.counts(row) for row in range(len(line.x)))
        hover = told if any(told) else None
        marks.append(Line(line.x, middle, marker=marker if banded else None, hover=hover, **look))
    return marks


def _median_and_range(runs: np.ndarray) -> tuple[float, float, float]:
    return runs.min(), float(np.median(runs)), runs.max()


def _quartiles(runs: np.ndarray) -> tuple[float, float, float]:
    low, middle, high = np.quantile(runs, [0.25, 0.5, 0.75], method="nearest")
    return low, middle, high


def _mean_and_spread(
    runs: np.ndarray, errors: float | int | None = None
) -> tuple[float, float, float]:
    if not np.isfinite(runs).all():  # the mean is infinite, or none; there is no spread around it
        ends = {float(run) for run in runs if np.isinf(run)}
        return np.nan, ends.pop() if len(ends) == 1 else np.nan, np.nan
    mean, spread = runs.mean(), runs.std()
    if errors is not None:
        spread = errors * spread / np.sqrt(runs.size)
    return mean - spread, mean, mean + spread
