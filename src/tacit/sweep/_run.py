"""The sweep: for each batch of a grid, compute the cells that the store lacks, and store them."""

import contextlib
import os
import time
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit._doors import door, flag, function, having, instance, text, whole
from tacit._errors import PLACE
from tacit.store import Store, Variable
from tacit.sweep._agenda import Agenda, Work
from tacit.sweep._errors import WorkerDiedError, WorkersLostError
from tacit.sweep._grid import Batch, Grid
from tacit.sweep._record import Failure, Progress, SweepEvent, SweepSummary
from tacit.sweep._task import Cell, Computed, InProcess, Task

# What the same code raises again on the same cells: its batch goes cell by cell at once.
_WOULD_RAISE_AGAIN = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
    NotImplementedError, SyntaxError, TypeError, ValueError,
)  # fmt: skip
_POLL_SECONDS = 0.2  # how often to look at what another process computes
_PATIENCE_SECONDS = 900.0  # how long nothing may end before it is said
_CHECK_SECONDS = 5.0  # how often to check that the executor is still there


@door(
    answer="any",
    grid=instance(Grid),
    fixed=instance(Mapping),
    cell=function,
    store=instance(Store),
    variables=instance(Mapping),
    coords=instance(Mapping),
    code=text,
    own_x64=flag,
    retries=whole(),
    progress=function,
    executor=having("submit"),
)
def run_sweep(
    grid: Grid,
    fixed: Mapping[str, Any],
    cell: Cell,
    store: Store,
    *,
    variables: Mapping[str, Variable] | None = None,
    coords: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    code: str | None = None,
    own_x64: bool = False,
    executor: Executor | None = None,
    retries: int = 1,
    progress: Progress | None = None,
) -> SweepSummary:
    """Compute the cells of a grid that the store lacks, batch by batch.

    A batch that raises is tried again `retries` times, unless the error is one that the same code
    would raise again (a `ValueError`, say), then cell by cell, so that one bad cell
    costs only itself; its error goes into the store and the summary, and the others go on. Another
    process on the same store shares the work. Ctrl-C leaves what was stored and is raised again:
    the same call resumes.

    **Arguments:**

    - `grid`: the cells, and how they are cut into batches.
    - `fixed`: the parameters that all cells share; they are part of a cell's address.
    - `cell`: `cell(batch, fixed)` → arrays by name, with the batch along the leading axis.
    - `store`: where results go; its cells are not computed again.
    - `variables`, `coords`: what the arrays are declared to be; they are checked against it.
    - `code`: the fingerprint of what `cell` computes, for the provenance of the parts.
    - `own_x64`: `cell` chooses itself whether JAX's numbers have 64 bits; else they have 32, as by
      default. Its other settings are JAX's defaults during cells.
    - `executor`: any `concurrent.futures.Executor` (`cell` must then pickle); this process if
      None.
    - `retries`: how often a batch that raised is tried again before it is taken apart.
    - `progress`: called with a `SweepEvent` when something happens to a batch.
    """
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ValueError(f"retries: received {retries!r}, it must be an integer of at least 0")
    task = Task(cell, dict(fixed), variables, coords or {}, code, own_x64)
    with store.at_work():
        return _Sweep(grid, task, store, executor or InProcess(), retries, progress).run()


@dataclass(frozen=True)
class _Job:
    """What the executor is given: a batch, or one cell of it; `tries` counts earlier attempts.

    `isolated`: it runs while nothing else does, to see whether it was what killed its worker.
    """

    work: Work
    batch: Batch
    tries: int = 0
    alone: bool = False
    isolated: bool = False


