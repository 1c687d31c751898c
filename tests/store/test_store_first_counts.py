"""Which of several parts counts, what is accepted, counted and warned of, and parts of 0.2.0."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from tacit.store import Plan, Store, Variable
from tacit.store._errors import PartError
from tacit.store._old_part import OldPart

PLAN = Plan(
    axes={"seed": (0, 1, 2)},
    fixed={},
    variables={
        "error": Variable("error", "lag"),
        "outcome": Variable("how it ended", dtype="str"),
    },
    coords={"lag": np.arange(2)},
)
MADE = Path(__file__).with_name("store_of_0_2_0")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", experiment="toy/one", version=1)


def add(store, seeds, value, *, lags=2, outcome="converged"):
    cells = [{"seed": seed} for seed in seeds]
    arrays = {
        "error": np.full((len(cells), lags), value),
        "outcome": np.array([outcome] * len(cells)),
    }
    return store.add(cells, arrays, {})


def errors(store):
    found = store.dataset(PLAN.axes, PLAN.fixed, PLAN.variables, PLAN.coords)
    return found["error"].values[:, 0].tolist()


def reopened(store):
    return Store.existing(store.path)


def test_the_next_part_in_order_counts_after_the_first_is_set_aside(store):
    first = add(store, (0, 1), 1.0, lags=3)  # not what the plan declares
    second, third = add(store, (0, 1), 2.0), add(store, (0, 1, 2), 3.0)
    again = reopened(store)
    assert again.locate({"seed": 0}) == (first, 0)
    again.fit(PLAN)
    assert again.parts() == [second, third]
    assert again.locate({"seed": 1}) == (second, 1)
    assert again.locate({"seed": 2}) == (third, 2)
    assert errors(again) == [2.0, 2.0, 3.0]


def test_equal_values_are_no_others_be_they_no_numbers(store):
    add(store, (0, 1), np.nan)
    add(store, (0, 1), np.nan)
    assert store.warnings == []
    assert reopened(store).warnings == []
    add(store, (0,), 1.0)
    assert ["with other values" in words for words in store.warnings] == [True]


def test_who_is_accepted_stays_so(store):
    store.accept("mine", ["a"])
    store.accept("mine", ["b"])
    store.accept("yours", ["c"])
    assert store.accepted("mine") == {"a", "b"}
    assert store.accepted("yours") == {"c"}
    assert store.accepted("nobody") == frozenset()


def test_cells_that_are_not_asked_for_are_not_counted(store):
    add(store, (0, 2), 1.0)
    add(store, (1,), 1.0, outcome="stopped")
    whole = store.status(PLAN)
    assert (whole.cells, whole.done, whole.missing) == (3, 3, 0)
    assert whole.outcomes == {"converged": 2, "stopped": 1}
    part = Plan(PLAN.axes, PLAN.fixed, PLAN.variables, PLAN.coords, not_asked=frozenset({1}))
    found = store.status(part)
    assert (found.cells, found.done, found.missing) == (2, 2, 0)
    assert found.outcomes == {"converged": 2}
    empty = Store(store.path.with_name("empty"), experiment="toy/one", version=1)
    assert (empty.status(part).cells, empty.status(part).missing) == (2, 2)


@pytest.mark.parametrize(("hours", "there"), [(2, True), (23, True), (25, False)])
def test_a_temporary_file_stays_for_a_day(store, hours, there):
    path = store.path / "parts" / ".000001-x.safetensors.0123456789ab.tmp"
    path.write_bytes(b"half of a part")
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    reopened(store)
    assert path.exists() == there


def test_arrays_in_fortran_order_come_back_in_theirs(store):
    array = np.asfortranarray(np.arange(12.0).reshape(2, 3, 2))
    name = store.add([{"seed": 0}, {"seed": 1}], {"error": array}, {})
    np.testing.assert_array_equal(reopened(store).read(name, ["error"])["error"], array)


def test_a_part_of_0_2_0_in_fortran_order_is_read_so(tmp_path):
    shutil.copytree(MADE, tmp_path / "old")
    store = Store.existing(tmp_path / "old", read_only=True)
    assert store.warnings == []
    for name, power in zip(store.parts(), (1, 2), strict=True):
        assert name.endswith(".npz")
        burnt = store.read(name, ["burnt"])["burnt"]
        seeds, moments = np.arange(2.0)[:, None, None], np.arange(3.0)[:, None]
        np.testing.assert_array_equal(burnt, power + seeds / 8 + moments + [0, 0.25])


def test_no_damage_to_a_part_of_0_2_0_goes_unnoticed(tmp_path):
    shutil.copytree(MADE, tmp_path / "old")
    part = sorted((tmp_path / "old" / "parts").iterdir())[0]
    whole = part.read_bytes()
    for place in range(0, len(whole), 37):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        part.write_bytes(changed)
        looked = Store.existing(tmp_path / "old", read_only=True)
        assert [part.name in words for words in looked.warnings] == [True], place
        assert len(looked) == 2


def test_a_part_of_0_2_0_has_a_largest_size():
    path = sorted((MADE / "parts").iterdir())[0]
    size = path.stat().st_size
    with OldPart(path.open("rb"), most=size) as part:
        part.check()
        assert part.digest == path.read_bytes()[-64:].decode()
        assert set(part.metadata) == {"header", "cells", "provenance"}
    with pytest.raises(PartError, match="more than a part may have"):
        OldPart(path.open("rb"), most=size - 1)


def test_new_parts_are_numbered_behind_old_ones(tmp_path):
    shutil.copytree(MADE, tmp_path / "old")
    store = Store.existing(tmp_path / "old")
    name = store.add([{"seed": 7}], {"error": np.zeros(1)}, {})
    assert name.startswith("000003-")
    assert name.endswith(".safetensors")
    assert [part[:6] for part in store.parts()] == ["000001", "000002", "000003"]
    same = Store.existing(tmp_path / "old", read_only=True)
    assert same.digest(name) == store.digest(name)
    assert len({same.digest(part) for part in same.parts()}) == 3


def test_a_merge_takes_the_bytes_as_they_are(tmp_path):
    shutil.copytree(MADE, tmp_path / "old")
    mine = Store(tmp_path / "mine", experiment="mine/lamp", version=1)
    assert mine.merge(tmp_path / "old") == 2
    for name in mine.parts():
        assert name.endswith(".npz")
        taken = (tmp_path / "mine" / "parts" / name).read_bytes()
        assert taken == (MADE / "parts" / name).read_bytes()


def test_a_batch_that_is_too_large_for_a_part_is_a_sentence(store, monkeypatch):
    monkeypatch.setattr("tacit.store._part.MOST_BYTES", 2**26 + 100)
    with pytest.raises(ValueError, match=r"104 bytes is too large .* with `chunk`"):
        store.add([{"seed": 0}], {"error": np.zeros((1, 13))}, {})
    store.add([{"seed": 0}], {"error": np.zeros((1, 12))}, {})
    with pytest.raises(ValueError, match=r"too large for one part .* with `chunk`"):
        store.add([{"seed": "x" * 2**24}], {"error": np.zeros(1)}, {})
    monkeypatch.undo()
    cells = [{"seed": seed, "of": [{}] * 10} for seed in range(45_000)]
    with pytest.raises(ValueError, match=r"too large for one part .*too many lists"):
        store.add(cells, {"error": np.zeros(45_000)}, {})


def test_words_that_are_none_are_said_before_they_are_written(store):
    with pytest.raises(ValueError, match="has half a character in a text"):
        store.add([{"seed": 0}], {"word": np.array(["\udc80"])}, {})
    assert store.parts() == []
