"""More seeds for the claims that are undecided: what it would take, and the rounds that add them.

Only the cells that an undecided claim reads get more seeds. Each claim is then made from as many
seeds as all its cells have, so that none is left out because it was never asked for.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import SEED, Claim, DecidedClaims
from tacit.experiments import Experiment
from tacit.reproduction._readers import Column, columns, columns_read
from tacit.store import PRESENT, Plan, Store
from tacit.sweep import Grid

if TYPE_CHECKING:
    import xarray

SEEDS_AT_MOST = 400
BUDGET_SECONDS = 1800.0
FORETELLING = 4  # seeds from which on a forecast is made
TOO_MANY_SEEDS = 1000
"""From here on a forecast is no use: the claim lies too near its bound."""


@dataclass(frozen=True)
class Effort:
    """What it would take to decide a claim: about so many more seeds, and seconds to run them."""

    seeds: int
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """In JSON's types; seconds in two digits."""
        return {"seeds": self.seeds, "seconds": float(f"{self.seconds:.2g}")}


def dataset_of(store: Store, plan: Plan) -> "xarray.Dataset":
    """The cells of a plan; one without a result has ended as `failed`."""
    runs = store.dataset(plan.axes, plan.fixed, plan.variables, plan.coords, attrs=plan.attrs)
    outcome = runs["outcome"]
    words = np.where(runs[PRESENT].values, outcome.values, "failed")
    runs["outcome"] = (outcome.dims, words, outcome.attrs)
    return runs


class OutOfTimeError(Exception):
    """The budget is spent; what was computed is stored."""


