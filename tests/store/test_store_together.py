"""Several at one store: reservations, failure records, plans, status, stale files, merging.

It looks inside to make reservations fail as file systems do.
"""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tacit._files import remove_stale, replaced_when_complete, temporary_folder
from tacit.store import Plan, Store, StoreError, Variable, WriteError, stores_in
from tacit.store import _reservation as reservation

PLAN = Plan(
    {"width": (40, 100), "seed": (0, 1, 2)},
    {"steps": 3, "scale": 1.0, "most": float("inf"), "lags": (1, 2)},
    {"error": Variable("error"), "outcome": Variable("outcome", dtype="str")},
    {"lag": np.arange(3, dtype=np.int32)},
    {"width": {"units": "1"}},
    "quick",
)
CELLS = [{**PLAN.fixed, **cell} for cell in PLAN.cells()]


def make(path, version=1):
    return Store(path, experiment="toy/one", version=version)


def add(store, cells, outcome="converged", error=1.0):
    arrays = {"error": np.full(len(cells), error), "outcome": np.full(len(cells), outcome)}
    return store.add(cells, arrays, {})


@pytest.fixture
def store(tmp_path):
    return make(tmp_path / "store")


def test_a_reservation_is_one_processes_until_it_is_released(store):
    other = make(store.path)
    mine = store.reserve(store.keys_of(CELLS[:2]))
    assert other.reserve(store.keys_of(CELLS[:2])) is None
    assert other.reserved_by(store.keys_of(CELLS[:2])) == str(os.getpid())
    theirs = other.reserve(store.keys_of(CELLS[2:]))
    assert (mine is None, theirs is None) == (False, False)
    assert store.batches_at_work() == 2
    mine.release()
    mine.release()
    assert store.batches_at_work() == 1
    with other.reserve(store.keys_of(CELLS[:2])) as again:
        assert again is not None
    theirs.release()
    assert os.listdir(store.path / "reserved") == []


def test_a_part_is_numbered_above_those_of_others(store):
    mine = [add(store, CELLS[:1]), add(store, CELLS[1:2])]
    other = make(store.path)
    theirs = add(other, CELLS[2:3])
    os.utime(store.path / "parts", ns=(0, time.time_ns()))  # a clock of coarse ticks may hide it
    mine.append(add(store, CELLS[3:4]))
    numbers = [int(name.partition("-")[0]) for name in (*mine[:2], theirs, mine[2])]
    assert numbers == [1, 2, 3, 4]


def test_adding_a_part_does_not_list_the_others(store, monkeypatch):
    add(store, CELLS[:1])
    looked = []
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda *args: looked.append(args) or listdir(*args))
    names = [add(store, CELLS[i : i + 1]) for i in (1, 2, 3)]
    assert [name[:6] for name in names] == ["000002", "000003", "000004"]
    assert not looked


