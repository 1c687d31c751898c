"""Batches that raise: tried again, taken apart, and only the poisoned cells are lost."""

import errno
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from tacit.store import Store, Variable, WriteError
from tacit.sweep import Grid, WorkerDiedError, WorkersLostError, run_sweep

VARIABLES = {"error": Variable("error")}
GRID = Grid({"width": (40, 100), "seed": tuple(range(6))}, batch_by=("width",), chunk={"seed": 3})


def value(batch, fixed):
    return {"error": batch.column("width") + batch.column("seed") / 7}


class Flaky:
    """A cell that raises as it is told to, and remembers what it was given."""

    def __init__(self, fails):
        self.fails = fails
        self.calls = []

    def __call__(self, batch, fixed):
        self.calls.append((batch.index, tuple(int(s) for s in batch.column("seed"))))
        self.fails(batch, self.calls)
        return value(batch, fixed)


def poisoned(*seeds, width=40):
    def fails(batch, calls):
        if batch.one("width") == width and set(seeds) & set(batch.column("seed")):
            raise RuntimeError("no luck")

    return fails


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", experiment="toy/flaky", version=1)


def run(cell, store, **options):
    return run_sweep(GRID, {}, cell, store, variables=VARIABLES, **options)


def present(store):
    return store.dataset(GRID.axes, {}, VARIABLES, {})["present"].values


@pytest.mark.parametrize("declared", [VARIABLES, None])
def test_values_that_could_not_be_read_again_fail_their_batch(store, declared):
    def cell(batch, fixed):
        if batch.one("width") == 40:
            return {"error": np.ma.array(np.zeros(len(batch)), mask=True)}
        return value(batch, fixed)

    summary = run_sweep(GRID, {}, cell, store, variables=declared)
    assert (summary.computed_cells, summary.failed_batches) == (6, 2)
    assert "a MaskedArray, whose mask" in summary.failed[0].message


@pytest.mark.parametrize("executor", [None, "threads"])
def test_one_poisoned_cell_costs_itself_alone(store, executor):
    events = []
    cell = Flaky(poisoned(4))
    if executor is None:
        summary = run(cell, store, progress=events.append)
    else:
        with ThreadPoolExecutor(2) as threads:
            summary = run(cell, store, progress=events.append, executor=threads)
    assert [(f.batch.index, f.batch.cells) for f in summary.failed] == [
        (1, ({"width": 40, "seed": 4},))
    ]
    assert summary.failed[0].message == "RuntimeError: no luck"
    assert "in fails" in summary.failed[0].traceback
    assert (summary.computed_batches, summary.failed_batches, summary.computed_cells) == (3, 1, 11)
    calls = [seeds for index, seeds in cell.calls if index == 1]
    assert calls[:2] == [(3, 4, 5), (3, 4, 5)]
    assert sorted(calls[2:]) == [(3,), (4,), (5,)]  # two threads may take them in any order
    assert present(store).sum() == 11
    assert not present(store)[0, 4]
    retried = [event.message for event in events if event.kind == "retried"]
    assert retried == [
        "RuntimeError: no luck; it is tried again",
        "RuntimeError: no luck; its cells are tried one by one",
    ]
    assert [e.done for e in events if e.kind in ("computed", "failed")] == [1, 2, 3, 4]

    again = Store(store.path, experiment="toy/flaky", version=1)
    assert [record.message for record in again.failures().values()] == ["RuntimeError: no luck"]
    healed = Flaky(lambda batch, calls: None)
    assert run(healed, again).computed_cells == 1
    assert healed.calls == [(1, (4,))]
    assert present(again).all()
    assert again.failures() == {}


def test_what_fails_once_costs_a_second_try(store):
    def first_time(batch, calls):
        if calls.count(calls[-1]) == 1:
            raise OSError("the network was away")

    cell = Flaky(first_time)
    summary = run(cell, store)
    assert (summary.computed_batches, summary.retries, summary.failed) == (4, 4, [])
    assert len(cell.calls) == 8
    assert store.failure_names() == frozenset()


