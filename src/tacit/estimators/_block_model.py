"""A linear system as a sum of small real blocks, its simulation and the exact Jacobian of that.

    x_{t+1} = A x_t + B u_t,    y_t = C x_t + D u_t + y₀

A is block diagonal with companion blocks [[0, 1], [−a₂, −a₁]], and one number where the order is
odd. Two real poles of a block can meet and become a complex pair without a singular point between:
the block depends on their sum and product. Blocks are filters, so that simulating one costs a few
calls of `lfilter`, and so does each derivative.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from tacit.estimators._records import Records

Floats = np.ndarray
_CLOSE = 1e-7  # real poles nearer than this are moved apart, for the change of basis to exist


@dataclass(frozen=True)
class BlockModel:
    """Blocks of one or two states; rows of B and columns of C are theirs, in order.

    The last columns of B are the initial states, one for each record: an initial state is what an
    impulse before the record's first sample leaves. The last column of D is the offset y₀.
    """

    sections: tuple[Floats, ...]  # (a₁, a₂), or (a₁,) for A = −a₁
    B: Floats
    C: Floats
    D: Floats

    @property
    def order(self) -> int:
        """The number of states."""
        return len(self.B)

    @property
    def A(self) -> Floats:
        """The transition matrix."""
        A = np.zeros((self.order, self.order))
        for place, section in self.places():
            if len(section) == 1:
                A[place, place] = -section[0]
            else:
                A[place : place + 2, place : place + 2] = [[0, 1], [-section[1], -section[0]]]
        return A

    def places(self) -> list[tuple[int, Floats]]:
        """Each section with the index of its first state."""
        starts = np.cumsum([0, *(len(section) for section in self.sections)])
        return [(int(start), one) for start, one in zip(starts, self.sections, strict=False)]

    def is_stable(self, radius: float) -> bool:
        """Whether every pole has a size below `radius` (Jury's conditions)."""
        for section in self.sections:
            first = section[0] / radius
            second = section[1] / radius**2 if len(section) == 2 else 0.0
            if not (abs(second) < 1 and abs(first) < 1 + second):
                return False
        return True


def from_matrices(A: Floats, B: Floats, C: Floats, D: Floats) -> BlockModel:
    """The block form of any system whose poles can be told apart; those too close are moved."""
    poles, vectors = np.linalg.eig(A)
    upper = [k for k in np.argsort(-np.abs(poles)) if poles[k].imag > 0]
    real = [k for k in np.argsort(poles.real) if poles[k].imag == 0]
    basis: list[Floats] = []
    sections: list[Floats] = []
    for k in upper:
        # In the basis (Re v, Im v) the block is [[α, β], [−β, α]]; T makes it a companion.
        pair = np.stack([vectors[:, k].real, vectors[:, k].imag], axis=1)
        alpha, beta = poles[k].real, poles[k].imag
        basis.append(pair @ np.linalg.inv(np.array([[1.0, 0.0], [alpha, beta]])))
        sections.append(np.array([-2 * alpha, alpha**2 + beta**2]))
    for first, second in zip(real[0::2], real[1::2], strict=False):
        one, two = poles[first].real, poles[second].real
        if abs(two - one) < _CLOSE:
            two = one + _CLOSE * (1 if one < 0 else -1)
        pair = np.stack([vectors[:, first].real, vectors[:, second].real], axis=1)
        basis.append(pair @ np.linalg.inv(np.array([[1.0, 1.0], [one, two]])))
        sections.append(np.array([-(one + two), one * two]))
    if len(real) % 2:
        basis.append(vectors[:, real[-1]].real[:, None])
        sections.append(np.array([-poles[real[-1]].real]))
    if not basis:
        return BlockModel((), B, C, D)
    change = np.concatenate(basis, axis=1)
    return BlockModel(tuple(sections), np.linalg.lstsq(change, B, rcond=None)[0], C @ change, D)


def simulate(model: BlockModel, records: Records) -> list[Floats]:
    """The outputs of each record, (time, outputs)."""
    found = []
    for drive in records.driven:
        outputs = drive[1:, : records.inputs] @ model.D[:, :-1].T + model.D[:, -1]
        for place, section in model.places():
            size = len(section)
            states = simulated_block(section, model.B[place : place + size], drive)
            outputs = outputs + states[1:] @ model.C[:, place : place + size].T
        found.append(outputs)
    return found


def residuals_and_jacobian(
    model: BlockModel, records: Records, *, linear: bool = False
) -> tuple[Floats, Floats]:
    """y − ŷ, flattened over records, time and outputs, and ∂ŷ/∂θ, with θ as in `moved`.

    With `linear`, by B and D alone, in which ŷ is linear for given A and C.
    """
    errors, rows = [], []
    order, drives = model.B.shape
    for drive, target in zip(records.driven, records.outputs, strict=True):
        length, outputs = target.shape
        feed = np.concatenate([drive[1:, : records.inputs], np.ones((length, 1))], axis=1)
        wide = feed.shape[1]
        simulated = feed @ model.D.T
        count = order * drives + outputs * wide + (0 if linear else order * (1 + outputs))
        columns, at = np.zeros((length, outputs, count)), 0
        for place, section in model.places():
            size = len(section)
            B, C = model.B[place : place + size], model.C[:, place : place + size]
            states, answers = _states(section, B, drive)
            simulated = simulated + states[1:] @ C.T
            if not linear:
                for k in range(size):  # ∂A/∂a is minus a unit matrix in the block's last row
                    columns[:, :, at] = driven(section, -states[:, size - 1 - k])[1:] @ C.T
                    at += 1
            for answer in answers:  # one for each row of B: (time, states of the block, drives)
                for output in range(outputs):
                    for state in range(size):
                        columns[:, output, at : at + drives] += C[output, state] * answer[1:, state]
                at += drives
            if not linear:
                for output in range(outputs):
                    columns[:, output, at : at + size] = states[1:]
                    at += size
        for output in range(outputs):
            columns[:, output, at : at + wide] = feed
            at += wide
        rows.append(columns.reshape(length * outputs, -1))
        errors.append((target - simulated).ravel())
    return np.concatenate(errors), np.concatenate(rows)


def moved(model: BlockModel, step: Floats, *, linear: bool = False) -> BlockModel:
    """The model with θ + step: for each block a, B, C, then D (B and D alone if `linear`)."""
    B, C = model.B.copy(), model.C.copy()
    sections, at = [], 0
    drives, outputs = B.shape[1], C.shape[0]
    for place, section in model.places():
        size = len(section)
        if not linear:
            section = section + step[at : at + size]
            at += size
        sections.append(section)
        B[place : place + size] += step[at : at + size * drives].reshape(size, drives)
        at += size * drives
        if not linear:
            C[:, place : place + size] += step[at : at + outputs * size].reshape(outputs, size)
            at += outputs * size
    return replace(
        model, sections=tuple(sections), B=B, C=C, D=model.D + step[at:].reshape(model.D.shape)
    )


def driven(section: Floats, signal: Floats) -> Floats:
    """(zI − A)⁻¹ e v, where e is the block's last unit vector: (time, states)."""
    later = lfilter([0.0, 1.0], [1.0, *section], signal, axis=0)
    if len(section) == 1:
        return np.asarray(later[:, None])
    earlier = np.zeros_like(later)
    earlier[1:] = later[:-1]
    return np.stack([earlier, later], axis=1)


def simulated_block(section: Floats, B: Floats, drive: Floats) -> Floats:
    """The block's states alone: rows of B are combined before they are filtered."""
    last = driven(section, drive @ B[-1])
    if len(section) == 1:
        return last
    first = driven(section, drive @ B[0])
    earlier, later = first[:, 0], first[:, 1]
    return last + np.stack([later + section[0] * earlier, -section[1] * earlier], axis=1)


def _states(section: Floats, B: Floats, drive: Floats) -> tuple[Floats, list[Floats]]:
    """The block's states, and (zI − A)⁻¹ eᵢ u for each row i of B: (time, states, drives)."""
    last = driven(section, drive)  # (time, drives) is filtered column by column
    if len(section) == 1:
        return last[:, 0] @ B.T, [last]
    earlier, later = last[:, 0], last[:, 1]
    first = np.stack([later + section[0] * earlier, -section[1] * earlier], axis=1)
    states = first @ B[0] + last @ B[1]
    return states, [first, last]
