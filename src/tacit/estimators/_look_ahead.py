"""Whether a chosen system simulates samples that it was not fitted to, or only those it was."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit._progress_bar import Bar, part, silent_bar
from tacit.estimators._as_they_are import as_they_are
from tacit.estimators._gap_choice import Gaps, best_tested, decided
from tacit.estimators._gap_evidence import evidence
from tacit.estimators._records import Records, Scale
from tacit.estimators._system_orders import Candidate, OrderChoice, Start, candidates, judged

Floats = np.ndarray
_GAPS = ((1 / 4, 1 / 2), (1 / 2, 3 / 4), (3 / 4, 1.0), (2 / 3, 1.0))
_SHORTEST = 24  # samples of two thirds of a record
_EXPLAINED = 1e-20  # of the outputs' variance: a record without noise needs no look


@dataclass(frozen=True)
class Look:
    """Records with a gap, and what is in it: the gap is simulated from the state before it."""

    kept: Records
    before: list[tuple[Floats, Floats]]
    gap: list[tuple[Floats, Floats]]

    @classmethod
    def at(cls, records: Records, begin: float, end: float) -> "Look":
        """With a gap from one part of each record to another."""
        U, Y, resting, before, gap = [], [], [], [], []
        for u, y, rests in zip(records.measured, records.outputs, records.resting, strict=True):
            low, high = int(begin * len(y)), int(end * len(y))
            before.append((u[:low], y[:low]))
            gap.append((u[low:high], y[low:high]))
            U.append(u[:low])
            Y.append(y[:low])
            resting.append(rests)
            if high < len(y):  # what comes after the gap is a record of its own
                U.append(u[high:])
                Y.append(y[high:])
                resting.append(False)
        return cls(Records.of(U, Y, at_rest=resting), before, gap)

    def simulated(self, one: Candidate) -> Floats:
        """The outputs in the gap of each record, one record after another."""
        inputs, outputs = self.kept.inputs, self.kept.outputs[0].shape[1]
        unit = Scale(np.zeros(inputs), np.ones(inputs), np.zeros(outputs), np.ones(outputs))
        system = unit.system(one.model, inputs, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            found = [
                system.simulate(V, system.state_after(U, Y))[0]
                for (U, Y), (V, _) in zip(self.before, self.gap, strict=True)
            ]
        return np.concatenate(found)

    @property
    def measured(self) -> Floats:
        """What `simulated` should be."""
        return np.concatenate([Y for _, Y in self.gap])


def looked_ahead(
    choice: OrderChoice,
    records: Records,
    starts: Callable[[Records], dict[str, Start]],
    tell: Bar = silent_bar,
) -> OrderChoice:
    """The same choice, or another system where samples that it did not see speak against it.

    All orders, and the systems of other methods as they are, are fitted to each record with a gap:
    its second, third or last quarter, or its last third. They simulate the gap. One gap alone would
    be too few: coloured errors make its samples worth a handful. An error counts the less, the less
    what lies outside of a gap tells of what is simulated there (`evidence`): by the order that does
    best in the gaps, since one that fits too much is never sure of them.
    """
    shortest = min(int(2 / 3 * len(one)) for one in records.outputs)
    if shortest < _SHORTEST or choice.chosen.loss <= _EXPLAINED * records.samples:
        return choice
    orders = [one.order for one in choice.tried if shortest >= 8 * one.order]
    only = {one.order: one.start for one in choice.tried}
    found: dict[str, list[Floats]] = {}
    measured = []
    for number, (begin, end) in enumerate(_GAPS):
        look = Look.at(records, begin, end)
        measured.append(look.measured)
        told = part(tell, number / len(_GAPS), (number + 1) / len(_GAPS))
        tried = candidates(look.kept, orders, starts(look.kept), told, only)
        for one in (*tried, *as_they_are(look.kept, max(orders))):
            found.setdefault(one.label, []).append(look.simulated(one))
    whole = {label: some for label, some in found.items() if len(some) == len(_GAPS)}
    others = judged(records, as_they_are(records, max(orders)))
    gaps = Gaps(whole, measured)
    model = best_tested(choice, gaps).model
    counts = [evidence(model, records, begin, end) for begin, end in _GAPS]
    return decided(choice, records, others, replace(gaps, evidence=counts))
