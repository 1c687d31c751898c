"""Two sweeps on one store at the same time: no cell is lost, none is computed twice.

It looks inside to poll more often.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.store import Store, StoreError, Variable
from tacit.sweep import Grid, run_sweep
from tacit.sweep import _run as sweep_run

VARIABLES = {"error": Variable("error")}


class Baton:
    """Lets two threads take steps in a drawn order; who cannot be waited for is passed over."""

    def __init__(self, order):
        self.order = list(order)
        self.change = threading.Condition()

    def step(self, who):
        with self.change:
            self.change.wait_for(lambda: not self.order or self.order[0] == who, timeout=0.02)
            if self.order:
                self.order.pop(0)
            self.change.notify_all()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_interleavings_of_two_writers(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("store")
    seeds = data.draw(st.integers(1, 9))
    chunk = data.draw(st.integers(1, 4))
    baton = Baton(data.draw(st.lists(st.integers(0, 1), max_size=40)))
    poisoned = data.draw(st.sampled_from([None, None, 0]))
    computed, summaries, errors = [], [None, None], []
    # The second sweep may ask for more of the same grid, cut at the same places.
    grids = [
        Grid({"width": (40, 100)[:widths], "seed": tuple(range(seeds))}, batch_by=("width",),
             chunk={"seed": chunk})
        for widths in (2, data.draw(st.integers(1, 2)))
    ]  # fmt: skip

    def sweep(who):
        def cell(batch, fixed):
            baton.step(who)
            computed.extend((c["width"], c["seed"]) for c in batch.cells)
            if poisoned in batch.column("seed"):
                raise RuntimeError("no luck")
            baton.step(who)
            return {"error": batch.column("width") + batch.column("seed") / 7}

        try:
            store = Store(path, experiment="toy/two", version=1)
            summaries[who] = run_sweep(
                grids[who], {}, cell, store, variables=VARIABLES, retries=0,
                progress=lambda event: baton.step(who),
            )  # fmt: skip
            assert store.warnings == []
        except BaseException as error:
            errors.append(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_run, "_POLL_SECONDS", 0.002)
        threads = [threading.Thread(target=sweep, args=(who,)) for who in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert errors == []
    whole = Store(path, experiment="toy/two", version=1)
    assert whole.warnings == []
    good = [c for c in computed if c[1] != poisoned]
    if poisoned is None:
        assert len(good) == len(set(good)) == len(grids[0])  # each once, whoever computed it
        assert sum(summary.computed_cells for summary in summaries) == len(grids[0])
    stored = sum(len(whole.read(part, ["error"])["error"]) for part in whole.parts())
    assert stored == len(whole) == len(set(good))
    for grid in grids:
        dataset = whole.dataset(grid.axes, {}, VARIABLES, {})
        expected = np.add.outer(np.array(grid.axes["width"]), np.arange(seeds) / 7)
        found = dataset["present"].values
        assert (found == (np.arange(seeds) != poisoned)).all()
        np.testing.assert_array_equal(dataset["error"].values[found], expected[found])
    if poisoned is not None:
        assert {f.batch.cells[0]["seed"] for s in summaries for f in s.failed} == {poisoned}


CHILD = """
import os, sys, time
import numpy as np
from tacit.store import Store
from tacit.sweep import Grid, run_sweep

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def cell(batch, fixed):
    os.write(log, f"{os.getpid()} {batch.index}\\n".encode())
    time.sleep(0.02)
    return {"error": batch.column("seed") * 2.0}

grid = Grid({"seed": tuple(range(60))}, chunk={"seed": 2})
store = Store(sys.argv[1], experiment="toy/two", version=1)
summary = run_sweep(grid, {}, cell, store)
dataset = store.dataset(grid.axes, {}, {}, {})
assert dataset["present"].values.all()  # each ends with the whole
print(summary.computed_batches)
"""


def test_two_processes_share_a_grid(tmp_path):
    arguments = [sys.executable, "-c", CHILD, str(tmp_path / "store"), str(tmp_path / "log")]
    children = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(child.communicate(timeout=60)[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    lines = (tmp_path / "log").read_text().split("\n")[:-1]
    batches = [line.split()[1] for line in lines]
    assert sorted(batches, key=int) == [str(i) for i in range(30)]  # each batch once
    assert sum(counts) == 30
    assert len(Store(tmp_path / "store", experiment="toy/two", version=1).parts()) == 30


def test_a_store_in_use_is_not_moved_aside(tmp_path):
    store = Store(tmp_path / "store", experiment="toy/two", version=1)

    def cell(batch, fixed):
        with pytest.raises(StoreError, match="in use by another process"):
            Store.move_aside(store.path)
        return {"error": batch.column("seed") * 1.0}

    assert run_sweep(Grid({"seed": (0,)}), {}, cell, store).failed == []
    assert Store.move_aside(store.path) == tmp_path / "store.old-1"
