"""Sweeps on a Dask cluster: a running one, or one started on this machine."""

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from tacit.sweep._errors import WorkerDiedError, WorkersError, WorkersLostError
from tacit.sweep._processes import ONE_THREAD, checked_workers, without_interrupts

P = ParamSpec("P")
R = TypeVar("R")

LOCAL = "local"

_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?(\[[0-9a-fA-F:.%]+\]|[^\s:/\[\]]+):(\d{1,5})")
_SLOTS_SECONDS = 2.0  # for how long the number of workers is taken to be what it was


class DaskWorkers(Executor):
    """The executor of a `distributed.Client` that also knows how many workers there are."""

    def __init__(self, client: Any) -> None:
        self._client = client
        # A function of a batch is not to be remembered by the scheduler: a retry is a new try.
        self._inner = client.get_executor(pure=False)
        self._slots = 1
        self._looked = -_SLOTS_SECONDS

    @property
    def slots(self) -> int:
        """How many threads the workers have together; they may come and go."""
        if time.monotonic() - self._looked > _SLOTS_SECONDS:
            self.check()
            with contextlib.suppress(OSError, TimeoutError):
                self._slots = max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        return self._slots

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a picklable function on one of the workers."""
        return _in_our_words(self._inner.submit(fn, *args, **kwargs))

    def check(self) -> None:
        """A `WorkersLostError` if the scheduler is gone for good."""
        if self._client.status in ("closing", "closed"):
            raise WorkersLostError(
                "the Dask scheduler was lost; what was computed is stored: the same command, with "
                "a scheduler that is there, goes on"
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is running, or cancel it."""
        self._inner.shutdown(wait=wait and not cancel_futures)


def _in_our_words(inner: "Future[R]") -> "Future[R]":
    """The same future, with Dask's error for a lost worker replaced by ours.

    Dask counts a lost worker against every task that was assigned to it, even those that had
    not begun: which one is to blame is not known.
    """
    outer: Future[R] = Future()

    def ended(_: "Future[R]") -> None:
        if inner.cancelled():
            outer.cancel()
        if not outer.set_running_or_notify_cancel():
            return
        error = inner.exception()
        if error is None:
            outer.set_result(inner.result())
        else:
            lost = type(error).__name__ == "KilledWorker"
            outer.set_exception(WorkerDiedError(blame=False) if lost else error)

    def cancelled(_: "Future[R]") -> None:
        if outer.cancelled():
            inner.cancel()

    outer.add_done_callback(cancelled)
    inner.add_done_callback(ended)
    return outer


@contextlib.contextmanager
def dask_workers(
    scheduler: str,
    *,
    workers: int | None = None,
    notice: Callable[[str], None] = lambda sentence: None,
    timeout: float = 5.0,
) -> Iterator[DaskWorkers]:
    """Workers of a Dask cluster as an executor, for the length of a `with` block.

    **Arguments:**

    - `scheduler`: `tcp://host:port` of a running scheduler, or `"local"` for a cluster on
      this machine that ends with the `with`.
    - `workers`: how many processes a local cluster has, one thread each; all cores if None.
    - `notice`: called with what the user should know: a dashboard, a cluster without workers.
    - `timeout`: seconds within which the scheduler must answer.
    """
    try:
        import distributed
    except ImportError as error:
        raise WorkersError(
            f"scheduler: received {scheduler!r}, but Dask is not installed: "
            "pip install 'dask[distributed]'"
        ) from error
    with contextlib.ExitStack() as stack:
        for name in ("distributed", "distributed.client"):  # Dask gives each a level of its own
            stack.enter_context(_quiet(name))
        if scheduler == LOCAL:
            count = checked_workers(workers) if workers is not None else os.cpu_count() or 1
            # The cluster's threads and processes inherit the mask: Ctrl-C is this thread's alone.
            with without_interrupts():
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=count,
                        threads_per_worker=1,
                        # This machine alone: a dashboard and its workers' pages tell everything.
                        dashboard_address="127.0.0.1:0",
                        worker_dashboard_address="127.0.0.1:0",
                        env=ONE_THREAD,
                        silence_logs=logging.CRITICAL,  # a failed batch is told of by the sweep
                    )
                )
                client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
        else:
            if workers is not None:
                raise WorkersError(
                    f"workers: received {workers} with the scheduler {scheduler}, which has its "
                    "own workers: leave it out"
                )
            client = stack.enter_context(_connected(distributed, scheduler, timeout))
        notice(f"Dask dashboard: {client.dashboard_link}")
        if not client.nthreads():
            notice(f"the scheduler at {scheduler} has no workers yet: waiting for the first")
        executor = DaskWorkers(client)
        finished = False
        try:
            yield executor
            finished = True
        finally:
            with contextlib.suppress(Exception):  # nothing of worth is there any more
                executor.shutdown(wait=finished)


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger: what its tracebacks say is told in one sentence instead."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _connected(distributed: Any, scheduler: str, timeout: float) -> Any:
    match = _ADDRESS.fullmatch(scheduler)
    if match is None or not 0 < int(match[4]) < 65536:
        raise WorkersError(
            f"scheduler: received {scheduler!r}, the form is tcp://host:port, or {LOCAL!r} for a "
            "cluster on this machine"
        )
    try:
        return distributed.Client(scheduler, timeout=timeout, set_as_default=False)
    except (TypeError, RuntimeError) as error:  # tls:// without certificates, a missing protocol
        raise WorkersError(
            f"scheduler: {scheduler} cannot be reached: {error}; see distributed.security"
        ) from error
    except (OSError, ValueError, TimeoutError) as error:
        raise WorkersError(
            f"scheduler: {scheduler} does not answer within {timeout:g} s: is a Dask scheduler "
            "running there, and can this machine reach it?"
        ) from error
