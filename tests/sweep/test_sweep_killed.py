"""A sweep killed with SIGKILL at random moments, resumed, equals one that was left in peace."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from tacit.store import Plan, Store, Variable
from tacit.sweep import Grid, run_sweep

KILLS = 20
BATCHES, CHUNK = 60, 5
GRID = Grid({"width": (40, 100), "seed": tuple(range(BATCHES * CHUNK // 2))},
            batch_by=("width",), chunk={"seed": CHUNK})  # fmt: skip
VARIABLES = {
    "error": Variable("error"),
    "curve": Variable("a curve", "lag"),
    "outcome": Variable("outcome", dtype="str"),
}
COORDS = {"lag": np.arange(50)}
PLAN = Plan(GRID.axes, {"steps": 3}, VARIABLES, COORDS)


def cell(batch, fixed):
    """A few milliseconds, and of the cell's own parameters only; each call leaves a line."""
    with open(os.environ["TACIT_TEST_LOG"], "ab", buffering=0) as log:
        log.write(f"{batch.index}\n".encode())
    time.sleep(0.004)
    curves = [np.random.default_rng([c["width"], c["seed"]]).normal(size=50) for c in batch.cells]
    return {
        "error": np.array([np.abs(curve).max() for curve in curves]),
        "curve": np.array(curves),
        "outcome": np.where(batch.column("seed") % 7 == 0, "diverged", "converged"),
    }


# Python loads once; every line that comes in starts a run in a process of its own.
CHILD = """
    import os, sys
    from test_sweep_killed import COORDS, GRID, PLAN, VARIABLES, cell
    from tacit.store import Store
    from tacit.sweep import ProcessWorkers, run_sweep

    def run():
        store = Store(sys.argv[1], experiment="toy/killed", version=1)
        workers = int(sys.argv[2])
        executor = ProcessWorkers(workers) if workers else None
        print("begun", os.getpid(), flush=True)
        run_sweep(GRID, {"steps": 3}, cell, store, variables=VARIABLES, coords=COORDS,
                  executor=executor)
        store.consolidate(PLAN)
        if executor is not None:
            executor.shutdown()
        print("done", flush=True)

    if __name__ == "__main__":
        import xarray, zarr
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                run()
                os._exit(0)
            os.waitpid(child, 0)
            print("ended", flush=True)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The dataset of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_TEST_LOG", str(folder / "log"))
        store = Store(folder / "store", experiment="toy/killed", version=1)
        run_sweep(GRID, {"steps": 3}, cell, store, variables=VARIABLES, coords=COORDS)
    return store.dataset(GRID.axes, {"steps": 3}, VARIABLES, COORDS)


def lines(log):
    """How many batches have been begun."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def alive(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


class Server:
    """The process that starts runs, one after another."""

    def __init__(self, script, path, workers):
        folders = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(path), str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": folders},
        )

    def start(self):
        """Start a run, and return its process when it begins."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        begun, pid = self.process.stdout.readline().split()
        assert begun == "begun"
        return int(pid)

    def done(self):
        """Wait for the run's end, and return whether it came there by itself."""
        said = self.process.stdout.readline()
        if said == "done\n":
            assert self.process.stdout.readline() == "ended\n"
        else:
            assert said == "ended\n"
        return said == "done\n"

    def close(self):
        self.process.communicate(timeout=20)


@pytest.mark.parametrize(("workers", "kills"), [(0, KILLS), (2, 4)], ids=["here", "processes"])
def test_killed_at_random_moments(tmp_path, monkeypatch, whole, workers, kills):
    import xarray

    rng = random.Random(20 + workers)
    script, path, log = tmp_path / "child.py", tmp_path / "store", tmp_path / "log"
    script.write_text(textwrap.dedent(CHILD))
    monkeypatch.setenv("TACIT_TEST_LOG", str(log))
    server, killed = Server(script, path, workers), 0
    for _ in range(kills):
        child = server.start()
        # Within its share of the batches, so that most kills find it at work.
        wanted = lines(log) + rng.randint(0, int(0.8 * BATCHES / kills))
        while lines(log) < wanted and alive(child):
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.007))
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.kill(child, signal.SIGKILL)
        killed += not server.done()
    server.start()
    assert server.done()
    server.close()

    store = Store(path, experiment="toy/killed", version=1)
    assert store.warnings == []
    assert store.dataset(GRID.axes, {"steps": 3}, VARIABLES, COORDS).identical(whole)
    assert xarray.open_zarr(path / "results.zarr").load().equals(whole)
    # Only the batches in flight ran twice: one a kill here, as many as are handed out in a pool.
    computed = [int(line) for line in log.read_text().split()]
    assert set(computed) == set(range(GRID.batch_count()))
    assert killed >= kills // 2  # the others came after its end
    assert len(computed) - GRID.batch_count() <= killed * max(1, 2 * workers)
    assert len(store.parts()) == GRID.batch_count()
