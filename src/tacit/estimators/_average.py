"""The average of several systems, which is a linear system again.

Its simulation is the average of theirs, so its error is at most the average of their errors. Where
the record cannot tell which of them is right, that is safer than any one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from tacit.estimators._block_model import BlockModel, from_matrices, simulate
from tacit.estimators._polish import RADIUS, loss_of
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, as_matrices
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

    By balanced truncation: on the records, the simulation changes by at most a tenth of the errors
    that the average has there, for each output, unless `most` states are too few for that. Initial
    states are truncated with the rest: an offset may belong to a slow mode that no input moves, and
    must not outlive it. None if no truncation is stable.
    """
    mean = [
        np.sum([w * one for one, (_, w) in zip(some, parts, strict=True)], axis=0)
        for some in zip(*(simulate(one.model, records) for one, _ in parts), strict=True)
    ]
    errors = [y - one for y, one in zip(records.outputs, mean, strict=True)]
    unit = np.maximum(_deviations(errors), 1e-300)
    whole, offset = combined([(one.model, weight) for one, weight in parts], records)
    values = hankel_values(whole)
    most = min(most, int(np.sum(values > _SMALLEST * values[0])) if len(values) else 0)
    ordered = truncated(whole, most)  # its leading states are every smaller truncation
    names = tuple((one.label, weight) for one, weight in parts)
    found = None
    for order in range(min(most, 1), most + 1):
        model = _leading(ordered, offset, order, records)
        simulated = simulate(model, records)
        change = [one - other for one, other in zip(simulated, mean, strict=True)]
        lost = float((_deviations(change) / unit).max())
        if not (model.is_stable(RADIUS) and np.isfinite(lost)):
            continue
        if lost <= _LOST or order == most:
            hankel = hankel_values(as_matrices(model, records.inputs))
            loss = loss_of(model, records)
            found = Averaged(order, model, loss, "average", hankel, parts=names, lost=lost)
        if lost <= _LOST:
            break
    return found


def combined(
    parts: Sequence[tuple[BlockModel, float]], records: Records
) -> tuple[Matrices, Floats]:
    """Σ w G with all states of all systems side by side, and its offset.

    Initial states are driven by an impulse each (`Records.driven`). Beside inputs of unit variance,
    which come at every sample, one impulse counts for the square root of its share.
    """
    wide = parts[0][0].B.shape[1] - records.inputs
    share = np.concatenate([np.ones(records.inputs), np.full(wide, records.samples**-0.5)])
    direct = np.sum([weight * one.D for one, weight in parts], axis=0)
    system = Matrices(
        block_diag(*(one.A for one, _ in parts)),
        np.concatenate([one.B for one, _ in parts]) * share,
        np.concatenate([weight * one.C for one, weight in parts], axis=1),
        np.pad(direct[:, :-1], ((0, 0), (0, wide))),
    )
    return system, direct[:, -1]


def _leading(system: Matrices, offset: Floats, order: int, records: Records) -> BlockModel:
    """The first states of a balanced system, as blocks."""
    B = system.B[:order].copy()
    B[:, records.inputs :] *= records.samples**0.5
    direct = np.concatenate([system.D[:, : records.inputs], offset[:, None]], axis=1)
    return from_matrices(system.A[:order, :order], B, system.C[:, :order], direct)


def _deviations(errors: Sequence[Floats]) -> Floats:
    """The root mean square of each output over all records."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.sqrt(np.mean(np.concatenate(errors) ** 2, axis=0))
    return np.where(np.isfinite(found), found, np.inf)
