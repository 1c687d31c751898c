"""Which cells a claim reads, found by taking cells away and looking whether the claim changes."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import Claim
from tacit.experiments._experiment import Experiment

if TYPE_CHECKING:
    import xarray

SEED = "seed"

Column = tuple[Any, ...]
"""The cells of all seeds at one combination of the other axes: its values, in the axes' order."""

_FINE = 64  # columns beyond which a claim's cells are known by axis only


def columns(experiment: Experiment) -> Iterator[Column]:
    """Every combination of the axes but the seed."""
    return itertools.product(*(v for name, v in experiment.axes().items() if name != SEED))


def columns_read(
    experiment: Experiment, runs: "xarray.Dataset", claims: Sequence[Claim]
) -> dict[str, frozenset[Column]]:
    """The columns that each of some claims reads, by the claim's name.

    First along each axis, value by value, then column by column among what is left, unless that is
    many. A claim that cannot be made without some cells is taken to read them.
    """
    work = _Blanked(experiment, runs)
    axes = {name: v for name, v in experiment.axes().items() if name != SEED}
    along: dict[str, dict[str, list[Any]]] = {
        claim.name: {name: [] for name in axes} for claim in claims
    }
    for name, values in axes.items():
        for value in values:
            for claim in work.changed(claims, {name: value}):
                along[claim.name][name].append(value)
    found = {}
    for claim in claims:
        # An axis along which no single value matters (a maximum, say) is read whole.
        kept = [along[claim.name][name] or list(axes[name]) for name in axes]
        found[claim.name] = frozenset(itertools.product(*kept))
    for column in {c for cs in found.values() if 1 < len(cs) <= _FINE for c in cs}:
        asked = [claim for claim in claims if 1 < len(found[claim.name]) <= _FINE]
        asked = [claim for claim in asked if column in found[claim.name]]
        changed = work.changed(asked, dict(zip(axes, column, strict=True)))
        for claim in asked:
            if claim not in changed and len(found[claim.name]) > 1:
                found[claim.name] -= {column}
    return found


class _Blanked:
    """The dataset with some cells taken away, and the claims that come out otherwise without."""

    def __init__(self, experiment: Experiment, runs: "xarray.Dataset") -> None:
        self._experiment = experiment
        self._runs = runs.copy(deep=True)

    def changed(self, claims: Sequence[Claim], where: Mapping[str, Any]) -> list[Claim]:
        """The claims that are not the same when the cells at these labels are missing."""
        if not claims:
            return []
        kept = {str(name): self._take_away(array, where) for name, array in self._arrays()}
        try:
            made = {claim.name: claim for claim in self._experiment.claims(self._runs)}
        except Exception:  # what a claim does with missing cells is its own affair
            return list(claims)
        finally:
            for name, array in self._arrays():
                array.loc[dict(where)] = kept[str(name)]
        return [claim for claim in claims if not _same(claim, made.get(claim.name))]

    def _arrays(self) -> Iterable[tuple[Any, "xarray.DataArray"]]:
        return self._runs.data_vars.items()

    @staticmethod
    def _take_away(array: "xarray.DataArray", where: Mapping[str, Any]) -> np.ndarray:
        before = array.loc[dict(where)].values.copy()
        missing = {"f": np.nan, "c": np.nan, "U": "failed", "b": False}.get(array.dtype.kind, -1)
        array.loc[dict(where)] = missing
        return before


def _same(claim: Claim, other: Claim | None) -> bool:
    return other is not None and np.array_equal(claim.values, other.values, equal_nan=True)
