"""A grid of cells, and the batches that are cut from it.

Batches depend on the grid alone, never on what a store already holds: an interrupted run and its
resumption cut at the same places.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit._doors import check_fields, door, each, function, instance, text, whole
from tacit.store import MOST_CELLS

_SCALARS = (bool, int, float, str)


@dataclass(frozen=True)
class Batch:
    """Cells that are computed together: equal in the axes of `batch_by`, any values in the others.

    **Arguments:**

    - `index`: its number among the batches of the grid.
    - `cells`: the swept parameters of each cell, in the order of the grid.
    - `scratch`: a folder for what must outlast a killed run, such as checkpoints; it need not be
      there, is the same when the batch is computed again, and is removed once the batch is stored.
    """

    index: int
    cells: tuple[Mapping[str, Any], ...]
    scratch: Path | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, index=whole(), cells=each(instance(Mapping), least=0))

    def __len__(self) -> int:
        return len(self.cells)

    @door(answer="any", name=text)
    def column(self, name: str) -> np.ndarray:
        """The values of one swept parameter, one entry for each cell."""
        return np.asarray([self._of(cell, name) for cell in self.cells])

    def values(self, name: str) -> tuple[Any, ...]:
        """The distinct values of one swept parameter, in the order of the grid."""
        return tuple(dict.fromkeys(self._of(cell, name) for cell in self.cells))

    @door(answer="any", name=text)
    def one(self, name: str) -> Any:
        """The value of a swept parameter that is the same in all cells of the batch."""
        values = self.values(name)
        if len(values) != 1:
            raise ValueError(
                f"name: {name!r} has the values {list(values)} in this batch, not one; name it in "
                "batch_by"
            )
        return values[0]

    @door(answer="any", positions=each(whole(), least=0))
    def only(self, positions: Sequence[int]) -> "Batch":
        """The same batch with some of its cells."""
        return replace(self, cells=tuple(self.cells[i] for i in positions))

    @property
    def label(self) -> str:
        """The batch in words: `teacher=even, width=40, seed=0…9`."""
        words = []
        for name in self.cells[0]:
            values = self.values(name)
            span = f"{values[0]}" if len(values) == 1 else f"{values[0]}…{values[-1]}"
            words.append(f"{name}={span}")
        return ", ".join(words)

    @staticmethod
    def _of(cell: Mapping[str, Any], name: str) -> Any:
        if name not in cell:
            raise ValueError(f"name: {name!r} is not a swept parameter, the batch has {list(cell)}")
        return cell[name]


@dataclass(frozen=True)
class Grid:
    """The product of some axes, and how to cut it.

    **Arguments:**

    - `axes`: swept parameter → its values, all distinct; the order is that of the cells.
    - `batch_by`: the axes that change shapes or programs; each combination is a batch of its own.
    - `chunk`: axis → block size: the axis is cut into blocks of that many values, from its start.
    - `keep`: says of a cell whether it is wanted; all are if it is None.

    The other axes lie whole within each batch.
    """

    axes: Mapping[str, tuple[Any, ...]]
    batch_by: tuple[str, ...] = field(default=(), kw_only=True)
    chunk: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    keep: Callable[[Mapping[str, Any]], bool] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        known = instance(Mapping)
        check_fields(self, axes=known, batch_by=each(text, least=0), chunk=known, keep=function)
        if not self.axes:
            raise ValueError("axes: a grid needs one axis or more, received none")
        for name, values in self.axes.items():
            if not values:
                raise ValueError(f"axes: {name!r} has no values")
            for value in values:
                if not isinstance(value, _SCALARS) or value != value:
                    raise ValueError(
                        f"axes: {name!r} has the value {value!r}; numbers and strings are allowed"
                    )
            if len(set(values)) != len(values):
                raise ValueError(f"axes: {name!r} has a value twice, in {list(values)}")
        for option, names in (("batch_by", self.batch_by), ("chunk", tuple(self.chunk))):
            unknown = [name for name in names if name not in self.axes]
            if unknown:
                raise ValueError(f"{option}: {unknown} are not axes of the grid {list(self.axes)}")
        both = sorted(set(self.batch_by) & self.chunk.keys())
        if both:
            raise ValueError(f"chunk: {both} are in batch_by already, whose batches have one value")
        for name, size in self.chunk.items():
            if not isinstance(size, int | np.integer) or size < 1:
                raise ValueError(f"chunk: {name!r} has size {size}, the smallest is 1")

        count = math.prod(len(values) for values in self.axes.values())
        if count > MOST_CELLS:
            sizes = " × ".join(f"{len(values):,} {name}" for name, values in self.axes.items())
            raise ValueError(
                f"axes: {count:,} cells ({sizes}) are too many: at most {MOST_CELLS:,}"
            )

    def __len__(self) -> int:
        if self.keep is not None:
            return sum(1 for _ in self.cells())
        return math.prod(len(values) for values in self.axes.values())

    def cells(self) -> Iterator[dict[str, Any]]:
        """Every cell once, the last axis fastest."""
        yield from self._wanted(self.axes.values())

    def _wanted(self, values: Iterable[Iterable[Any]]) -> Iterator[dict[str, Any]]:
        for combination in itertools.product(*values):
            cell = dict(zip(self.axes, combination, strict=True))
            if self.keep is None or self.keep(cell):
                yield cell

    def _blocks(self, name: str) -> list[tuple[Any, ...]]:
        values = tuple(self.axes[name])
        size = 1 if name in self.batch_by else self.chunk.get(name, len(values))
        return [values[start : start + size] for start in range(0, len(values), size)]

    def batches(self) -> Iterator[Batch]:
        """The batches: together they hold every cell of the grid exactly once."""
        blocks = itertools.product(*(self._blocks(name) for name in self.axes))
        for index, block in enumerate(blocks):
            cells = tuple(self._wanted(block))
            if cells:
                yield Batch(index, cells)

    def batch_count(self) -> int:
        """How many batches there are."""
        if self.keep is not None:
            return sum(1 for _ in self.batches())
        return math.prod(len(self._blocks(name)) for name in self.axes)
