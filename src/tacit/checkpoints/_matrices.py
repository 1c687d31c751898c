"""Tensors as matrices: kernels of convolutions flattened, gate-stacked blocks taken apart."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit._tensors import Spec

_RECURRENT = re.compile(r"hh|recurrent|rnn|lstm|gru|hidden", re.IGNORECASE)
_STACKED = re.compile(r"ih|hh|input|recurrent|rnn|lstm|gru|hidden", re.IGNORECASE)
GATES = {4: ("i", "f", "g", "o"), 3: ("r", "z", "n")}
"""What the blocks of an LSTM and of a GRU are called, in the order of PyTorch's."""


@dataclass(frozen=True)
class Layout:
    """How a tensor is seen as a matrix: its rows and columns, and gates below each other."""

    rows: int
    columns: int
    gates: int = 1

    @property
    def rank(self) -> int:
        """The largest rank that such a matrix can have."""
        return min(self.rows, self.columns)

    @property
    def break_even(self) -> int:
        """The largest rank at which two factors are smaller than the matrix; may be 0."""
        return max(0, math.ceil(self.rows * self.columns / (self.rows + self.columns)) - 1)


def layout_of(shape: tuple[int, ...]) -> Layout | None:
    """The matrix of a tensor; None for vectors, numbers and empty tensors.

    A matrix is as it is. A kernel is out × (in · k₁ · k₂), as `measures.by_outputs` has it up to
    the order of columns, or the transpose of that: PyTorch has `out` first and the small lengths
    last, JAX the other way round. `out` is taken to be first, unless the first half of the lengths
    has the smaller product.
    """
    if len(shape) < 2 or 0 in shape:
        return None
    if len(shape) == 2:
        return Layout(*shape)
    half = len(shape) // 2
    if math.prod(shape[:half]) < math.prod(shape[-half:]):
        return Layout(math.prod(shape[:-1]), shape[-1])
    return Layout(shape[0], math.prod(shape[1:]))


def gate_counts(specs: Mapping[str, Spec], gates: int | None) -> dict[str, int]:
    """How many gates are stacked in each tensor that has any.

    A recurrent matrix of g gates of h units has g·h rows and h columns. Such a matrix whose name
    says that it is recurrent (hh, recurrent, rnn, lstm, gru, hidden) counts, with g = 4 (LSTM) or
    3 (GRU); and so does each matrix with as many rows whose name begins alike and has such a word
    or `ih`, `input` in it. With `gates` given, names do not count: all matrices with g·h rows do,
    h being the columns of one with g·h rows and h columns. `gates=1` takes nothing apart.
    """
    matrices = {name: spec.shape for name, spec in specs.items() if len(spec.shape) == 2}

    def family(name: str) -> tuple[int, str]:
        """What is stacked alike: by rows, and by how the name begins."""
        return matrices[name][0], _stem(name) if gates is None else ""

    counts: dict[tuple[int, str], int] = {}
    for name, (rows, columns) in matrices.items():
        for count in GATES if gates is None else (gates,):
            if count < 2 or rows != count * columns:
                continue
            if gates is not None or _RECURRENT.search(name):
                counts[family(name)] = count
    return {
        name: counts[family(name)]
        for name in matrices
        if family(name) in counts and (gates is not None or _STACKED.search(name))
    }


def gate_names(count: int) -> tuple[str, ...]:
    """What the gates of a block are called."""
    return GATES.get(count) or tuple(str(number) for number in range(1, count + 1))


def as_matrix(tensor: np.ndarray, layout: Layout) -> np.ndarray:
    """The tensor in rows and columns, without a copy."""
    return tensor.reshape(layout.rows, layout.columns)


def _stem(name: str) -> str:
    return name.rpartition(".")[0]
