"""How far a store has come with what is asked of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.store._names import OUTCOME
from tacit.store._plan import Plan
from tacit.store._variable import Variable

if TYPE_CHECKING:
    from tacit.store._store import Store


@dataclass(frozen=True)
class FailedCell:
    """A cell that raised, by its swept parameters, with the message of the last time."""

    cell: Mapping[str, Any]
    message: str


@dataclass(frozen=True)
class Status:
    """The cells of a plan, counted: `cells` = `done` + `missing` + len(`failed`).

    - `outcomes`: how those that are done ended.
    - `failed`: those that raised when they were last tried, and are tried again by the next run.
    - `batches_at_work`: how many batches are being computed now, by whichever process.
    """

    cells: int
    done: int
    outcomes: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[FailedCell, ...] = ()
    batches_at_work: int = 0

    @property
    def missing(self) -> int:
        """The cells that were never tried to the end."""
        return self.cells - self.done - len(self.failed)

    def to_dict(self) -> dict[str, Any]:
        """In JSON's types."""
        return {
            "cells": self.cells,
            "done": self.done,
            "missing": self.missing,
            "failed": len(self.failed),
            "diverged": self.outcomes.get("diverged", 0),
            "outcomes": dict(self.outcomes),
            "failures": [{"cell": dict(f.cell), "message": f.message} for f in self.failed],
            "batches_at_work": self.batches_at_work,
        }


def status_of(store: "Store", plan: Plan) -> Status:
    """See `Store.status`."""
    failures = store.failures()
    rows: dict[str, list[int]] = {}
    failed = []
    known = zip(plan.cells(), store.keys_of_plan(plan), store.places(plan), strict=True)
    for position, (cell, key, found) in enumerate(known):
        if position in plan.not_asked:
            continue
        if found is not None:
            rows.setdefault(found[0], []).append(found[1])
        elif (record := failures.get(key)) is not None:
            failed.append(FailedCell(cell, record.message))
    return Status(
        cells=len(plan) - len(plan.not_asked),
        done=sum(len(of_part) for of_part in rows.values()),
        outcomes=_outcomes(store, plan.variables, rows),
        failed=tuple(failed),
        batches_at_work=store.batches_at_work(),
    )


def _outcomes(
    store: "Store", variables: Mapping[str, Variable], rows: Mapping[str, list[int]]
) -> dict[str, int]:
    if OUTCOME not in variables:
        return {}
    counts: dict[str, int] = {}
    for part, of_part in rows.items():
        words = store.read(part, [OUTCOME]).get(OUTCOME)
        for word in [] if words is None else words[of_part]:
            counts[str(word)] = counts.get(str(word), 0) + 1
    return dict(sorted(counts.items()))
