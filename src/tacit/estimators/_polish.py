"""Levenberg–Marquardt on the simulation error, among stable systems only."""

from dataclasses import dataclass

import numpy as np

from tacit.estimators._block_model import (
    BlockModel,
    from_matrices,
    moved,
    simulate,
)
from tacit.estimators._normal_equations import normal_equations
from tacit.estimators._records import Records

Floats = np.ndarray
RADIUS = 1 - 1e-5  # poles stay below it: a memory of 100,000 samples
_FLAT, _PATIENCE = 1e-6, 3  # a relative fall of the loss that is none, and how often


@dataclass(frozen=True)
class Polished:
    """A model and the sum of its squared simulation errors."""

    model: BlockModel
    loss: float
    start: str = ""


def loss_of(model: BlockModel, records: Records) -> float:
    """The sum of squared simulation errors; infinity if it is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(
            float(np.sum((y - one) ** 2))
            for y, one in zip(records.outputs, simulate(model, records), strict=True)
        )
    return total if np.isfinite(total) else np.inf


def polish(start: BlockModel, records: Records, *, steps: int, name: str = "") -> Polished:
    """Steps (JᵀJ + μ diag JᵀJ) δ = Jᵀ r; one that raises the loss or a pole to 1 is refused."""
    model, loss = start, loss_of(start, records)
    damping, flat = 1e-3, 0
    for number in range(steps):
        if number and number % 10 == 0:  # real poles may have to pair differently
            renewed = _renewed(model)
            fresh = loss_of(renewed, records)
            if fresh <= loss * (1 + 1e-9) and renewed.is_stable(RADIUS):
                model, loss = renewed, min(fresh, loss)
        gram, slope = normal_equations(model, records)
        size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
        scaled = gram / size[:, None] / size
        fallen = False
        for _ in range(12):
            lifted = scaled + damping * np.eye(len(scaled))
            step = np.linalg.solve(lifted, slope / size) / size
            trial = moved(model, step)
            value = loss_of(trial, records) if trial.is_stable(RADIUS) else np.inf
            if value < loss:
                fallen = True
                break
            damping *= 4
        if not fallen:
            break
        flat = flat + 1 if loss - value < _FLAT * loss else 0
        model, loss, damping = trial, value, max(damping / 5, 1e-9)
        if flat >= _PATIENCE or loss <= 1e-24 * max(records.samples, 1):
            break
    return Polished(model, loss, name)


def _renewed(model: BlockModel) -> BlockModel:
    try:
        return from_matrices(model.A, model.B, model.C, model.D)
    except np.linalg.LinAlgError:
        return model
