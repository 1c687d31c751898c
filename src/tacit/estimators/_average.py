"""The average of several systems, which is a linear system again.

Its simulation is the average of theirs, so its error is at most the average of their errors. Where
the record cannot tell which of them is right, that is safer than any one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from tacit.estimators._as_they_are import settled
from tacit.estimators._linear_system import LinearSystem
from tacit.estimators._polish import RADIUS, loss_of
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, as_matrices, errors_of
from tacit.estimators._system_starts import Matrices, hankel_values, truncated

Floats = np.ndarray
_LOST = 0.1  # what a truncation may change, over the errors of the average
_SMALLEST = 1e-10  # Hankel values over the first that are rounding


@dataclass(frozen=True)
class Averaged(Candidate):
    """An average, truncated; `parts` has the weight of each system, by its label."""

    parts: tuple[tuple[str, float], ...] = ()
    lost: float = 0.0  # what the truncation changes on the records, over the errors

    @property
    def label(self) -> str:
        """What tells it apart from the others."""
        return "average"


def averaged(
    parts: Sequence[tuple[Candidate, float]], records: Records, most: int
) -> Averaged | None:
    """Σ w G of systems G with weights w that sum to 1, with as few states as say the same.

    By balanced truncation: what is lost on the records is at most a tenth of the errors that the
    average has there, for each output, unless `most` states are too few for that. Initial states
    are then fitted, and the offset is the average of theirs. None if no truncation is stable.
    """
    inputs = records.inputs
    whole = combined([(as_matrices(one.model, inputs), weight) for one, weight in parts])
    offset = np.sum([weight * one.model.D[:, -1] for one, weight in parts], axis=0)
    errors = [w * np.concatenate(errors_of(one.model, records)) for one, w in parts]
    unit, answer = np.maximum(_deviations(np.sum(errors, axis=0)), 1e-300), _forced(whole, records)
    values = hankel_values(whole)
    most = min(most, int(np.sum(values > _SMALLEST * values[0])) if len(values) else 0)
    ordered = truncated(whole, most)  # its leading states are every smaller truncation
    names = tuple((one.label, weight) for one, weight in parts)
    found = None
    for order in range(min(most, 1), most + 1):
        system = Matrices(
            ordered.A[:order, :order], ordered.B[:order], ordered.C[:, :order], ordered.D
        )
        lost = float((_deviations(_forced(system, records) - answer) / unit).max())
        if lost > _LOST and order < most:
            continue
        model = settled(system, records, offset)
        kept = as_matrices(model, inputs)
        lost = float((_deviations(_forced(kept, records) - answer) / unit).max())
        loss = loss_of(model, records)
        if not (model.is_stable(RADIUS) and np.isfinite(loss) and np.isfinite(lost)):
            continue
        hankel = hankel_values(kept)
        found = Averaged(order, model, loss, "average", hankel, parts=names, lost=lost)
        if lost <= _LOST:
            return found
    return found


def combined(parts: Sequence[tuple[Matrices, float]]) -> Matrices:
    """Σ w G, with all states of all systems side by side."""
    return Matrices(
        block_diag(*(one.A for one, _ in parts)),
        np.concatenate([one.B for one, _ in parts]),
        np.concatenate([weight * one.C for one, weight in parts], axis=1),
        np.sum([weight * one.D for one, weight in parts], axis=0),
    )


def _forced(system: Matrices, records: Records) -> Floats:
    """The answer to the records' inputs, from rest."""
    level = np.zeros(system.B.shape[1]), np.zeros(len(system.C))
    free = LinearSystem(*system, *level)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([free.simulate(one)[0] for one in records.measured])


def _deviations(errors: Floats) -> Floats:
    """The root mean square of each output."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.sqrt(np.mean(errors**2, axis=0))
    return np.where(np.isfinite(found), found, np.inf)
