"""What one line of a labelled array shows: its places, its runs, and what is known of each run."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tacit._doors import each, text

Label = str | Mapping[Any, str] | Callable[..., str | None] | None
"""How lines are labelled: see `median_lines`."""


class Labelled(Protocol):
    """The part of `xarray.DataArray` that is used here."""

    @property
    def dims(self) -> tuple[Any, ...]:
        """The names of the dimensions."""

    def __getitem__(self, key: Any) -> Any:
        """The labels along a dimension."""

    @property
    def coords(self) -> Any:
        """The labels by name; "outcome" among them says how each run ended."""

    def sel(self, indexers: Any) -> Any:
        """The part at some labels."""

    def transpose(self, *dims: Any) -> Any:
        """The same with its dimensions in this order."""


class OneLine:
    """What one line shows: its labels, its places on the axis, and its runs (place, run).

    `runs` are the names of the runs, `outcomes` how each ended at each place, if that is known.
    """

    def __init__(
        self,
        labels: dict[str, Any],
        x: np.ndarray,
        table: np.ndarray,
        runs: list[str],
        outcomes: np.ndarray | None,
    ) -> None:
        order = np.argsort(x, kind="stable")
        self.labels, self.x, self.table, self.runs = labels, x[order], table[order], runs
        self.outcomes = None if outcomes is None else outcomes[order]

    def hover(self, run: int) -> tuple[str, ...]:
        """What is known of a run at each place: "seed 3, converged"; nothing of a lone one."""
        ends = [""] * len(self.x) if self.outcomes is None else self.outcomes[:, run].tolist()
        told = tuple(", ".join(filter(None, (self.runs[run], end))) for end in ends)
        return told if any(told) else ()

    def counts(self, place: int) -> str:
        """How many runs there are at a place, and how they ended: "8 runs: 7 converged, 1 …"."""
        there = ~np.isnan(self.table[place])
        if there.size < 2:
            return ""
        words = f"{there.sum()} runs"
        if self.outcomes is None:
            return words
        names, counts = np.unique(self.outcomes[place][there], return_counts=True)
        ended = (f"{n} {name}" for name, n in zip(names, counts, strict=True))
        return f"{words}: {', '.join(ended)}"

    def look(self, place: int, label: Label, colour: Any, style: Any) -> dict[str, Any]:
        """How it is labelled and drawn, as the `place`-th line."""
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


def split(values: Labelled, x: str, by: str | Sequence[str]) -> Iterator[OneLine]:
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
        others = [dim for dim in part.dims if dim != x]
        table = np.asarray(part.transpose(x, *others).values, dtype=float)
        yield OneLine(
            labels,
            places,
            table.reshape(len(places), -1),
            _names(part, others),
            _outcomes(part, x, others, table.shape),
        )


def _names(part: Labelled, dims: Sequence[Any]) -> list[str]:
    """Runs by what tells them apart: "seed 3"."""
    labels = [[f"{dim} {label}" for label in part[dim].values.tolist()] for dim in dims]
    several = [some for some in labels if len(some) > 1]
    return [", ".join(chosen) for chosen in itertools.product(*several)]


def _outcomes(
    part: Labelled, x: str, dims: Sequence[Any], shape: tuple[int, ...]
) -> np.ndarray | None:
    """How each run ended at each place on the axis."""
    known = part.coords.get("outcome") if hasattr(part, "coords") else None
    if known is None or not set(known.dims) <= {x, *dims}:
        return None
    missing = [dim for dim in (x, *dims) if dim not in known.dims]
    ended = known.expand_dims(missing).transpose(x, *dims).values
    return np.broadcast_to(ended, shape).reshape(shape[0], -1)
