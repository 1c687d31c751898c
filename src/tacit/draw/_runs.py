"""Lines of labelled arrays: what a number does over runs, against something swept.

They take an `xarray.DataArray`, one of its dimensions for the x axis and those that tell lines
apart (`by`). In a run's number NaN means that the run does not count; an infinite value counts.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tacit._doors import door, each, flag, having, number, text
from tacit.draw._marks import Band, Line, Mark, Points
from tacit.draw._palette import Colour

Label = str | Mapping[Any, str] | Callable[..., str | None] | None
"""How lines are labelled: see `median_lines`."""


class Labelled(Protocol):
    """The part of `xarray.DataArray` that is used here."""

    @property
    def dims(self) -> tuple[Any, ...]:
        """The names of the dimensions."""

    def __getitem__(self, key: Any) -> Any:
        """The labels along a dimension."""

    def sel(self, indexers: Any) -> Any:
        """The part at some labels."""

    def transpose(self, *dims: Any) -> Any:
        """The same with its dimensions in this order."""


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
    for place, line in enumerate(_split(values, x, by)):
        look = line.look(place, label, colour, style)
        alone = line.table.shape[1] == 1
        for run in line.table.T:
            kept: dict[str, Any] = {} if alone else {"width": 0.8, "opacity": 0.6}
            marks.append(Line(line.x, run, marker=marker, **look, **kept))
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
    for place, line in enumerate(_split(values, x, by)):
        shade = place if colour is None else line.choose("colour", colour)
        shown = ~np.isnan(line.table)
        places = np.broadcast_to(line.x[:, None], shown.shape)
        marks.append(
            Points(places[shown], line.table[shown], colour=shade, size=size, opacity=opacity)
        )
    return marks


class _OneLine:
    """What one line shows: its labels, its places on the axis, and its runs (place, run)."""

    def __init__(self, labels: dict[str, Any], x: np.ndarray, table: np.ndarray) -> None:
        order = np.argsort(x, kind="stable")
        self.labels, self.x, self.table = labels, x[order], table[order]

    def look(self, place: int, label: Label, colour: Any, style: Any) -> dict[str, Any]:
        return {
            "label": self._words(label),
            "colour": place if colour is None else self.choose("colour", colour),
            "style": self.choose("style", style),
        }

    def choose(self, option: str, choice: Any) -> Any:
        """The value for this line, of an option that may be a mapping from labels."""
        if not isinstance(choice, Mapping):
            return choice
        for value in self.labels.values():
            if value in choice:
                return choice[value]
        raise ValueError(
            f"{option}: received a mapping from {list(choice)}, none of which is a label of the "
            f"line {self.labels}"
        )

    def _words(self, label: Label) -> str | None:
        if label is not None and not isinstance(label, str | Mapping) and not callable(label):
            raise ValueError(f"label: received {label!r}, it must be text, a mapping or a function")
        if label is None or isinstance(label, Mapping):
            known: Mapping[Any, str] = label or {}
            return ", ".join(str(known.get(v, v)) for v in self.labels.values()) or None
        if not isinstance(label, str):
            return label(**self.labels)
        try:
            return label.format(**self.labels)
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(
                f"label: received {label!r}, the names in it must be among {list(self.labels)}"
            ) from error


def _split(values: Labelled, x: str, by: str | Sequence[str]) -> Iterator[_OneLine]:
    """One table of runs for every combination of labels along `by`."""
    each(text, least=0)("by", (by,) if isinstance(by, str) else by)
    names = (by,) if isinstance(by, str) else tuple(by)
    if x in names:
        raise ValueError(f"by: received {list(names)}, which has {x!r}, the axis itself")
    for name in (x, *names):
        if name not in values.dims:
            raise ValueError(
                f"values: received an array over {list(values.dims)}, without {name!r}, which x or "
                "by asks for"
            )
    labels_of_x = np.asarray(values[x].values)
    if labels_of_x.dtype.kind not in "biuf":
        raise ValueError(f"x: the labels along {x!r} are not numbers: {labels_of_x.tolist()}")
    places = labels_of_x.astype(float)
    choices = [values[name].values.tolist() for name in names]
    for chosen in itertools.product(*choices):
        labels = dict(zip(names, chosen, strict=True))
        part = values.sel(labels) if labels else values
        table = part.transpose(x, *(dim for dim in part.dims if dim != x)).values
        yield _OneLine(labels, places, np.asarray(table, dtype=float).reshape(len(places), -1))


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
    for place, line in enumerate(_split(values, x, by)):
        low, middle, high = np.full((3, len(line.x)), np.nan)
        for row, runs in enumerate(line.table):
            counted = runs[~np.isnan(runs)]
            if counted.size:
                low[row], middle[row], high[row] = summary(counted)
        look, banded = line.look(place, label, colour, style), line.choose("band", band)
        flag("band", banded)
        if banded:
            marks.append(Band(line.x, low, high, colour=look["colour"]))
        marks.append(Line(line.x, middle, marker=marker if banded else None, **look))
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
