"""Which cells a claim reads, found by changing cells and looking whether the claim changes."""

import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import SEED, Claim
from tacit.experiments import Experiment

if TYPE_CHECKING:
    import xarray

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

    Cells are taken away, then made very large, then very small (a maximum does not miss a cell that
    is not the largest). First along each axis, value by value, then column by column among what is
    left, unless that is many. Claims that cannot be made without some cells are taken to read them;
    if they cannot be made with large or small values, that probe says nothing.
    """
    work = _Altered(experiment, runs)
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


def values_unread(
    experiment: Experiment,
    runs: "xarray.Dataset",
    claims: Sequence[Claim],
    axis: str,
    values: Sequence[Any],
) -> list[Any]:
    """Those of some values of an axis whose cells no claim reads, looked for by halves."""
    work = _Altered(experiment, runs)

    def unread(some: Sequence[Any]) -> list[Any]:
        if not some or not work.any_changed(claims, {axis: list(some)}):
            return list(some)
        half = len(some) // 2
        return [*unread(some[:half]), *unread(some[half:])] if half else []

    return unread(values)


_HUGE = 1e30
# By kind of array (floats, words, booleans, the rest are integers): what is put into the cells.
_MISSING = {"f": np.nan, "U": "failed", "b": False, "i": -1}
_PROBES = (
    _MISSING,
    {"f": _HUGE, "U": "converged", "b": True, "i": 10**6},
    {"f": -_HUGE, "U": "converged", "b": False, "i": -(10**6)},
)


class _Altered:
    """The dataset with other values in some cells, and the claims that come out otherwise."""

    def __init__(self, experiment: Experiment, runs: "xarray.Dataset") -> None:
        self._experiment = experiment
        self._runs = runs.copy(deep=True)

    def changed(self, claims: Sequence[Claim], where: Mapping[str, Any]) -> list[Claim]:
        """The claims that are not the same when the cells at these labels are altered."""
        same = list(claims)
        for probe in _PROBES:
            made = self._made(where, probe) if same else {}
            if made is not None:
                same = [claim for claim in same if _same(claim, made.get(claim.name))]
            elif probe is _MISSING:
                same = []
        return [claim for claim in claims if claim not in same]

    def any_changed(self, claims: Sequence[Claim], where: Mapping[str, Any]) -> bool:
        """Whether one of the claims is not the same; found with as few probes as possible."""
        for probe in _PROBES:
            made = self._made(where, probe)
            if made is None and probe is _MISSING:
                return True
            if made is not None and not all(_same(c, made.get(c.name)) for c in claims):
                return True
        return False

    def _made(self, where: Mapping[str, Any], probe: Mapping[str, Any]) -> dict[str, Claim] | None:
        """The claims by name with a probe in some cells; None if they cannot be made."""
        arrays = dict(self._runs.data_vars)
        kept = {name: array.loc[dict(where)].values.copy() for name, array in arrays.items()}
        try:
            for array in arrays.values():
                array.loc[dict(where)] = probe.get(array.dtype.kind, probe["i"])
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return {claim.name: claim for claim in self._experiment.claims(self._runs)}
        except Exception:  # what a claim does with such cells is its own affair
            return None
        finally:
            for name, array in arrays.items():
                array.loc[dict(where)] = kept[name]


def _same(claim: Claim, other: Claim | None) -> bool:
    return other is not None and np.array_equal(claim.values, other.values, equal_nan=True)
