"""What a sweep reports: events while it runs, a summary at the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tacit.sweep._grid import Batch


class Failure(NamedTuple):
    """Cells of a batch that failed with the same error, also when run alone, and the error.

    `batch` holds the failed cells only; its index is that of the grid's batch. `record` is the path
    of the file that keeps it.
    """

    batch: Batch
    message: str
    traceback: str
    record: str = ""


@dataclass
class SweepSummary:
    """What a sweep did.

    A batch that lost cells is not among the computed ones, but its other cells are among the
    computed cells. `parts` are the names of the parts that were written, `retries` counts the
    tries after the first, of batches and of their cells alone.
    """

    computed_batches: int = 0
    skipped_batches: int = 0
    failed_batches: int = 0
    computed_cells: int = 0
    retries: int = 0
    failed: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    parts: list[str] = field(default_factory=list)

    def add(self, other: "SweepSummary") -> None:
        """Count in what a further sweep over the same cells, and more, has computed."""
        self.computed_batches += other.computed_batches
        self.failed_batches += other.failed_batches
        self.computed_cells += other.computed_cells
        self.retries += other.retries
        self.failed += other.failed
        self.seconds += other.seconds
        self.parts += other.parts

    @property
    def ended_batches(self) -> int:
        """The number of batches that are finished."""
        return self.computed_batches + self.skipped_batches + self.failed_batches


@dataclass(frozen=True)
class SweepEvent:
    """Something that happened to a batch; `done` and `total` in batches.

    Kinds: `started`, then `computed`, or `failed` if some of its cells did; `skipped` if the store
    has it; `retried` if it raised and is tried again; `waiting` if another process computes it,
    and once more, with a `remedy`, when nothing has ended for a long while. The `remedy` of one
    that failed says where its traceback is.
    """

    kind: Literal["started", "computed", "skipped", "failed", "retried", "waiting"]
    batch: Batch
    done: int
    total: int
    message: str = ""
    remedy: str = ""


Progress = Callable[[SweepEvent], None]
