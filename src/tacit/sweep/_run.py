"""The sweep: for each batch of a grid, compute the cells that the store lacks, and store them."""

import contextlib
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from tacit.store import Store, Variable, checked_arrays, device, precision, provenance
from tacit.sweep._grid import Batch, Grid

Cell = Callable[[Batch, Mapping[str, Any]], Mapping[str, Any]]


class Failure(NamedTuple):
    """A batch that raised: which, the error in one line, and where it came from."""

    batch: Batch
    message: str
    traceback: str


@dataclass
class SweepSummary:
    """What a sweep did. `parts` are the names of the parts that it wrote."""

    computed_batches: int = 0
    skipped_batches: int = 0
    computed_cells: int = 0
    failed: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    parts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SweepEvent:
    """A batch handed out or over, for whoever shows progress; `done` and `total` in batches."""

    kind: Literal["started", "computed", "skipped", "failed"]
    batch: Batch
    done: int
    total: int
    message: str = ""


Progress = Callable[[SweepEvent], None]


@dataclass(frozen=True)
class _Task:
    """The work on one batch: everything that travels to a worker."""

    cell: Cell
    fixed: Mapping[str, Any]
    variables: Mapping[str, Variable] | None
    coords: Mapping[str, Sequence[Any] | np.ndarray]

    def __call__(self, batch: Batch) -> "_Computed":
        start = time.perf_counter()
        arrays = self.cell(batch, self.fixed)
        if self.variables is None:
            checked = {name: np.asarray(array) for name, array in arrays.items()}
        else:
            checked = checked_arrays(arrays, len(batch), self.variables, self.coords)
        return _Computed(checked, time.perf_counter() - start, device())


class _Computed(NamedTuple):
    arrays: dict[str, np.ndarray]
    seconds: float
    device: str


def run_sweep(
    grid: Grid,
    fixed: Mapping[str, Any],
    cell: Cell,
    store: Store,
    *,
    variables: Mapping[str, Variable] | None = None,
    coords: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SweepSummary:
    """Compute what the store lacks of a grid, batch by batch.

    A batch that raises is kept in the summary and the others go on. Ctrl-C (in this process)
    leaves what was stored and is raised again: the same call resumes.

    **Arguments:**

    - `grid`: the cells, and how they are cut into batches.
    - `fixed`: the parameters that all cells share; they are part of a cell's address.
    - `cell`: `cell(batch, fixed)` → arrays by name, with the batch along the leading axis.
    - `store`: where results go; its cells are not computed again.
    - `variables`, `coords`: what is declared of the arrays; they are checked against it.
    - `executor`: any `concurrent.futures.Executor` (`cell` must then pickle); None computes here.
    - `progress`: called with a `SweepEvent` when a batch is handed out and when it is over.
    """
    start = time.perf_counter()
    summary = SweepSummary()
    total = grid.batch_count()
    task = _Task(cell, dict(fixed), variables, coords or {})

    def report(kind: Literal["started", "computed", "skipped", "failed"], batch: Batch) -> None:
        if progress is not None:
            done = summary.computed_batches + summary.skipped_batches + len(summary.failed)
            message = summary.failed[-1].message if kind == "failed" else ""
            progress(SweepEvent(kind, batch, done, total, message))

    def wanted() -> Iterator[Batch]:
        for whole in grid.batches():
            store.refresh()  # another process may be at work on the same store
            missing = store.missing({**task.fixed, **c} for c in whole.cells)
            if missing:
                batch = whole.only(missing)
                report("started", batch)
                yield batch
            else:
                summary.skipped_batches += 1
                report("skipped", whole)

    run = _run_here(task, wanted()) if executor is None else _run_on(executor, task, wanted())
    with contextlib.closing(run):
        for batch, outcome in run:
            if isinstance(outcome, Exception):
                summary.failed.append(_failure(batch, outcome))
                report("failed", batch)
                continue
            summary.parts.append(_keep(store, task.fixed, batch, outcome))
            summary.computed_batches += 1
            summary.computed_cells += len(batch)
            report("computed", batch)
    summary.seconds = time.perf_counter() - start
    return summary


def _failure(batch: Batch, error: Exception) -> Failure:
    message = f"{type(error).__name__}: {error}"
    return Failure(batch, message, "".join(traceback.format_exception(error)))


def _keep(store: Store, fixed: Mapping[str, Any], batch: Batch, computed: _Computed) -> str:
    origin = provenance(
        fixed,
        seconds=computed.seconds,
        device=computed.device,
        precision=precision(computed.arrays),
    )
    return store.add([{**fixed, **cell} for cell in batch.cells], computed.arrays, origin)


def _run_here(
    task: _Task, batches: Iterator[Batch]
) -> Generator[tuple[Batch, _Computed | Exception], None, None]:
    for batch in batches:
        try:
            outcome: _Computed | Exception = task(batch)
        except Exception as error:
            outcome = error
        yield batch, outcome


def _run_on(
    executor: Executor, task: _Task, batches: Iterator[Batch]
) -> Generator[tuple[Batch, _Computed | Exception], None, None]:
    # A future leaves `waiting` when it is done, so that no more results are held than are unread.
    waiting: dict[Future[_Computed], Batch] = {}
    try:
        for batch in batches:
            waiting[executor.submit(task, batch)] = batch
        for future in as_completed(list(waiting)):
            batch = waiting.pop(future)
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield batch, error if error is not None else future.result()
    finally:
        for future in waiting:
            future.cancel()
