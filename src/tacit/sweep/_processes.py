"""A pool of processes for sweeps, one per core, each with one thread; losing one harms no other.

`concurrent.futures.ProcessPoolExecutor` breaks as a whole when one of its processes dies. Here each
worker is a pool of one: a batch that kills its process fails alone, and a new process takes the
place of the old one.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any, ParamSpec, TypeVar

from tacit.sweep._environment import environment
from tacit.sweep._errors import WorkerDiedError, WorkersError

P = ParamSpec("P")
R = TypeVar("R")

MOST_WORKERS = 1024

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NPROC": "1",  # the size of XLA's pool of threads on the CPU
}
"""What keeps a numerical library to one thread, if it is set before the library is imported."""

_starting = threading.Lock()


def checked_workers(workers: int) -> int:
    """`workers`, or a `WorkersError`."""
    if (
        isinstance(workers, bool)
        or not isinstance(workers, int)
        or not 1 <= workers <= MOST_WORKERS
    ):
        raise WorkersError(
            f"workers: received {workers!r}, allowed is an integer from 1 to {MOST_WORKERS}"
        )
    return workers


class ProcessWorkers(Executor):
    """An executor of `workers` fresh processes, which ignore Ctrl-C and end with this process.

    As a context manager it waits for what is running, unless it is left by an error (Ctrl-C): then
    its processes are ended at once. With as many workers as this process has cores each worker
    keeps to a core of its own; with fewer the system places them, as two sweeps side by side would
    otherwise choose the same cores.

    A program that uses it must be importable: its work stands behind
    `if __name__ == "__main__":`.
    """

    def __init__(self, workers: int) -> None:
        self.slots = checked_workers(workers)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="tacit-worker")
        self._here = threading.local()
        self._lock = threading.Lock()
        self._pools: dict[int, ProcessPoolExecutor] = {}  # by the number of its process
        self._cores = _cores(workers)
        self._closing = False

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a picklable function in one of the processes."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def _call(self, fn: Callable[..., R], args: Any, kwargs: Any) -> R:
        """Run a batch, in the thread that manages one process."""
        try:
            if getattr(self._here, "pid", None) is None:
                self._start()
            return self._pools[self._here.pid].submit(fn, *args, **kwargs).result()
        except BrokenProcessPool:
            self._forget()
            raise WorkerDiedError from None

    def _start(self) -> None:
        if self._closing:
            raise WorkerDiedError
        with self._lock:
            core = self._cores.pop(0) if self._cores else None
        self._here.core = core
        pool = ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_settle_in,
            initargs=(core,),
        )
        with _starting, environment(ONE_THREAD), without_interrupts():
            number = pool.submit(os.getpid)  # which starts the process
        try:
            self._here.pid = number.result()
        except BrokenProcessPool:
            pool.shutdown(wait=True)
            raise
        with self._lock:
            self._pools[self._here.pid] = pool
        if self._closing:  # `kill` may have looked before this one was there
            self._end({self._here.pid})

    def _forget(self) -> None:
        """The process is gone; the next batch of this thread starts another on its core.

        The thread by which its pool watched it closes its pipes now, and ends. It is waited for:
        Python writes to these pipes when it exits, and would find them closed.
        """
        pid, self._here.pid = getattr(self._here, "pid", None), None
        with self._lock:
            pool = self._pools.pop(pid, None) if pid is not None else None
            if self._here.core is not None:
                self._cores.append(self._here.core)
        if pool is not None:
            pool.shutdown(wait=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes end; with `wait`, wait for what is running."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        with self._lock:
            pools = list(self._pools.values())
        for pool in pools:
            pool.shutdown(wait, cancel_futures=cancel_futures)

    def kill(self) -> None:
        """End the processes at once; what they were computing is lost."""
        self._closing = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            mine = set(self._pools)
        self._end(mine)
        self.shutdown(wait=True, cancel_futures=True)

    @staticmethod
    def _end(pids: set[int]) -> None:
        for child in multiprocessing.active_children():
            if child.pid in pids:
                child.kill()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.shutdown(wait=True)
        else:
            self.kill()


def core_count() -> int:
    """How many cores this process may use."""
    return len(_own_cores()) or os.cpu_count() or 1


def _own_cores() -> list[int]:
    """The cores of this process; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _cores(workers: int) -> list[int]:
    """The cores to pin to, one for each worker, if all are used; else none."""
    cores = _own_cores()
    return cores if len(cores) == workers else []


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """A child that starts inside never sees Ctrl-C, which a terminal sends to every process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Before the mask: started inside, it would lift it again on its way.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle_in(core: int | None) -> None:
    """The first thing that a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    """A killed parent cannot tell its workers to stop, and they would wait for ever."""
    parent.join()
    os._exit(1)
