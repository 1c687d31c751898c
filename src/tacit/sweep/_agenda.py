"""What is left to compute: batches that are neither stored nor computed by another process."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.store import Lock, Store
from tacit.sweep._grid import Batch, Grid
from tacit.sweep._record import Failure


@dataclass(eq=False)
class Work:
    """A batch being computed: the cells that the store lacks, reserved until `reservation` ends.

    `left` counts its pieces (itself, or its cells when it is tried cell by cell) that have not
    ended; `failed` holds the pieces that failed here, `failed_elsewhere` those that had just failed
    in another process.
    """

    batch: Batch
    reservation: Lock
    left: int = 1
    failed: list[Failure] = field(default_factory=list)
    failed_elsewhere: list[Failure] = field(default_factory=list)


class Agenda:
    """Gives out the batches of a grid, one by one.

    Only what is handed out is reserved, so that two processes on one store share a grid. A batch
    that another process computes is passed over and asked for again later: in the end it is stored,
    or it failed there, or that process is gone and this one computes it.

    **Arguments:**

    - `code`: the fingerprint of what computes, whose scratch folders no other code may use.
    - `skipped`: called with a batch that is stored.
    - `waiting`: called once with a batch that another process is computing, and who it is.
    """

    def __init__(
        self,
        grid: Grid,
        fixed: Mapping[str, Any],
        store: Store,
        *,
        code: str | None = None,
        skipped: Callable[[Batch], None],
        waiting: Callable[[Batch, str], None],
    ) -> None:
        self._fixed = fixed
        self._store = store
        self._code = code
        self._skipped = skipped
        self._waiting = waiting
        self._unseen = grid.batches()
        self._elsewhere: deque[Batch] = deque()
        self._old_failures = store.failure_names()

    @property
    def waits(self) -> bool:
        """Whether another process is computing what this sweep needs."""
        return bool(self._elsewhere)

    def waiting_for(self) -> tuple[Batch, str] | None:
        """A batch that another process computes, and who that is; None if there is none."""
        if not self._elsewhere:
            return None
        return self._elsewhere[0], self._store.reserved_by(self._keys(self._elsewhere[0]))

    def next(self) -> Work | None:
        """The next batch to compute; None if there is none, or none for now."""
        for batch in self._unseen:
            work = self._begin(batch)
            if work is not None:
                return work
            if self._elsewhere and self._elsewhere[-1] is batch:
                self._waiting(batch, self._store.reserved_by(self._keys(batch)))
        for _ in range(len(self._elsewhere)):
            work = self._begin(self._elsewhere.popleft())
            if work is not None:
                return work
        return None

    def _keys(self, batch: Batch) -> list[str]:
        return self._store.keys_of(batch.cells, self._fixed)

    def _begin(self, whole: Batch) -> Work | None:
        keys = self._keys(whole)
        if not self._store.missing_keys(keys):
            self._skipped(whole)
            return None
        reservation = self._store.reserve(keys)
        if reservation is None:
            self._store.refresh()
            self._elsewhere.append(whole)
            return None
        try:
            # Whoever had it before has stored it before letting go.
            self._store.refresh()
            missing = self._store.missing_keys(keys)
            if not missing:
                self._skipped(whole)
                reservation.release()
                return None
            scratch = self._store.scratch(keys, code=self._code)
            return self._work(replace(whole, scratch=scratch).only(missing), reservation)
        except BaseException:
            reservation.release()
            raise

    def _work(self, batch: Batch, reservation: Lock) -> Work:
        """What is left to do; cells that have just failed elsewhere are not tried again."""
        work = Work(batch, reservation)
        failures = self._store.failures(but=self._old_failures)
        if not failures:
            return work
        keys = self._keys(batch)
        for position, key in enumerate(keys):
            if key in failures:
                record = failures[key]
                cell = batch.only([position])
                path = self._store.failure_path(record.name)
                work.failed_elsewhere.append(Failure(cell, record.message, record.traceback, path))
        work.batch = batch.only([i for i, key in enumerate(keys) if key not in failures])
        work.left = 1 if len(work.batch) else 0
        return work
