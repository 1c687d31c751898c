"""The pool of pinned processes: one thread each, and the loss of one is its own."""

import concurrent.futures.process
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tacit.store import Store, Variable
from tacit.sweep import (
    Grid,
    ProcessWorkers,
    WorkerDiedError,
    WorkersError,
    core_count,
    run_sweep,
)

AT_IMPORT = {n: os.environ.get(n) for n in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC")}


def surroundings():
    ours = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    return os.getpid(), AT_IMPORT, ours, signal.getsignal(signal.SIGINT)


def nap(seconds):
    time.sleep(seconds)
    return os.getpid()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_each_process_has_one_thread_and_one_core():
    before = dict(os.environ)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    with ProcessWorkers(cores) as workers:
        found = [f.result() for f in [workers.submit(surroundings) for _ in range(4 * cores)]]
    pids = {pid for pid, *_ in found}
    assert os.getpid() not in pids
    assert len(pids) <= cores
    for _, at_import, ours, on_interrupt in found:
        assert set(at_import.values()) == {"1"}
        assert len(ours) in (0, 1)  # as many workers as cores: each has its own
        assert on_interrupt == signal.SIG_IGN
    assert len({frozenset(ours) for _, _, ours, _ in found}) == len(pids)
    assert dict(os.environ) == before


def test_a_process_that_dies_fails_its_own_batch_only():
    with ProcessWorkers(2) as workers:
        first = workers.submit(nap, 0.0).result()
        slow = workers.submit(nap, 0.6)
        dying = workers.submit(die)
        with pytest.raises(WorkerDiedError, match="killed, out of memory, or crashed"):
            dying.result(30)
        assert slow.result(30) > 0
        others = {f.result(30) for f in [workers.submit(nap, 0.05) for _ in range(8)]}
        assert len(others | {first}) <= 3
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result(30)


def test_leaving_by_an_error_ends_the_processes_at_once():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ProcessWorkers(1) as workers:  # noqa: PT012
        pid = workers.submit(nap, 0.0).result()
        running = workers.submit(nap, 60.0)
        queued = workers.submit(nap, 60.0)
        assert _soon(running.running)
        time.sleep(0.1)
        raise KeyboardInterrupt
    assert time.monotonic() - start < 30
    assert queued.cancelled()
    assert isinstance(running.exception(), WorkerDiedError)
    assert _soon(lambda: not _alive(pid))


def test_leaving_while_processes_start_ends_them_too():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ProcessWorkers(2) as workers:  # noqa: PT012
        running = [workers.submit(nap, 60.0) for _ in range(2)]
        assert _soon(lambda: all(future.running() for future in running))
        raise KeyboardInterrupt
    assert time.monotonic() - start < 30
    assert all(isinstance(future.exception(), WorkerDiedError) for future in running)


def leave_by_an_error():
    with ProcessWorkers(2) as workers:
        for future in [workers.submit(nap, 0.05) for _ in range(4)]:
            future.result()
        running = [workers.submit(nap, 60.0) for _ in range(2)]
        assert _soon(lambda: all(future.running() for future in running))
        time.sleep(0.1)
        raise KeyboardInterrupt


def lose_a_process():
    with ProcessWorkers(1) as workers, pytest.raises(WorkerDiedError):
        workers.submit(die).result()


@pytest.mark.parametrize("leave", [leave_by_an_error, lose_a_process])
def test_no_thread_of_a_pool_is_left_that_closes_its_pipes_later(leave, monkeypatch):
    # Python writes to a pool's pipe when it exits, and fails if the pool closes it just then.
    watcher = concurrent.futures.process._ExecutorManagerThread
    ends = watcher.join_executor_internals

    def slowly(self):
        time.sleep(0.5)
        ends(self)

    monkeypatch.setattr(watcher, "join_executor_internals", slowly)
    with contextlib.suppress(KeyboardInterrupt):
        leave()
    assert [thread for thread in threading.enumerate() if isinstance(thread, watcher)] == []


@pytest.mark.parametrize("wrong", [0, -1, 1025, 1.5, True, "2"])
def test_the_number_of_workers(wrong):
    with pytest.raises(WorkersError, match=r"workers: received .*, allowed is an integer from 1"):
        ProcessWorkers(wrong)


def fatal(batch, fixed):
    if 4 in batch.column("seed"):
        os._exit(1)
    return {"error": batch.column("seed") * 2.0}


def test_a_cell_that_brings_its_process_down_ends_as_failed(tmp_path):
    grid = Grid({"seed": tuple(range(12))}, chunk={"seed": 3})
    store = Store(tmp_path / "store", experiment="toy/fatal", version=1)
    with ProcessWorkers(2) as workers:
        summary = run_sweep(grid, {}, fatal, store, executor=workers)
    assert [f.batch.cells for f in summary.failed] == [({"seed": 4},)]
    assert summary.failed[0].message.startswith("WorkerDiedError: the worker process ended")
    dataset = store.dataset(grid.axes, {}, {"error": Variable("error")}, {})
    np.testing.assert_array_equal(dataset["present"], np.arange(12) != 4)


ORPHANS = """
    import sys, time
    from test_sweep_processes import nap
    from tacit.sweep import ProcessWorkers

    if __name__ == "__main__":
        workers = ProcessWorkers(2)
        pids = {f.result() for f in [workers.submit(nap, 0.3) for _ in range(2)]}
        print(*pids, flush=True)
        workers.submit(nap, 60)
        time.sleep(60)
"""


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(ORPHANS))
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert pids
    parent.send_signal(signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()
    assert _soon(lambda: not any(_alive(pid) for pid in pids))


def _soon(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # one that is only to be reaped is dead
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5}, raising=False)
    assert core_count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert core_count() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert core_count() == 1