@pytest.mark.parametrize("forks", [False, True], ids=["alone", "with a forked child"])
def test_a_killed_process_leaves_no_reservation(store, forks):
    code = f"""
import os, time
from tacit.store import Store
store = Store({str(store.path)!r}, experiment="toy/one", version=1)
held = store.reserve(["abc"]), store.at_work()
word = b"forked\\n" if {forks} and os.fork() == 0 else b"held\\n"
os.write(1, word)
time.sleep(60)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        lines = {child.stdout.readline() for _ in range(1 + forks)}
        assert lines == {"held\n", "forked\n"} if forks else {"held\n"}
        assert store.reserve(["abc"]) is None
        assert store.reserved_by(["abc"]) == str(child.pid)
        with pytest.raises(StoreError, match="in use by another process: stop it or wait"):
            Store.move_aside(store.path)
        child.send_signal(signal.SIGKILL)
        child.wait(10)
        child.stdout.close()
        assert store.batches_at_work() == 0
        assert len(os.listdir(store.path / "reserved")) == 1  # looking removes nothing
        assert Store.existing(store.path).identity == store.identity
        assert os.listdir(store.path / "reserved") == []  # the next writer does
        assert Store.move_aside(store.path) is not None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def test_where_there_are_no_locks_everybody_may_go_ahead(store, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(reservation.fcntl, "flock", unsupported)
    assert store.reserve(store.keys_of(CELLS)) is not None
    assert store.reserve(store.keys_of(CELLS)) is not None
    monkeypatch.setattr(reservation, "fcntl", None)
    assert store.reserve(store.keys_of(CELLS)) is not None
    store.at_work().release()


def test_a_store_at_work_is_not_moved_on_nfs_either(tmp_path, monkeypatch):
    """There a lock that is held alone needs a file that is open for writing."""
    own = reservation.fcntl.flock

    def of_nfs(handle, operation):
        mode = reservation.fcntl.fcntl(handle, reservation.fcntl.F_GETFL) & os.O_ACCMODE
        if operation & reservation.fcntl.LOCK_EX and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        own(handle, operation)

    monkeypatch.setattr(reservation.fcntl, "flock", of_nfs)
    store = Store(tmp_path / "store", experiment="toy/one", version=1)
    with store.at_work(), pytest.raises(StoreError, match="in use by another process"):
        Store.move_aside(store.path)
    (store.path / "store.json").chmod(0o444)
    assert Store.move_aside(store.path) is not None


def test_failures_are_kept_until_a_part_holds_the_cell(store):
    store.add_failure(CELLS[:2], "RuntimeError: first", "Traceback one")
    old = store.failure_names()
    store.add_failure(CELLS[1:3], "RuntimeError: second", "Traceback two")
    again = make(store.path)
    keys = [again.identity.key(cell) for cell in CELLS]
    assert {keys.index(key): record.message for key, record in again.failures().items()} == {
        0: "RuntimeError: first",
        1: "RuntimeError: second",
        2: "RuntimeError: second",
    }
    assert len(again.failures(but=old)) == 2
    add(again, CELLS[1:2])
    assert {keys.index(key) for key in again.failures()} == {0, 2}
    assert again.failures()[keys[0]].traceback == "Traceback one"


def test_a_damaged_record_of_a_failure_is_set_aside(store):
    name = store.add_failure(CELLS[:1], "RuntimeError", "")
    (store.path / "failures" / name).write_text("{")
    foreign = store.add_failure(CELLS[1:2], "RuntimeError", "")
    record = json.loads((store.path / "failures" / foreign).read_text())
    (store.path / "failures" / foreign).write_text(json.dumps(record | {"version": 2}))
    again = make(store.path)
    assert again.failures() == {}
    assert [name in again.warnings[0], foreign in again.warnings[1]] == [True, True]
    assert len(os.listdir(store.path / "failures" / "aside")) == 2


def test_a_plan_comes_back_as_it_was(store):
    assert store.plan() is None
    store.keep_plan(PLAN)
    before = os.stat(store.path / "plan.json").st_ino
    store.keep_plan(PLAN)
    assert os.stat(store.path / "plan.json").st_ino == before
    plan = make(store.path).plan()
    assert (plan.axes, plan.variables, plan.name) == (PLAN.axes, PLAN.variables, "quick")
    assert plan.fixed == {"steps": 3, "scale": 1.0, "most": float("inf"), "lags": [1, 2]}
    assert type(plan.fixed["scale"]) is float
    assert plan.coords["lag"].dtype == np.int32
    assert [store.identity.key({**plan.fixed, **cell}) for cell in plan.cells()] == [
        store.identity.key(cell) for cell in CELLS
    ]
    for damaged in (b"{", b"[]", b'{"axes": 3}'):
        (store.path / "plan.json").write_bytes(damaged)
        again = make(store.path)
        assert again.plan() is None
        assert "plan.json is not readable" in again.warnings[0]


def test_status_counts_cells(store):
    add(store, CELLS[:2])
    add(store, CELLS[2:3], outcome="diverged")
    store.add_failure(CELLS[2:4], "RuntimeError: no luck", "")
    held = store.reserve(store.keys_of(CELLS[4:]))
    status = store.status(PLAN)
    assert (status.cells, status.done, status.missing, len(status.failed)) == (6, 3, 2, 1)
    assert status.outcomes == {"converged": 2, "diverged": 1}
    assert status.failed[0].cell == {"width": 100, "seed": 0}
    assert status.failed[0].message == "RuntimeError: no luck"
    assert status.batches_at_work == 1
    assert status.to_dict()["diverged"] == 1
    held.release()


def test_stale_temporary_files_go_and_fresh_ones_stay(store):
    add(store, CELLS[:1])
    old, new = (store.path / "parts" / f".x.{n}123456789ab.tmp" for n in (1, 2))
    folder = store.path / ".results.zarr.0123456789ab.tmp"
    for path in (old, new):
        path.write_bytes(b"half of a part")
    (folder / "error").mkdir(parents=True)
    (folder / "error" / "0").write_bytes(b"")
    kept, mine = store.path / "parts" / "notes.txt", store.path / "parts" / ".mynotes.tmp"
    kept.write_text("not a temporary file")
    mine.write_text("a temporary file of somebody else")
    yesterday = time.time() - 25 * 3600
    for path in (old, folder, kept, mine):
        os.utime(path, (yesterday, yesterday))
    again = make(store.path)
    assert [p.exists() for p in (old, folder, new, kept, mine)] == [False, False, True, True, True]
    assert len(again) == 1
    assert again.warnings == []


def test_what_a_living_process_writes_stays_however_its_clock_stands(store, monkeypatch):
    later = time.time() + 3 * 24 * 3600
    with replaced_when_complete(store.path / "parts" / "x") as file:
        file.write(b"half of a part")
        with temporary_folder(store.path / "results.zarr") as folder:
            (folder / "error").write_bytes(b"")
            monkeypatch.setattr("time.time", lambda: later)
            make(store.path)
            assert (folder / "error").is_file()
        assert not folder.exists()
    assert (store.path / "parts" / "x").read_bytes() == b"half of a part"


def test_a_folder_of_the_users_is_not_swept(tmp_path):
    mine, ours = (tmp_path / f".{n}.0123456789ab.tmp" for n in ("notes", "index.html"))
    yesterday = time.time() - 25 * 3600
    for path in (mine, ours):
        path.write_text("half of it")
        os.utime(path, (yesterday, yesterday))
    remove_stale(tmp_path, of="index.html")
    assert (mine.exists(), ours.exists()) == (True, False)


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refused)
    with pytest.raises(WriteError, match=r"Permission denied.*make the folder writable"):
        make(tmp_path / "store")


def test_existing_stores_are_found(store, tmp_path):
    with pytest.raises(StoreError, match=r"no store\.json"):
        Store.existing(tmp_path)
    assert Store.existing(store.path).identity == store.identity
    make(tmp_path / "a" / "b" / "store")
    Store.move_aside(tmp_path / "a" / "b" / "store")
    make(tmp_path / "a" / "b" / "store", version=2)
    (tmp_path / "a" / "c").mkdir()
    assert stores_in(store.path) == [store.path]
    assert stores_in(tmp_path) == [tmp_path / "a" / "b" / "store", store.path]
    assert stores_in(tmp_path / "a" / "c") == stores_in(tmp_path / "nothing") == []
    (tmp_path / "a" / "b" / "store" / "store.json").write_text('{"experiment": 3}')
    with pytest.raises(StoreError, match="not one of tacit's"):
        Store.existing(tmp_path / "a" / "b" / "store")


def test_merging_tells_of_other_values_and_refuses_what_does_not_fit(store, tmp_path):
    add(store, CELLS[:3])
    other = make(tmp_path / "other")
    add(other, CELLS[:2], error=2.0)
    add(other, CELLS[2:5])
    assert store.merge(other) == 1
    assert sum("with other values" in warning for warning in store.warnings) == 1
    assert len(store) == 5
    assert store.read(store.parts()[0], ["error"])["error"].tolist() == [1.0] * 3
    with pytest.raises(StoreError, match="is the store to merge into"):
        store.merge(store.path)
    newer = make(tmp_path / "newer", version=2)
    with pytest.raises(StoreError, match=r"version 2 \(there: 1\)"):
        store.merge(newer)


def test_a_store_that_may_only_be_read_passes_bad_parts_over(store, monkeypatch):
    name = add(store, CELLS[:1])
    (store.path / "parts" / name).write_bytes(b"damaged")

    def refused(*_, **__):
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.rename", refused)
    again = make(store.path)
    again.refresh()
    assert len(again.warnings) == 1
    assert "passed over: Read-only" in again.warnings[0]
    assert len(again) == 0


def test_a_part_is_not_set_aside_for_what_fails_once(store, monkeypatch):
    """Threads share Python's parser, which reads parts of 0.2.0, and its filters of warnings."""
    made = Path(__file__).with_name("store_of_0_2_0")
    name = sorted(os.listdir(made / "parts"))[0]
    shutil.copytree(made, store.path, dirs_exist_ok=True)
    os.remove(store.path / "parts" / sorted(os.listdir(made / "parts"))[1])
    read, calls = np.lib.format.read_magic, []

    def first_fails(head):
        calls.append(head)
        if len(calls) == 1:
            raise SystemError("AST constructor recursion depth mismatch")
        return read(head)

    monkeypatch.setattr(np.lib.format, "read_magic", first_fails)
    other = Store.existing(store.path)
    assert other.parts() == [name]
    assert other.warnings == []
    assert len(calls) > 1