@pytest.mark.parametrize("retries", [0, 2])
def test_the_number_of_retries(store, retries):
    cell = Flaky(poisoned(0, 1, 2))
    summary = run(cell, store, retries=retries)
    assert cell.calls.count((0, (0, 1, 2))) == 1 + retries
    assert len(summary.failed) == 1  # one failure, of three cells that failed alike
    assert len(summary.failed[0].batch) == 3
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises(ValueError, match="retries: received"):
            run(cell, store, retries=wrong)


def test_cells_may_fail_each_in_its_own_way(store):
    def fails(batch, calls):
        for seed in batch.column("seed"):
            if batch.one("width") == 40 and seed in (0, 2):
                raise RuntimeError(f"no luck with {seed}")

    summary = run(Flaky(fails), store)
    assert [(f.batch.cells[0]["seed"], f.message) for f in summary.failed] == [
        (0, "RuntimeError: no luck with 0"),
        (2, "RuntimeError: no luck with 2"),
    ]
    assert summary.failed_batches == 1


def test_a_full_disk_ends_the_sweep_and_a_later_one_completes_it(store, monkeypatch):
    add, calls = Store.add, []

    def full(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise WriteError(self.path, OSError(errno.ENOSPC, "No space left on device"))
        return add(self, *arguments)

    monkeypatch.setattr(Store, "add", full)
    with pytest.raises(WriteError, match=r"No space left.*the same command goes on"):
        run(value, store)
    assert store.batches_at_work() == 0
    summary = run(value, Store(store.path, experiment="toy/flaky", version=1))
    assert (summary.skipped_batches, summary.computed_batches) == (2, 2)


class Ending(Executor):
    """Computes at once, until it breaks in one of the ways in which executors break."""

    def __init__(self, how):
        self.how = how
        self.count = 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        future = Future()
        if self.count <= 2:
            future.set_result(fn(*args, **kwargs))
        elif self.how == "refuses":
            raise RuntimeError("cannot schedule new futures after shutdown")
        elif self.how == "breaks":
            future.set_exception(BrokenProcessPool("a process died"))
        else:
            future.cancel()
            future.set_running_or_notify_cancel()
        return future


@pytest.mark.parametrize("how", ["refuses", "breaks", "cancels"])
def test_a_broken_executor_is_a_sentence_and_loses_nothing(store, how):
    with pytest.raises(WorkersLostError, match="what was computed is stored"):
        run(value, store, executor=Ending(how))
    assert store.batches_at_work() == 0
    assert run(value, store).skipped_batches == 2  # what came back before it broke
    assert present(store).all()


class Shared(ThreadPoolExecutor):
    """Like Dask: a batch that brings a worker down takes its neighbours with it."""

    slots = 2

    def __init__(self, killer):
        super().__init__(1)
        self.killer = killer
        self.waiting = []

    def submit(self, fn, batch):
        future = Future()
        self.waiting.append((fn, batch, future))
        super().submit(self._serve)
        return future

    def _serve(self):
        import time

        time.sleep(0.01)  # until a neighbour has come
        together, self.waiting = self.waiting[:2], self.waiting[2:]
        dies = any(self.killer(batch) for _, batch, _ in together)
        for fn, batch, future in together:
            if dies:
                future.set_exception(WorkerDiedError(blame=False))
            else:
                future.set_result(fn(batch))


def test_neighbours_of_a_killer_are_not_blamed(store):
    with Shared(lambda b: b.one("width") == 40 and 4 in b.column("seed")) as shared:
        summary = run(value, store, executor=shared)
    assert [f.batch.cells for f in summary.failed] == [({"width": 40, "seed": 4},)]
    assert "worker process ended" in summary.failed[0].message
    assert present(store).sum() == 11


def test_provenance_is_the_workers_own(store):
    summary = run(value, store)
    origin = store.provenance(summary.parts[0])
    assert origin["precision"] == "float64"
    assert origin["device"].startswith("cpu")
    assert origin["seconds"] >= 0
    assert np.isfinite(origin["seconds"])
