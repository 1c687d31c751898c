"""The sweep: only what is missing, whatever fails, wherever it runs."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from tacit.store import Store, Variable
from tacit.sweep import Grid, run_sweep

VARIABLES = {"error": Variable("error"), "worker": Variable("worker", dtype="int64")}
FIXED = {"steps": 3}


def cell(batch, fixed):
    """Cheap, and of the cell's own parameters only."""
    error = batch.column("width") * fixed["steps"] + batch.column("seed") / 7
    return {"error": error, "worker": np.full(len(batch), 1)}


class Counting:
    """Counts the batches and cells that were really computed."""

    def __init__(self, fail=lambda batch: None):
        self.batches = []
        self.fail = fail

    def __call__(self, batch, fixed):
        self.batches.append(batch)
        self.fail(batch)
        return cell(batch, fixed)

    @property
    def cells(self):
        return sum(len(batch) for batch in self.batches)


def grid(widths=(40, 100), seeds=7, chunk=3):
    axes = {"width": tuple(widths), "seed": tuple(range(seeds))}
    return Grid(axes, batch_by=("width",), chunk={"seed": chunk})


def make_store(path):
    return Store(path / "store", experiment="toy/sweep", version=1)


def result(store, the_grid, fixed=FIXED):
    return store.dataset(the_grid.axes, fixed, VARIABLES, {})


def run(the_grid, the_cell, store, **options):
    return run_sweep(the_grid, FIXED, the_cell, store, variables=VARIABLES, **options)


@pytest.fixture
def store(tmp_path):
    return make_store(tmp_path)


def test_everything_once_and_then_nothing(store, tmp_path):
    counting = Counting()
    summary = run(grid(), counting, store)
    assert (summary.computed_batches, summary.computed_cells) == (6, 14)
    assert len(summary.parts) == len(set(summary.parts)) == 6
    assert summary.failed == []
    expected = np.array([[40 * 3 + s / 7 for s in range(7)], [100 * 3 + s / 7 for s in range(7)]])
    np.testing.assert_array_equal(result(store, grid())["error"], expected)
    again = run(grid(), counting, make_store(tmp_path))
    assert (again.computed_batches, again.skipped_batches, again.parts) == (0, 6, [])
    assert counting.cells == 14


def test_extension_computes_only_the_missing_cells(store):
    run(grid(seeds=4), cell, store)
    more_seeds = Counting()
    run(grid(seeds=10), more_seeds, store)
    assert more_seeds.cells == 2 * 6
    assert {c["seed"] for b in more_seeds.batches for c in b.cells} == set(range(4, 10))
    another_width = Counting()
    summary = run(grid(widths=(40, 60), seeds=4), another_width, store)
    assert {c["width"] for b in another_width.batches for c in b.cells} == {60}
    assert (summary.skipped_batches, summary.computed_cells) == (2, 4)
    other_fixed = Counting()
    run_sweep(grid(seeds=2), {"steps": 4}, other_fixed, store, variables=VARIABLES)
    assert other_fixed.cells == 4
    everything = result(store, grid(widths=(40, 100), seeds=10))
    whole = make_store(store.path.parent / "whole")
    run(grid(seeds=10), cell, whole)
    assert everything.identical(result(whole, grid(seeds=10)))


def test_a_damaged_part_is_computed_again(store, tmp_path):
    parts = run(grid(), cell, store).parts
    before = result(store, grid())
    (store.path / "parts" / parts[2]).write_bytes(b"damaged")
    again, counting = make_store(tmp_path), Counting()
    run(grid(), counting, again)
    assert [b.index for b in counting.batches] == [2]
    assert parts[2] in again.warnings[0]
    assert result(again, grid()).identical(before)


def test_a_failing_batch_does_not_stop_the_others(store):
    def poison(batch):
        if batch.index in (1, 4):
            raise RuntimeError(f"no luck with {batch.index}")

    events = []
    counting = Counting(poison)
    summary = run(grid(), counting, store, progress=events.append)
    assert [failure.batch.index for failure in summary.failed] == [1, 4]
    assert summary.failed[0].message == "RuntimeError: no luck with 1"
    assert "in poison" in summary.failed[0].traceback
    assert summary.computed_batches == 4
    assert result(store, grid())["present"].values.sum() == 14 - 6
    assert [e.message for e in events if e.kind == "failed"][1] == "RuntimeError: no luck with 4"
    counting.fail = lambda batch: None
    assert run(grid(), counting, store).computed_batches == 2
    assert result(store, grid())["present"].values.all()