class _Sweep:
    def __init__(
        self,
        grid: Grid,
        task: Task,
        store: Store,
        executor: Executor,
        retries: int,
        progress: Progress | None,
    ) -> None:
        self._task = task
        self._store = store
        self._executor = executor
        self._retries = retries
        self._progress = progress
        self._total = grid.batch_count()
        self._summary = SweepSummary()
        self._agenda = Agenda(
            grid,
            task.fixed,
            store,
            code=task.code,
            skipped=self._skipped,
            waiting=lambda batch, who: self._report(
                "waiting", batch, f"process {who} is computing it already"
            ),
        )
        self._again: deque[_Job] = deque()
        self._suspects: deque[_Job] = deque()
        self._running: dict[Future[Computed], _Job] = {}
        self._works: list[Work] = []
        self._moved = time.monotonic()  # when a batch last ended, or was said to hang

    def run(self) -> SweepSummary:
        start = time.perf_counter()
        try:
            while self._hand_out() or self._agenda.waits or self._suspects:
                self._collect()
        except (KeyboardInterrupt, WorkersLostError):
            self._keep_finished()
            raise
        finally:
            for future in self._running:
                future.cancel()
            for work in self._works:
                work.reservation.release()
        self._summary.seconds = time.perf_counter() - start
        return self._summary

    # Out to the workers

    def _hand_out(self) -> bool:
        """Give the workers enough to stay busy, and no more: it is reserved, and held in memory."""
        slots = _slots(self._executor)
        isolated = any(job.isolated for job in self._running.values())
        while len(self._running) < max(1, 2 * slots) and not isolated:
            job = self._next()
            if job is None:
                break
            try:
                future = self._executor.submit(self._task, job.batch)
            except (BrokenExecutor, RuntimeError) as error:
                raise _lost(error) from error
            self._running[future] = job
            isolated = job.isolated
        return bool(self._running)

    def _next(self) -> _Job | None:
        if self._again:
            return self._again.popleft()
        while (work := self._agenda.next()) is not None:
            self._works.append(work)
            if work.left:
                self._report("started", work.batch)
                return _Job(work, work.batch)
            self._settle(work)
        # A suspect goes last, when the workers have nothing else to do.
        return self._suspects.popleft() if self._suspects and not self._running else None

    # Back from the workers

    def _collect(self) -> None:
        self._say_what_hangs()
        if not self._running:
            time.sleep(_POLL_SECONDS)
            return
        seconds = _POLL_SECONDS if self._agenda.waits else _CHECK_SECONDS
        done, _ = wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED)
        if not done and (check := getattr(self._executor, "check", None)) is not None:
            check()
        for future in done:
            self._ended(self._running.pop(future), future)

    def _say_what_hangs(self) -> None:
        """Name what nothing has come from for a long while, and what can be done about it."""
        if time.monotonic() - self._moved < _PATIENCE_SECONDS:
            return
        self._moved = time.monotonic()
        minutes = f"for {_PATIENCE_SECONDS / 60:.0f} minutes"
        if self._running:
            batch = next(iter(self._running.values())).batch
            words, remedy = f"no worker has ended a batch {minutes}", "Ctrl-C keeps what is stored"
        elif (found := self._agenda.waiting_for()) is not None:
            batch, who = found
            words = f"process {who} has computed it {minutes}"
            remedy = f"if it hangs, end it (kill {who}): this run then goes on alone"
        else:
            return
        self._report("waiting", batch, words, remedy)

    def _ended(self, job: _Job, future: Future[Computed]) -> None:
        if future.cancelled():
            raise _lost("their scheduler is gone, or has cancelled the work")
        error = future.exception()
        if error is None:
            self._keep(job, future.result())
        elif isinstance(error, BrokenExecutor):
            raise _lost(error) from error
        elif isinstance(error, Exception):
            self._raised(job, error)
        else:
            raise error

    def _keep(self, job: _Job, computed: Computed) -> None:
        cells = [{**self._task.fixed, **cell} for cell in job.batch.cells]
        self._summary.parts.append(self._store.add(cells, computed.arrays, computed.provenance))
        self._summary.computed_cells += len(cells)
        self._one_less(job.work)

    def _raised(self, job: _Job, error: Exception) -> None:
        place = getattr(error, PLACE, "")
        message = f"{type(error).__name__}: {error}" + (f" ({place})" if place else "")
        batch = job.batch
        fresh = job.tries < self._retries and not job.alone
        if fresh and not isinstance(error, _WOULD_RAISE_AGAIN):
            self._summary.retries += 1
            self._report("retried", batch, f"{message}; it is tried again")
            self._again.append(_Job(job.work, batch, job.tries + 1))
        elif len(batch) > 1:
            self._summary.retries += len(batch)
            self._report("retried", batch, f"{message}; its cells are tried one by one")
            job.work.left = len(batch)
            cells = (batch.only([position]) for position in range(len(batch)))
            self._again += [_Job(job.work, cell, alone=True) for cell in cells]
        elif isinstance(error, WorkerDiedError) and not (error.blame or job.isolated):
            self._summary.retries += 1
            self._suspects.append(_Job(job.work, batch, alone=True, isolated=True))
        else:
            text = "".join(traceback.format_exception(error))
            job.work.failed.append(Failure(batch, message, text))
            self._one_less(job.work)

    def _one_less(self, work: Work) -> None:
        work.left -= 1
        if not work.left:
            self._settle(work)

    def _settle(self, work: Work) -> None:
        """Finish a batch: store its errors, release its reservation, report it."""
        failures = _together(work.failed)
        for position, failure in enumerate(failures):
            cells = [{**self._task.fixed, **cell} for cell in failure.batch.cells]
            record = self._store.add_failure(cells, failure.message, failure.traceback)
            failures[position] = failure._replace(record=self._store.failure_path(record))
        failures += _together(work.failed_elsewhere)
        self._works.remove(work)
        if work.batch.scratch is not None:
            self._store.clear_scratch(work.batch.scratch)
        work.reservation.release()
        self._summary.failed += failures
        if failures:
            self._summary.failed_batches += 1
            for failure in failures:
                remedy = f"the traceback is in {failure.record}" if failure.record else ""
                self._report("failed", failure.batch, failure.message, remedy)
        else:
            self._summary.computed_batches += 1
            self._report("computed", work.batch)

    def _keep_finished(self) -> None:
        """Store what has already come back, before leaving."""
        for future in [future for future in self._running if future.done()]:
            job = self._running.pop(future)
            if not future.cancelled() and future.exception() is None:
                with contextlib.suppress(OSError):
                    self._keep(job, future.result())

    def _skipped(self, batch: Batch) -> None:
        self._summary.skipped_batches += 1
        self._report("skipped", batch)

    def _report(
        self,
        kind: Literal["started", "computed", "skipped", "failed", "retried", "waiting"],
        batch: Batch,
        message: str = "",
        remedy: str = "",
    ) -> None:
        if kind in ("computed", "failed", "skipped"):
            self._moved = time.monotonic()
        if self._progress is not None:
            done = self._summary.ended_batches
            self._progress(SweepEvent(kind, batch, done, self._total, message, remedy))


def _slots(executor: Executor) -> int:
    """How many batches an executor computes at a time; a guess if it does not say."""
    known = getattr(executor, "slots", getattr(executor, "_max_workers", None))
    return known if isinstance(known, int) else os.cpu_count() or 1


def _together(failures: Sequence[Failure]) -> list[Failure]:
    """The failed cells of one batch; those with the same message are one failure."""
    alike: dict[str, list[Failure]] = {}
    for failure in failures:
        alike.setdefault(failure.message, []).append(failure)
    return [
        same[0]._replace(
            batch=Batch(same[0].batch.index, tuple(c for f in same for c in f.batch.cells))
        )
        for same in alike.values()
    ]


def _lost(cause: object) -> WorkersLostError:
    return WorkersLostError(
        f"the workers were lost ({cause}); what was computed is stored: the same command goes on "
        "from there"
    )
