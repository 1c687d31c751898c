"""A local Dask cluster that loses a worker in the middle of a sweep."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

from tacit.store import Store, Variable
from tacit.sweep import Grid, run_sweep

GRID = Grid({"seed": tuple(range(32))}, chunk={"seed": 2})
VARIABLES = {"error": Variable("error"), "worker": Variable("worker", dtype="int64")}


def cell(batch, fixed):
    time.sleep(0.1)
    if fixed["poisoned"] in batch.column("seed"):
        raise RuntimeError("no luck")
    return {"error": np.sqrt(batch.column("seed")), "worker": np.full(len(batch), os.getpid())}


CHILD = """
    import json, os, signal, sys
    from test_sweep_dask import GRID, VARIABLES, cell
    from tacit.store import Store
    from tacit.sweep import dask_workers, run_sweep

    if __name__ == "__main__":
        store = Store(sys.argv[1], experiment="toy/dask", version=1)
        killed = []

        def kill_one(event):
            if event.kind == "computed" and event.done == 4:
                (pid,) = set(store.read(store.parts()[-1], ["worker"])["worker"].tolist())
                assert pid != os.getpid()
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        with dask_workers("local", workers=2) as executor:
            slots = executor.slots
            summary = run_sweep(GRID, {"poisoned": 21}, cell, store, variables=VARIABLES,
                                executor=executor, progress=kill_one)
        print(json.dumps({
            "slots": slots,
            "killed": len(killed),
            "computed": summary.computed_cells,
            "failed": [[dict(c) for c in f.batch.cells] + [f.message] for f in summary.failed],
        }))
"""


def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    script = tmp_path / "child.py"
    script.write_text(textwrap.dedent(CHILD))
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (
        '{"slots": 2, "killed": 1, "computed": 31, '
        '"failed": [[{"seed": 21}, "RuntimeError: no luck"]]}'
    ), done.stderr

    whole = Store(tmp_path / "whole", experiment="toy/dask", version=1)
    run_sweep(GRID, {"poisoned": 21}, cell, whole, variables=VARIABLES, retries=0)
    there = Store(tmp_path / "store", experiment="toy/dask", version=1)
    assert there.warnings == []
    found, expected = (
        s.dataset(GRID.axes, {"poisoned": 21}, {"error": Variable("error")}, {})
        for s in (there, whole)
    )
    assert found.identical(expected)
    assert int(found["present"].sum()) == 31
