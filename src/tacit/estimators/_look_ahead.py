"""Whether a chosen order simulates the future of its own record, or only its past."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tacit.estimators._baselines import held_out_error
from tacit.estimators._records import Records, Scale
from tacit.estimators._system_orders import OrderChoice, Start, candidates

_PART, _SHORTEST = 2 / 3, 60
_WORSE = 1.25


def looked_ahead(
    choice: OrderChoice, records: Records, starts: Callable[[Records], dict[str, Start]]
) -> OrderChoice:
    """The same choice, or a smaller order where that one fails ahead.

    Orders up to the chosen one are fitted to the first two thirds of each record and simulate the
    rest. If a smaller order has there an error that is smaller by more than a quarter, the
    chosen one fits slow drifts that do not go on, and the order with the least criterion gives way
    to the best of those that are not so much worse ahead.
    """
    cuts = [int(_PART * len(one)) for one in records.outputs]
    top = choice.chosen.order
    if not top or min(cuts) < max(_SHORTEST, 8 * top):
        return choice
    quiet = not any(drive[0].any() for drive in records.driven)
    U, Y = records.measured, records.outputs
    train = list(zip(_heads(U, cuts), _heads(Y, cuts), strict=True))
    test = [(u[cut:], y[cut:]) for u, y, cut in zip(U, Y, cuts, strict=True)]
    part = Records.of([u for u, _ in train], [y for _, y in train], at_rest=quiet)
    outputs = Y[0].shape[1]
    unit = Scale(
        np.zeros(records.inputs), np.ones(records.inputs), np.zeros(outputs), np.ones(outputs)
    )
    ahead = {
        one.order: held_out_error(unit.system(one.model, records.inputs, 1.0), train, test)
        for one in candidates(part, range(top + 1), starts(part))
    }
    least = min(ahead.values())
    if top not in ahead or ahead[top] <= _WORSE * least:
        return replace(choice, ahead=ahead)
    fair = [one for one in choice.tried if ahead.get(one.order, np.inf) <= _WORSE * least]
    chosen = min(fair, key=lambda one: one.criterion)
    low, high = choice.interval
    interval = (min(low, chosen.order), high)
    return replace(choice, chosen=chosen, interval=interval, ahead=ahead)


def _heads(signals: list[np.ndarray] | tuple[np.ndarray, ...], cuts: list[int]) -> list[np.ndarray]:
    return [one[:cut] for one, cut in zip(signals, cuts, strict=True)]