@dataclass
class MoreSeeds:
    """An experiment whose cells have different numbers of seeds.

    **Arguments:**

    - `experiment`, `plan`, `store`: what was run, with the seeds that every cell has.
    - `runs`: its dataset.
    - `claims`: made from it.
    - `decide`: the claims of an experiment from a dataset.
    """

    experiment: Experiment
    plan: Plan
    store: Store
    runs: "xarray.Dataset"
    claims: DecidedClaims
    decide: Callable[[Experiment, "xarray.Dataset"], tuple[Claim, ...]]
    seeds: dict[Column, int] = field(init=False)
    _read: dict[str, frozenset[Column]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.seeds = dict.fromkeys(columns(self.experiment), len(self._first))

    @property
    def _first(self) -> tuple[int, ...]:
        return self.plan.axes[SEED]  # type: ignore[return-value]

    def _values(self, count: int) -> tuple[int, ...]:
        """The first `count` seeds: those of the experiment, then the numbers after the largest."""
        more = max(self._first) + 1
        return (*self._first, *range(more, more + count - len(self._first)))[:count]

    def undecided(self) -> list[Claim]:
        """The claims that more seeds could decide."""
        found = [claim for claim in self.claims if claim.more_seeds is not None]
        unknown = [claim for claim in found if claim.name not in self._read]
        if unknown:
            self._read |= columns_read(self.experiment, self.runs, unknown)
        return found

    def efforts(self, *, at_a_time: int = 1) -> dict[str, Effort]:
        """What each undecided claim would take; batches run so many at a time.

        Of very few seeds nothing is foretold.
        """
        if len(self._first) < FORETELLING:
            return {}
        found = self.undecided()
        if not found:
            return {}
        costs = self._seconds_by_column(set().union(*(self._read[c.name] for c in found)))
        return {
            claim.name: Effort(
                claim.more_seeds or 0,
                (claim.more_seeds or 0) * sum(costs[c] for c in self._read[claim.name]) / at_a_time,
            )
            for claim in found
        }

    def run(
        self,
        sweep: Callable[[Grid, float], None],
        *,
        budget: float = BUDGET_SECONDS,
        seeds_at_most: int = SEEDS_AT_MOST,
    ) -> None:
        """Add seeds in rounds until every claim is decided, has `seeds_at_most`, or time is up.

        Seeds that are stored already cost nothing, and are taken in whatever the budget.
        `sweep(grid, deadline)` computes what a grid lacks, and raises `OutOfTimeError` if the
        deadline passes before it is through.
        """
        deadline = time.monotonic() + budget
        while True:
            wanted = [c for c in self.undecided() if self._count(c) < seeds_at_most]
            if not wanted:
                return
            before = dict(self.seeds)
            for claim in wanted:
                count = self._count(claim)
                # At most as many again: a forecast from few seeds is a rough one.
                target = min(count + min(max(2, claim.more_seeds or 0), count), seeds_at_most)
                for column in self._read[claim.name]:
                    self.seeds[column] = max(self.seeds[column], target)
            if time.monotonic() >= deadline and self._lacks_cells():
                self._keep_stored()
                if self.seeds == before:
                    return
            else:
                try:
                    sweep(self.grid(), deadline)
                except OutOfTimeError:
                    self._keep_stored()
            self._make_again(wanted)

    def grid(self) -> Grid:
        """The cells that are asked for."""
        most = max(self.seeds.values())
        whole = self.experiment.replace(seed=self._values(most)).grid()
        return replace(whole, keep=self._is_asked())

    def extended_plan(self) -> Plan:
        """The plan of all cells that were asked for."""
        wide, asked = self._plan_of(max(self.seeds.values())), self._is_asked()
        return replace(
            wide, not_asked=frozenset(i for i, cell in enumerate(wide.cells()) if not asked(cell))
        )

    def _plan_of(self, count: int) -> Plan:
        return replace(self.plan, axes={**self.plan.axes, SEED: self._values(count)})

    def _is_asked(self) -> Callable[[Mapping[str, Any]], bool]:
        """Says of a cell whether it is among the seeds of its column."""
        order = {seed: i for i, seed in enumerate(self._values(max(self.seeds.values())))}
        names = [name for name in self.plan.axes if name != SEED]
        return lambda cell: order[cell[SEED]] < self.seeds[tuple(cell[n] for n in names)]

    def _count(self, claim: Claim) -> int:
        """How many seeds all cells of a claim have."""
        return min(self.seeds[column] for column in self._read[claim.name])

    def _make_again(self, wanted: Sequence[Claim]) -> None:
        """The wanted claims once more, each from the seeds that all its cells have."""
        made = {claim.name: claim for claim in self.claims}
        counts = {claim.name: self._count(claim) for claim in wanted}
        for count in sorted(set(counts.values())):
            experiment = self.experiment.replace(seed=self._values(count))
            runs = dataset_of(self.store, self._plan_of(count))
            for claim in self.decide(experiment, runs):
                if counts.get(claim.name) == count:
                    made[claim.name] = claim
        self.claims = DecidedClaims(made.values())

    def _cells(self, column: Column, seeds: Sequence[int]) -> list[dict[str, Any]]:
        names = [name for name in self.plan.axes if name != SEED]
        swept = dict(zip(names, column, strict=True))
        return [{**self.plan.fixed, **swept, SEED: seed} for seed in seeds]

    def _keep_stored(self) -> None:
        """Ask for no more seeds than are there, column by column."""
        self.seeds = {column: self._stored(column) for column in self.seeds}

    def _lacks_cells(self) -> bool:
        return any(self._stored(column) < count for column, count in self.seeds.items())

    def _stored(self, column: Column) -> int:
        """How many of a column's first seeds are there, or have failed."""
        cells = self._cells(column, self._values(self.seeds[column]))
        failed = self.store.failures()
        keys = self.store.keys_of(cells)
        missing = [i for i in self.store.missing_keys(keys) if keys[i] not in failed]
        return missing[0] if missing else len(cells)

    def _seconds_by_column(self, of: set[Column]) -> dict[Column, float]:
        """What one seed of a column took, from the records in the parts."""
        costs = self.store.seconds_by_cell()
        found = {}
        for column in of:
            places = [self.store.locate(cell) for cell in self._cells(column, self._first)]
            seconds = [costs[place[0]] for place in places if place is not None]
            found[column] = float(np.mean(seconds)) if seconds else 0.0
        return found
