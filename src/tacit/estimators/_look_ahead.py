"""Whether a chosen system simulates the future of its own record, or only its past."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tacit._progress_bar import Bar, silent_bar
from tacit.estimators._as_they_are import as_they_are
from tacit.estimators._baselines import held_out_error
from tacit.estimators._records import Records, Scale
from tacit.estimators._system_orders import Candidate, OrderChoice, Start, candidates, judged

_PART, _SHORTEST = 2 / 3, 24
_WORSE = 1.25


def looked_ahead(
    choice: OrderChoice,
    records: Records,
    starts: Callable[[Records], dict[str, Start]],
    tell: Bar = silent_bar,
) -> OrderChoice:
    """The same choice, or another system where the chosen one fails ahead.

    All orders, and the systems of other methods as they are, are fitted to the first two thirds of
    each record and simulate the rest. If one of them has there an error that is smaller by more
    than a quarter, the chosen order fits what does not go on, or misses what the criterion hides,
    and the best ahead takes its place.

    A mode that outlasts the record cannot be told from a drift. An order with such a mode is taken
    only if every system without one is worse ahead by more than a quarter; else the best of these.
    """
    cuts = [int(_PART * len(one)) for one in records.outputs]
    if min(cuts) < _SHORTEST:
        return choice
    quiet = not any(drive[0].any() for drive in records.driven)
    U, Y = records.measured, records.outputs
    train = list(zip(_heads(U, cuts), _heads(Y, cuts), strict=True))
    test = [(u[cut:], y[cut:]) for u, y, cut in zip(U, Y, cuts, strict=True)]
    part = Records.of([u for u, _ in train], [y for _, y in train], at_rest=quiet)
    orders = [one.order for one in choice.tried if min(cuts) >= 8 * one.order]
    only = {one.order: one.start for one in choice.tried}
    tried: list[Candidate] = candidates(part, orders, starts(part), tell, only)
    others = judged(records, as_they_are(records, max(orders)), choice.effective)
    tried += as_they_are(part, max(orders))
    ahead = {one.label: _error_ahead(one, part, train, test) for one in tried}
    known: Sequence[Candidate] = [one for one in (*choice.tried, *others) if one.label in ahead]
    least = min(ahead[one.label] for one in known)
    longest = max(len(one) for one in Y)
    fading = [one for one in known if memory_of(one) <= longest]
    fair = [one for one in fading if ahead[one.label] <= _WORSE * least]
    best = min(fair or known, key=lambda one: ahead[one.label])
    drifts = bool(fair) and memory_of(choice.chosen) > longest
    own = ahead.get(choice.chosen.label, np.inf)
    if not drifts and own <= _WORSE * ahead[best.label]:
        return replace(choice, ahead=ahead)
    low, high = choice.interval
    return replace(
        choice,
        chosen=best,
        interval=(min(low, best.order), max(high, best.order)),
        ahead=ahead,
        instead_of=choice.chosen.label,
    )


def memory_of(one: Candidate) -> float:
    """Samples after which the slowest mode has fallen to 1/e."""
    size = float(np.abs(np.linalg.eigvals(one.model.A)).max(initial=0.0))
    return 0.0 if size <= 0 else float(-1 / np.log(min(size, 1 - 1e-16)))


def _error_ahead(one: Candidate, part: Records, train: list, test: list) -> float:
    outputs = part.outputs[0].shape[1]
    unit = Scale(np.zeros(part.inputs), np.ones(part.inputs), np.zeros(outputs), np.ones(outputs))
    return held_out_error(unit.system(one.model, part.inputs, 1.0), train, test)


def _heads(signals: list[np.ndarray] | tuple[np.ndarray, ...], cuts: list[int]) -> list[np.ndarray]:
    return [one[:cut] for one, cut in zip(signals, cuts, strict=True)]
