"""How low-rank a change was: each tensor's spectrum, ranks and share, and how small it can be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit._doors import door, number, whole
from tacit._tensors import blocks
from tacit.checkpoints._delta import Delta, delta
from tacit.checkpoints._evaluation import Evaluation, evaluation
from tacit.checkpoints._functional_rank import FunctionalRank, functional_rank_of
from tacit.checkpoints._matrices import as_matrix, gate_counts, gate_names, layout_of
from tacit.checkpoints._spectrum import LEADING, Spectrum, norm_of, spectrum_of

TOLERANCE = math.sqrt(0.1)
"""The share of a change's norm that the low-rank size of a report leaves out: a tenth, squared."""


@dataclass(frozen=True)
class TensorChange:
    """What training did to one tensor, or to one gate of it.

    - `norm`, `start_norm`: ‖Δ‖ and ‖W₀‖ in Frobenius' norm. `share`: ‖Δ‖² over all tensors'.
    - `spectrum`: of the change as a matrix; None for vectors and for what is not finite.
    - `rank`, `low_rank_numbers`: the rank that leaves at most a tenth of the squared norm out, and
      how many numbers its factors have; the tensor's own if that is fewer.
    - `gates`: the same of each gate, for a gate-stacked tensor.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    norm: float
    start_norm: float
    share: float = 0.0
    spectrum: Spectrum | None = None
    rank: int = 0
    low_rank_numbers: int = 0
    gates: tuple["TensorChange", ...] = ()

    @property
    def numbers(self) -> int:
        """How many numbers the tensor has."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_finite(self) -> bool:
        """Whether neither checkpoint has NaN or infinity in it."""
        return bool(np.isfinite(self.norm))


@dataclass(frozen=True)
class Inspection:
    """What `inspect` found: a `TensorChange` for each tensor, the largest share first.

    `unchanged` and `others` are names: of tensors with not a bit changed, and of tensors whose
    dtype has no spectrum. `mismatches` says what the two checkpoints do not share. `functional` is
    there if a loss was given.
    """

    before: str
    after: str
    tensors: tuple[TensorChange, ...]
    unchanged: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    mismatches: tuple[str, ...] = ()
    functional: FunctionalRank | None = None
    by_name: Mapping[str, TensorChange] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {one.name: one for one in self.tensors})

    @property
    def matrices(self) -> tuple[TensorChange, ...]:
        """The tensors whose change has a spectrum."""
        return tuple(one for one in self.tensors if one.spectrum is not None)

    @property
    def numbers(self) -> int:
        """How many numbers the tensors that both have hold in all."""
        return sum(one.numbers for one in self.tensors)

    @property
    def low_rank_numbers(self) -> int:
        """How many are left if each change is kept at its `rank`."""
        return sum(one.low_rank_numbers for one in self.tensors)

    def report(self) -> str:
        """The report, in Markdown."""
        from tacit.checkpoints._inspection_report import report_of

        return report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers for machines."""
        from tacit.checkpoints._inspection_report import record_of

        return record_of(self)

    def plot(self) -> Any:
        """A `tacit.draw.Figure`: spectra, gates, ranks and shares."""
        from tacit.checkpoints._figures import inspection_figure

        return inspection_figure(self)

    def __repr__(self) -> str:
        few = self.low_rank_numbers
        size = f", {self.numbers / few:.1f} times fewer numbers at low rank" if few else ""
        return f"Inspection of {len(self.tensors)} tensors{size}"


@door(answer="any", gates=whole(1, 64), leading=whole(1, 1024), max_drop=number(0))
def inspect(
    before: Any,
    after: Any,
    *,
    gates: int | None = None,
    leading: int = LEADING,
    evaluate: Any = None,
    max_drop: float = 0.02,
) -> Inspection:
    """How low-rank the change between two checkpoints was, tensor by tensor.

    **Arguments:**

    - `before`, `after`: paths (`.safetensors`, a sharded index, a folder with either, `.pt`), or
      arrays by name.
    - `gates`: how many gates recurrent weights stack; None looks for 4 (LSTM) and 3 (GRU) by name
      and shape, 1 takes nothing apart.
    - `leading`: how many singular values of matrices with more than 1,024 on the shorter side.
    - `evaluate`: a command or a function that gives the loss of a file of weights, for the
      functional rank: the rank of all changes at which the loss is back within `max_drop` of
      AFTER's.
    """
    with delta(before, after) as pair:
        return inspected(pair, gates, leading, evaluation(evaluate), max_drop)


def inspected(
    pair: Delta,
    gates: int | None,
    leading: int,
    evaluate: Evaluation | None = None,
    max_drop: float = 0.02,
) -> Inspection:
    """`inspect` of checkpoints that are open."""
    stacked = gate_counts(pair.specs, gates)
    unchanged = dict.fromkeys(name for name in pair.specs if not pair.is_changed(name))
    found = [_tensor(pair, name, stacked.get(name, 1), leading) for name in pair]
    total = sum(one.norm**2 for one in found if one.is_finite)
    tensors = sorted((_shared(one, total) for one in found), key=lambda one: -one.share)
    functional = None
    if evaluate is not None:
        functional = functional_rank_of(pair, evaluate, max_drop)
    return Inspection(
        pair.before.name,
        pair.after.name,
        tuple(tensors),
        tuple(unchanged),
        tuple(name for name in pair.others if name not in unchanged),
        pair.mismatches,
        functional,
    )


def _tensor(pair: Delta, name: str, gates: int, leading: int) -> TensorChange:
    spec, change = pair.specs[name], pair[name]
    norm, start = norm_of(change), _start_norm(pair, name)
    parts = name, str(spec.dtype), spec.shape, norm, start
    layout = layout_of(spec.shape)
    if layout is None or not np.isfinite(norm):
        return TensorChange(*parts, low_rank_numbers=spec.size if norm else 0)
    matrix = as_matrix(change, layout)
    found = spectrum_of(matrix, leading)
    rank, few = _low_rank(found, spec.size)
    blocks_of: tuple[TensorChange, ...] = ()
    if gates > 1:
        blocks_of = tuple(
            _gate(f"{name}[{word}]", str(spec.dtype), block, leading)
            for word, block in zip(gate_names(gates), np.split(matrix, gates, axis=0), strict=True)
        )
    return TensorChange(*parts, spectrum=found, rank=rank, low_rank_numbers=few, gates=blocks_of)


def _gate(name: str, dtype: str, block: np.ndarray, leading: int) -> TensorChange:
    found = spectrum_of(block, leading)
    rank, few = _low_rank(found, block.size)
    return TensorChange(
        name, dtype, block.shape, norm_of(block), float("nan"), 0.0, found, rank, few
    )


def _low_rank(found: Spectrum, numbers: int) -> tuple[int, int]:
    rank = found.rank_for(TOLERANCE) if found.norm else 0
    return rank, min(numbers, rank * (found.rows + found.columns))


def _shared(one: TensorChange, total: float) -> TensorChange:
    share = one.norm**2 / total if total and one.is_finite else 0.0
    gates = tuple(replace(gate, share=gate.norm**2 / total if total else 0.0) for gate in one.gates)
    return replace(one, share=share, gates=gates)


def _start_norm(pair: Delta, name: str) -> float:
    total = 0.0
    for start, stop in blocks(pair.specs[name].size):
        part = pair.before.numbers(name, start, stop).astype(np.float64)
        total += float(np.dot(part, part))
    return float(np.sqrt(total))
