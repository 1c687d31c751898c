"""Other methods' systems as candidates: their own order, made stable, without a polish."""

import contextlib
from dataclasses import dataclass

import numpy as np

from tacit.estimators._baselines import BASELINES
from tacit.estimators._block_model import BlockModel, from_matrices, moved, residuals_and_jacobian
from tacit.estimators._polish import RADIUS, loss_of
from tacit.estimators._records import Records
from tacit.estimators._regularised_regression import regularised_system
from tacit.estimators._system_orders import Candidate, as_blocks, as_matrices
from tacit.estimators._system_starts import Matrices, hankel_values

METHODS = {**BASELINES, "regularised ARX": regularised_system}


@dataclass(frozen=True)
class AsItIs(Candidate):
    """A system of another method; the lowest simulation error is not what it was made for."""

    @property
    def label(self) -> str:
        """What tells it apart from the others."""
        return self.start


def as_they_are(records: Records, most: int) -> list[Candidate]:
    """A candidate of each method that finds a system in these records, of at most this order."""
    found: list[Candidate] = []
    for name, method in METHODS.items():
        with contextlib.suppress(np.linalg.LinAlgError, ValueError):
            model = settled(method(records, max(most, 1)), records)
            loss = loss_of(model, records)
            if model.is_stable(RADIUS) and np.isfinite(loss):
                hankel = hankel_values(as_matrices(model, records.inputs))
                found.append(AsItIs(model.order, model, loss, f"{name}, as it is", hankel))
    return found


def settled(system: Matrices, records: Records) -> BlockModel:
    """A stable system with initial states and offset by least squares, all else kept.

    An unstable one is mirrored into the circle and gets other input maps too.
    """
    if np.abs(np.linalg.eigvals(system.A)).max(initial=0.0) >= RADIUS:
        return as_blocks(system, records)
    wide = records.driven[0].shape[1] - records.inputs
    model = from_matrices(
        system.A,
        np.pad(system.B, ((0, 0), (0, wide))),
        system.C,
        np.pad(system.D, ((0, 0), (0, 1))),
    )
    error, columns = residuals_and_jacobian(model, records, linear=True)
    free = np.concatenate(
        [
            np.tile(np.arange(records.driven[0].shape[1]) >= records.inputs, model.order),
            np.tile(np.arange(records.inputs + 1) == records.inputs, len(model.C)),
        ]
    )
    size = np.linalg.norm(columns[:, free], axis=0)
    size[size == 0] = 1.0
    step = np.zeros(columns.shape[1])
    step[free] = np.linalg.lstsq(columns[:, free] / size, error, rcond=1e-9)[0] / size
    return moved(model, step, linear=True)
