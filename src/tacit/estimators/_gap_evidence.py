"""How much an error in a gap says: little, where nothing outside tells what is simulated there."""

import numpy as np

from tacit.estimators._block_model import BlockModel, residuals_and_jacobian
from tacit.estimators._records import Records

Floats = np.ndarray
_NOTHING = 1e-8  # of the largest singular value: directions that are known less are not known
_LEAST = 1e-10  # of an output's deviation: smaller errors are rounding


def evidence(model: BlockModel, records: Records, begin: float, end: float) -> Floats:
    """1 / (1 + v) for each sample and output from one part of each record to another.

    v is the variance of what a fit to all other samples simulates there, over the variance of the
    model's errors: of the sensitivities J to all parameters, v_t = J_t (Σ_s J_sᵀ J_s)⁻¹ J_tᵀ, where
    s runs over the samples outside, each divided by the size of its output's errors. The state
    after the gap is a parameter too, since a fit begins anew there. A fit's error in the gap has
    the variance 1 + v, in these units, even if the model is right.
    """
    errors, columns = residuals_and_jacobian(model, records)
    outputs = records.outputs[0].shape[1]
    unit = np.sqrt(np.mean(errors.reshape(-1, outputs) ** 2, axis=0))
    unit = np.tile(np.maximum(unit, _LEAST), records.samples)
    gap, later = [], []
    for number, one in enumerate(records.outputs):
        low, high = int(begin * len(one)), int(end * len(one))
        gap.append(np.repeat((np.arange(len(one)) >= low) & (np.arange(len(one)) < high), outputs))
        states = np.zeros((len(one) * outputs, len(records.outputs) * model.order))
        here = slice(number * model.order, (number + 1) * model.order)
        states[high * outputs :, here] = _observed(model, len(one) - high)
        later.append(states)
    columns = np.concatenate([columns, np.concatenate(later)], axis=1) / unit[:, None]
    size = np.linalg.norm(columns, axis=0)
    columns = columns[:, size > 0] / size[size > 0]
    inside = np.concatenate(gap)
    triangle = np.linalg.qr(columns[~inside], mode="r")
    _, known, directions = np.linalg.svd(triangle, full_matrices=False)
    known = np.maximum(known, _NOTHING * known.max(initial=1.0))
    variance = np.sum((columns[inside] @ directions.T / known) ** 2, axis=1)
    return 1 / (1 + variance.reshape(-1, outputs))


def _observed(model: BlockModel, length: int) -> Floats:
    """What a state leaves: C, C A, C A², …, one row for each sample and output."""
    rows = np.zeros((length, *model.C.shape))
    left, A = model.C, model.A
    for sample in range(length):
        rows[sample] = left
        left = left @ A
    return rows.reshape(length * len(model.C), model.order)
