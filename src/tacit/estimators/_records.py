"""Measured records of inputs and outputs, in units of their own deviation."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.estimators._linear_system import LinearSystem

if TYPE_CHECKING:
    from tacit.estimators._block_model import BlockModel

Floats = np.ndarray


@dataclass(frozen=True)
class Scale:
    """Offsets and units of inputs and outputs: of a constant one the unit is 1."""

    input_mean: Floats
    input_unit: Floats
    output_mean: Floats
    output_unit: Floats

    @classmethod
    def of(cls, U: Floats, Y: Floats, *, at_rest: bool = False) -> "Scale":
        """Means and deviations of all samples; at rest the means are zero."""
        keep = 0.0 if at_rest else 1.0
        return cls(keep * _mean(U), _unit(U), keep * _mean(Y), _unit(Y))

    def records(self, U: list[Floats], Y: list[Floats], *, at_rest: bool = False) -> "Records":
        """Measured records in these units."""
        return Records.of(
            [(one - self.input_mean) / self.input_unit for one in U],
            [(one - self.output_mean) / self.output_unit for one in Y],
            at_rest=at_rest,
        )

    def system(self, model: "BlockModel", inputs: int, step: float) -> LinearSystem:
        """A model of scaled records as a system in the units of the data."""
        out, into = self.output_unit[:, None], self.input_unit
        return LinearSystem(
            A=model.A,
            B=model.B[:, :inputs] / into,
            C=out * model.C,
            D=out * model.D[:, :-1] / into,
            input_level=self.input_mean,
            output_level=self.output_mean + self.output_unit * model.D[:, -1],
            step=step,
        )

    def of_matrices(self, system: Any) -> LinearSystem:
        """A system (A, B, C, D) of scaled records in the units of the data."""
        A, B, C, D = system
        out, into = self.output_unit[:, None], self.input_unit
        return LinearSystem(A, B / into, out * C, out * D / into, self.input_mean, self.output_mean)


def _mean(values: Floats) -> Floats:
    """Of a constant signal its value: rounding must not be left of it for a gain to act on."""
    constant = (values == values[0]).all(axis=0)
    return np.where(constant, values[0], values.mean(axis=0))


def _unit(values: Floats) -> Floats:
    spread = np.asarray(values.std(axis=0))
    floor = 1e-12 * np.abs(values).max(axis=0)
    return np.where(spread > floor, spread, 1.0)


@dataclass(frozen=True)
class Records:
    """Scaled records.

    `driven` has one sample before each record: the inputs, then a column for each record that is 1
    in that record's extra sample and 0 elsewhere. What it leaves is the initial state.
    """

    driven: tuple[Floats, ...]
    outputs: tuple[Floats, ...]
    inputs: int

    @classmethod
    def of(
        cls, U: list[Floats], Y: list[Floats], *, at_rest: bool | Sequence[bool] = False
    ) -> "Records":
        """From scaled inputs and outputs, one array a record; all begin at rest, none or some."""
        resting = at_rest if isinstance(at_rest, Sequence) else [at_rest] * len(U)
        driven = []
        for number, one in enumerate(U):
            drive = np.zeros((len(one) + 1, one.shape[1] + len(U)))
            drive[1:, : one.shape[1]] = one
            drive[0, one.shape[1] + number] = 0.0 if resting[number] else 1.0
            driven.append(drive)
        return cls(tuple(driven), tuple(Y), U[0].shape[1])

    @property
    def samples(self) -> int:
        """Samples of all records."""
        return sum(len(one) for one in self.outputs)

    @property
    def resting(self) -> list[bool]:
        """Whether each record begins at rest."""
        return [not drive[0].any() for drive in self.driven]

    @property
    def drives(self) -> int:
        """Inputs, and records that do not begin at rest: their initial states are fitted too."""
        return self.inputs + self.resting.count(False)

    def last(self, most: int) -> "Records":
        """The end of each record, so that about `most` numbers of outputs are left, or all."""
        share = most / sum(one.size for one in self.outputs)
        if share >= 1:
            return self
        cuts = [len(one) - max(2, int(share * len(one))) for one in self.outputs]
        U = [one[cut:] for one, cut in zip(self.measured, cuts, strict=True)]
        return Records.of(U, [one[cut:] for one, cut in zip(self.outputs, cuts, strict=True)])

    @property
    def measured(self) -> list[Floats]:
        """The inputs of each record."""
        return [drive[1:, : self.inputs] for drive in self.driven]


def parts(records: Any, length: int) -> list[slice]:
    """The samples of each record: from a label for each sample, equal ones side by side."""
    if records is None:
        return [slice(0, length)]
    labels = np.asarray(records)
    if labels.shape != (length,):
        raise ValueError(
            f"records: received the shape {labels.shape}, it must hold one label for each of the "
            f"{length} samples"
        )
    cuts = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist(), length]
    starts = labels[cuts[:-1]]
    if len(set(starts.tolist())) != len(starts):
        raise ValueError(
            "records: received a label that comes back after another one; samples of a record "
            "must stand side by side, in the order of time"
        )
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
