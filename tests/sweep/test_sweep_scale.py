"""Ten thousand cells: what sweep and store cost, and how much memory."""

import contextlib
import cProfile
import subprocess
import sys
from pathlib import Path

import numpy as np
import xarray

import tacit
from tacit.store import Plan, Store, Variable
from tacit.sweep import Grid, run_sweep

OURS = str(Path(tacit.__file__).parent)
MOST_CALLS = {"sweep": 260, "consolidate": 60, "again": 140}  # for a cell
FIXED = {name: 0.1 * number for number, name in enumerate("abcdefghij")} | {"method": "adam"}
VARIABLES = {
    "error": Variable("error"),
    "curve": Variable("a curve", "lag"),
    "outcome": Variable("outcome", dtype="str"),
}


def cell(batch, fixed):
    """Costs nothing, so that all the time is that of sweep and store."""
    count = len(batch)
    return {
        "error": batch.column("seed") * 1.0,
        "curve": np.ones((count, 60)),
        "outcome": np.full(count, "converged"),
    }


def _grid(seeds):
    axes = {"width": tuple(range(10)), "seed": tuple(range(seeds))}
    return Grid(axes, batch_by=("width",), chunk={"seed": 100})


def test_ten_thousand_cells_cost_little(tmp_path):
    """Counted in calls, not in seconds: a busy machine must not make this fail."""
    few, many = (_costs(tmp_path / str(seeds), _grid(seeds)) for seeds in (200, 1000))
    for name, calls in many.items():
        assert calls < 5.2 * few[name], (name, few, many)  # no more than in proportion
        assert calls < MOST_CALLS[name] * 10_000, many


def _costs(folder, grid):
    coords = {"lag": np.arange(60)}
    batches = len(grid) // 100
    store = Store(folder, experiment="toy/many", version=1)
    with _counted() as sweeping:
        summary = run_sweep(grid, FIXED, cell, store, variables=VARIABLES, coords=coords)
    assert (summary.computed_batches, summary.computed_cells) == (batches, len(grid))
    with _counted() as consolidating:
        path = store.consolidate(Plan(grid.axes, FIXED, VARIABLES, coords))

    opened = xarray.open_zarr(path).load()
    assert opened["present"].values.all()
    assert opened["error"].sel(width=3, seed=77) == 77.0

    with _counted() as resuming:
        resumed = Store(folder, experiment="toy/many", version=1)
        assert run_sweep(grid, FIXED, cell, resumed).skipped_batches == batches
    return {"sweep": sweeping[0], "consolidate": consolidating[0], "again": resuming[0]}


@contextlib.contextmanager
def _counted():
    """How often our own functions are called, and builtins by them."""
    calls, profile = [0], cProfile.Profile()
    with profile:
        yield calls
    for entry in profile.getstats():
        if not isinstance(entry.code, str) and entry.code.co_filename.startswith(OURS):
            calls[0] += entry.callcount
            calls[0] += sum(s.callcount for s in entry.calls or () if isinstance(s.code, str))


# 10,000 cells of 20 kB: 200 MB in all, 2 MB a batch.
MEMORY = """
import resource, sys
import numpy as np, xarray, zarr
from tacit.store import Plan, Store, Variable
from tacit.sweep import Grid, run_sweep

grid = Grid({"width": tuple(range(10)), "seed": tuple(range(1000))}, batch_by=("width",),
            chunk={"seed": 100})
variables = {"curve": Variable("a curve", "lag"), "good": Variable("good", dtype="bool")}
coords = {"lag": np.arange(2500)}
cell = lambda batch, fixed: {
    "curve": np.random.default_rng(batch.index).normal(size=(len(batch), 2500)),
    "good": np.ones(len(batch), dtype=bool),
}
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
warm = Store(sys.argv[1] + "/warm", experiment="toy/memory", version=1)
small = Grid({"width": (0,), "seed": tuple(range(300))}, chunk={"seed": 100})
run_sweep(small, {}, cell, warm, variables=variables, coords=coords)
warm.consolidate(Plan(small.axes, {}, variables, coords))
before = used()
store = Store(sys.argv[1] + "/store", experiment="toy/memory", version=1)
run_sweep(grid, {}, cell, store, variables=variables, coords=coords)
swept = used()
path = store.consolidate(Plan(grid.axes, {}, variables, coords))
print(swept - before, used() - swept, xarray.open_zarr(path)["good"].values.all())
"""


def test_memory_is_that_of_a_batch(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=True
    )
    sweeping, consolidating, whole = done.stdout.split()
    assert whole == "True"
    # In MB, beyond what a small run had needed; all the data would be 200.
    assert float(sweeping) < 30
    assert float(consolidating) < 100
