"""Whether a chosen system simulates samples that it was not fitted to, or only those it was."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit._progress_bar import Bar, part, silent_bar
from tacit.estimators._as_they_are import as_they_are
from tacit.estimators._records import Records, Scale
from tacit.estimators._system_orders import Candidate, OrderChoice, Start, candidates, judged

Floats = np.ndarray
_GAPS = ((1 / 4, 1 / 2), (1 / 2, 3 / 4), (3 / 4, 1.0), (2 / 3, 1.0))
_SHORTEST = 24  # samples of two thirds of a record
_WORSE = 1.25
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

    def errors(self, one: Candidate) -> Floats:
        """The mean squared error of each output in the gap; infinite where it overflows."""
        inputs, outputs = self.kept.inputs, self.kept.outputs[0].shape[1]
        unit = Scale(np.zeros(inputs), np.ones(inputs), np.zeros(outputs), np.ones(outputs))
        system = unit.system(one.model, inputs, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = [
                (system.simulate(V, system.state_after(U, Y))[0] - Z) ** 2
                for (U, Y), (V, Z) in zip(self.before, self.gap, strict=True)
            ]
            found = np.concatenate(squares).mean(axis=0)
        return np.where(np.isfinite(found), found, np.inf)


def looked_ahead(
    choice: OrderChoice,
    records: Records,
    starts: Callable[[Records], dict[str, Start]],
    tell: Bar = silent_bar,
) -> OrderChoice:
    """The same choice, or another system where the chosen one fails on samples it did not see.

    All orders, and the systems of other methods as they are, are fitted to each record with a gap:
    its second, third or last quarter, or its last third. They simulate the gap. If one of them has
    over all gaps an error that is smaller by more than a quarter, the chosen order fits what does
    not go on, or misses what the criterion hides, and the best takes its place. One gap alone is
    too few: coloured errors make its samples worth a handful.

    A mode that outlasts the record cannot be told from a drift. An order with such a mode is taken
    only if every system without one is worse ahead by more than a quarter; else the best of these.
    """
    shortest = min(int(2 / 3 * len(one)) for one in records.outputs)
    if shortest < _SHORTEST or choice.chosen.loss <= _EXPLAINED * records.samples:
        return choice
    orders = [one.order for one in choice.tried if shortest >= 8 * one.order]
    only = {one.order: one.start for one in choice.tried}
    squares: dict[str, list[Floats]] = {}
    for number, (begin, end) in enumerate(_GAPS):
        look = Look.at(records, begin, end)
        told = part(tell, number / len(_GAPS), (number + 1) / len(_GAPS))
        tried = candidates(look.kept, orders, starts(look.kept), told, only)
        for one in (*tried, *as_they_are(look.kept, max(orders))):
            squares.setdefault(one.label, []).append(look.errors(one))
    ahead = {
        label: float(np.sqrt(np.mean(found, axis=0)).mean())
        for label, found in squares.items()
        if len(found) == len(_GAPS)
    }
    others = judged(records, as_they_are(records, max(orders)))
    return _settled(replace(choice, ahead=ahead), records, others)


def _settled(choice: OrderChoice, records: Records, others: Sequence[Candidate]) -> OrderChoice:
    ahead = choice.ahead
    known = [one for one in (*choice.tried, *others) if one.label in ahead]
    if not known:
        return choice
    least = min(ahead[one.label] for one in known)
    longest = max(len(one) for one in records.outputs)
    fading = [one for one in known if memory_of(one) <= longest]
    fair = [one for one in fading if ahead[one.label] <= _WORSE * least]
    best = min(fair or known, key=lambda one: ahead[one.label])
    drifts = bool(fair) and memory_of(choice.chosen) > longest
    own = ahead.get(choice.chosen.label, np.inf)
    if not drifts and own <= _WORSE * ahead[best.label]:
        return choice
    low, high = choice.interval
    return replace(
        choice,
        chosen=best,
        interval=(min(low, best.order), max(high, best.order)),
        instead_of=choice.chosen.label,
    )


def memory_of(one: Candidate) -> float:
    """Samples after which the slowest mode has fallen to 1/e."""
    size = float(np.abs(np.linalg.eigvals(one.model.A)).max(initial=0.0))
    return 0.0 if size <= 0 else float(-1 / np.log(min(size, 1 - 1e-16)))