def test_progress_counts_up_to_all_batches(store):
    events = []
    run(grid(seeds=3), cell, store)
    run(grid(), cell, store, progress=events.append)
    over = [event for event in events if event.kind != "started"]
    assert [event.done for event in over] == list(range(1, 7))
    assert {event.total for event in events} == {6}
    assert [event.kind for event in over].count("skipped") == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda b, f: {"error": np.zeros(len(b))}, r"lack \['worker'\]"),
        (lambda b, f: cell(b, f) | {"loss": np.zeros(len(b))}, r"undeclared \['loss'\]"),
        (lambda b, f: cell(b, f) | {"error": np.zeros(99)}, r"shape \(99,\)"),
        (lambda b, f: cell(b, f) | {"error": ["x"] * len(b)}, "declared is float64"),
    ],
)
def test_arrays_are_checked_against_what_was_declared(store, wrong, words):
    summary = run(grid(seeds=3), wrong, store)
    assert len(summary.failed) == 2
    with pytest.raises(ValueError, match=words):
        raise ValueError(summary.failed[0].message)
    assert store.parts() == []


def test_interruption_keeps_what_was_stored(store, tmp_path):
    def interrupt(batch):
        if batch.index == 3:
            raise KeyboardInterrupt

    counting = Counting(interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(grid(), counting, store)
    counting.fail = lambda batch: None
    summary = run(grid(), counting, make_store(tmp_path))
    assert (summary.skipped_batches, summary.computed_batches) == (3, 3)
    assert len(counting.batches) == 6 + 1


def test_threads_give_the_same_dataset(store, tmp_path):
    run(grid(), cell, store)
    other = make_store(tmp_path / "threads")
    with ThreadPoolExecutor(4) as executor:
        summary = run(grid(), cell, other, executor=executor)
    assert summary.computed_batches == 6
    assert result(other, grid()).identical(result(store, grid()))


def test_an_executor_keeps_failures_and_cancels_on_interruption(store):
    def poison(batch):
        if batch.index == 1:
            raise RuntimeError("no luck")

    with ThreadPoolExecutor(2) as executor:
        summary = run(grid(), Counting(poison), store, executor=executor)
    assert [(f.batch.index, f.message) for f in summary.failed] == [(1, "RuntimeError: no luck")]
    assert summary.computed_batches == 5

    gate = threading.Event()
    started = Counting(lambda batch: gate.wait(10))

    def interrupt(event):
        if event.kind == "started" and event.batch.index == 1:
            gate.set()
            raise KeyboardInterrupt

    elsewhere = make_store(store.path.parent / "interrupted")
    with ThreadPoolExecutor(1) as executor, pytest.raises(KeyboardInterrupt):
        run(grid(), started, elsewhere, executor=executor, progress=interrupt)
    assert len(started.batches) == 1  # those that had not begun were cancelled
    assert elsewhere.batches_at_work() == 0


def own_process(batch, fixed):
    return cell(batch, fixed) | {"worker": np.full(len(batch), os.getpid())}


def test_a_pool_of_processes(store):
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        summary = run(grid(widths=(40,), seeds=3), own_process, store, executor=executor)
    assert summary.failed == []
    assert summary.computed_batches == 1
    assert os.getpid() not in result(store, grid(widths=(40,), seeds=3))["worker"].values


def test_two_sweeps_on_one_store_share_the_work(store, tmp_path):
    # The other process's parts appear while this one runs: they are not computed again.
    other = make_store(tmp_path)

    def meanwhile(event):
        if event.kind == "computed" and event.batch.index == 1:
            run(grid(widths=(100,)), cell, other)

    counting = Counting()
    summary = run(grid(), counting, store, progress=meanwhile)
    assert (summary.computed_batches, summary.skipped_batches) == (3, 3)
    assert result(store, grid())["present"].values.all()


def test_a_batch_finds_what_it_left_behind_and_the_folder_goes_when_it_is_stored(store):
    found = []

    def leave(batch):
        found.append((batch.scratch / "checkpoint").exists())
        batch.scratch.mkdir(parents=True, exist_ok=True)
        (batch.scratch / "checkpoint").write_text("half-way")
        if len(found) == 1:
            raise KeyboardInterrupt

    only = grid(widths=(40,), seeds=2)
    with pytest.raises(KeyboardInterrupt):
        run(only, Counting(leave), store)
    found.clear()
    with pytest.raises(KeyboardInterrupt):
        run(only, Counting(leave), store, code="other")
    run(only, Counting(leave), store)
    assert found == [False, True]
    assert not (store.path / "scratch").exists()
