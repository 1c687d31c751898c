"""Least squares for a block model without its Jacobian J = ∂ŷ/∂θ.

Every column of J is a combination of a few signals: drives and states, filtered by one block, and
the inputs. Outputs differ only in how they combine them. So products of signals are summed over
time once for all outputs, and what is left to do does not depend on the length of the record.
"""

import numpy as np

from tacit.estimators._block_model import BlockModel, driven, moved, simulated_block
from tacit.estimators._records import Records

Floats = np.ndarray


def normal_equations(model: BlockModel, records: Records) -> tuple[Floats, Floats]:
    """JᵀJ and Jᵀ(y − ŷ), with the parameters θ in the order of `moved`."""
    count = model.B.size + model.C.size + model.D.size + model.order
    width = model.B.size + sum(len(one) ** 2 for one in model.sections) + model.D.shape[1]
    products, slopes = np.zeros((width, width)), np.zeros((width, len(model.C)))
    for drive, target in zip(records.driven, records.outputs, strict=True):
        feed = _feed(drive, records)
        simulated = feed @ model.D.T
        signals = []
        for place, section in model.places():
            size = len(section)
            B, C = model.B[place : place + size], model.C[:, place : place + size]
            states = simulated_block(section, B, drive)
            simulated = simulated + states[1:] @ C.T
            signals.append(driven(section, drive)[1:].reshape(len(target), -1))
            # ∂A/∂a is minus a unit matrix in the block's last row.
            signals += [driven(section, -states[:, size - 1 - k])[1:] for k in range(size)]
        base = np.concatenate([*signals, feed], axis=1)
        products += base.T @ base
        slopes += base.T @ (target - simulated)
    gram, slope = np.zeros((count, count)), np.zeros(count)
    for places, weights, one in zip(*_columns(model, linear=False), slopes.T, strict=True):
        gram[places[:, None], places] += weights.T @ products @ weights
        slope[places] += weights.T @ one
    return gram, slope


def linear_fit(model: BlockModel, records: Records) -> BlockModel:
    """B, D, offset and initial states by least squares, for the poles and C that a model has."""
    parts = []
    for drive, target in zip(records.driven, records.outputs, strict=True):
        signals = [
            driven(section, drive)[1:].reshape(len(target), -1) for section in model.sections
        ]
        whole = np.concatenate([*signals, _feed(drive, records), target], axis=1)
        parts.append(np.asarray(np.linalg.qr(whole, mode="r")))
    outputs = len(model.C)
    triangle = np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))
    base, targets = triangle[:, :-outputs], triangle[:, -outputs:]
    matrix = np.zeros((outputs, len(triangle), model.B.size + model.D.size))
    for part, places, weights in zip(matrix, *_columns(model, linear=True), strict=True):
        part[:, places] = base @ weights
    columns = matrix.reshape(-1, matrix.shape[2])
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    step = np.linalg.lstsq(columns / size, targets.T.ravel(), rcond=1e-9)[0] / size
    blank = BlockModel(model.sections, np.zeros_like(model.B), model.C, np.zeros_like(model.D))
    return moved(blank, step, linear=True)


def _feed(drive: Floats, records: Records) -> Floats:
    inputs = drive[1:, : records.inputs]
    return np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)


def _columns(model: BlockModel, *, linear: bool) -> tuple[Floats, Floats]:
    """For each output, parameters that it depends on, and its columns of J from the signals."""
    drives, outputs, wide = model.B.shape[1], len(model.C), model.D.shape[1]
    bent = 0 if linear else sum(len(one) ** 2 for one in model.sections)
    count = model.B.size + wide + (0 if linear else 2 * model.order)
    weights = np.zeros((outputs, model.B.size + bent + wide, count))
    places: list[Floats] = []
    which, every = np.arange(outputs)[:, None], np.arange(drives)
    at = low = right = 0  # the block's first parameter, signal and column
    for place, section in model.places():
        size = len(section)
        B, C = model.B[place : place + size], model.C[:, place : place + size]
        if not linear:
            for k in range(size):
                first = low + size * drives + k * size
                weights[:, first : first + size, right + k] = C
            places.append(np.tile(np.arange(at, at + size), (outputs, 1)))
            at, right = at + size, right + size
        maps = _maps(section)
        through = np.einsum("isk,ok->ois", maps, C)
        for i in range(size):
            for s in range(size):
                weights[:, low + s * drives + every, right + i * drives + every] = through[
                    :, i, s, None
                ]
        places.append(np.tile(np.arange(at, at + size * drives), (outputs, 1)))
        at, right = at + size * drives, right + size * drives
        if not linear:
            states = np.einsum("isk,id->sdk", maps, B).reshape(size * drives, size)
            weights[:, low : low + size * drives, right : right + size] = states
            places.append(at + which * size + np.arange(size))
            at, right = at + outputs * size, right + size
        low += size * drives + (0 if linear else size**2)
    weights[:, low + np.arange(wide), right + np.arange(wide)] = 1.0
    places.append(at + which * wide + np.arange(wide))
    return np.concatenate(places, axis=1), weights


def _maps(section: Floats) -> Floats:
    """How a block's signals make its states, for each row of B: (rows of B, signals, states)."""
    if len(section) == 1:
        return np.ones((1, 1, 1))
    # The first row of B acts through later + a₁ earlier and −a₂ earlier, the second directly.
    return np.array([[[section[0], -section[1]], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
