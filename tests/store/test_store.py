"""The store: round trips, parts that are whole or absent, what is refused and set aside.

It looks inside to make a disk full.
"""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import _files as files
from tacit.store import Store, StoreError, Variable, provenance, rounding

ORIGIN = provenance({"steps": 3}, seconds=0.5, device="cpu: test", precision="float64")
VARIABLES = {
    "error": Variable("error"),
    "curve": Variable("a curve", "horizon", units="m", dtype="float32"),
    "count": Variable("a count", dtype="int64"),
    "outcome": Variable("how it ended", dtype="str"),
}
COORDS = {"horizon": (10, 20, 40)}


def arrays_for(cells):
    """Arrays that can be told from each other by the cell's own numbers."""
    base = np.array([7.0 * cell["seed"] + cell["width"] for cell in cells])
    return {
        "error": base,
        "curve": (base[:, None] + np.arange(3)).astype(np.float32),
        "count": base.astype(np.int64),
        "outcome": np.array(["converged" if cell["seed"] % 2 else "stopped" for cell in cells]),
    }


def cells_of(widths, seeds):
    return [{"width": w, "seed": s, "steps": 3} for w, s in itertools.product(widths, seeds)]


def dataset(store, widths, seeds):
    axes = {"width": tuple(widths), "seed": tuple(seeds)}
    return store.dataset(axes, {"steps": 3}, VARIABLES, COORDS)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", experiment="toy/one", version=1)


def reopened(store):
    return Store(store.path, experiment="toy/one", version=1)


def add(store, widths, seeds):
    cells = cells_of(widths, seeds)
    return store.add(cells, arrays_for(cells), ORIGIN)


def test_what_goes_in_comes_out(store):
    add(store, [40], range(3))
    add(store, [100], range(3))
    result = dataset(reopened(store), [40, 100], range(3))
    expected = arrays_for(cells_of([40, 100], range(3)))
    assert result["error"].dims == ("width", "seed")
    assert result["curve"].dims == ("width", "seed", "horizon")
    for name, array in expected.items():
        assert result[name].dtype == array.dtype
        np.testing.assert_array_equal(result[name].values.reshape(array.shape), array)
    assert result["present"].values.all()
    assert result["curve"].attrs == {"units": "m", "long_name": "a curve"}
    assert result.attrs == {"experiment": "toy/one", "version": 1, "steps": 3}
    assert list(result["horizon"].values) == [10, 20, 40]
    assert result.sel(width=100, seed=2)["error"] == 114.0


def test_missing_cells_are_filled_and_marked(store):
    add(store, [40], [1])
    result = dataset(store, [40], [0, 1])
    assert result["present"].values.tolist() == [[False, True]]
    assert np.isnan(result["error"].values[0, 0])
    assert np.isnan(result["curve"].values[0, 0]).all()
    assert result["count"].values[0, 0] == -1
    assert result["outcome"].values.tolist() == [["", "converged"]]


def test_a_grid_may_ask_for_less_than_is_there_in_any_order(store):
    add(store, [40, 100], range(5))
    result = dataset(store, [100], [4, 2])
    assert result["error"].values.tolist() == [[128.0, 114.0]]


def test_missing_and_keys(store):
    add(store, [40], [0, 2])
    assert store.missing(cells_of([40], range(4))) == [1, 3]
    assert len(store) == len(store.keys()) == 2
    assert reopened(store).keys() == store.keys()


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_random_grids_round_trip(tmp_path_factory, data):
    widths = data.draw(st.lists(st.integers(1, 50), unique=True, min_size=1, max_size=4))
    seeds = data.draw(st.lists(st.integers(0, 50), unique=True, min_size=1, max_size=4))
    cells = data.draw(st.permutations(cells_of(widths, seeds)))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(cells)), max_size=3)) | {0, len(cells)})
    dropped = data.draw(st.booleans())
    # Two writers, one of which has not seen the other's parts.
    path = tmp_path_factory.mktemp("store")
    writers = [Store(path, experiment="toy/one", version=1) for _ in range(2)]
    pieces = [cells[a:b] for a, b in itertools.pairwise(cuts)][int(dropped) :]
    for piece in pieces:
        for writer in data.draw(st.sampled_from([writers[:1], writers[1:], writers])):
            writer.add(piece, arrays_for(piece), ORIGIN)
    stored = [cell for piece in pieces for cell in piece]

    result = dataset(Store(path, experiment="toy/one", version=1), widths, seeds)
    assert int(result["present"].sum()) == len(stored)
    for cell in stored:
        point = result.sel(width=cell["width"], seed=cell["seed"])
        for name, array in arrays_for([cell]).items():
            np.testing.assert_array_equal(point[name].values, array[0])
    for writer in writers:
        writer.refresh()
        assert writer.keys() == {writer.identity.key(cell) for cell in stored}
        assert writer.warnings == []


def test_a_crash_before_the_rename_leaves_no_part(store, monkeypatch):
    add(store, [40], [0])

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    # As after a SIGKILL: neither the rename nor the tidying up happens.
    monkeypatch.setattr(Path, "replace", killed)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    with pytest.raises(Killed):
        add(store, [40], [1])
    monkeypatch.undo()
    left = [name for name in os.listdir(store.path / "parts") if name.endswith(".tmp")]
    assert len(left) == 1  # the whole data were written under the temporary name
    again = reopened(store)
    assert len(again) == 1
    assert again.warnings == []
    assert again.missing(cells_of([40], [0, 1])) == [1]


def test_a_full_disk_leaves_nothing_behind(store, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        add(store, [40], [1])
    monkeypatch.undo()
    assert os.listdir(store.path / "parts") == []
    add(store, [40], [1])
    assert len(reopened(store)) == 1


def test_the_file_is_synced_before_the_rename_and_the_folder_after(store, monkeypatch):
    calls = []
    sync, rename = os.fsync, Path.replace

    def fsync(handle):
        calls.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        sync(handle)

    def replace(self, target):
        calls.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    add(store, [40], [1])
    assert calls == ["file", "rename", "folder"]


def break_by_truncation(path):
    path.write_bytes(path.read_bytes()[:-40])


def break_by_a_flipped_bit(path):
    data = bytearray(path.read_bytes())
    at = data.find(np.float64(7.0 * 1 + 40).tobytes())
    assert at > 0
    data[at] ^= 1
    path.write_bytes(bytes(data))


def break_by_emptying(path):
    path.write_bytes(b"")


def break_by_text(path):
    path.write_text("not an archive")


def break_by_foreign_archive(path):
    with path.open("wb") as file:
        np.savez(file, error=np.zeros(2))


def break_by_pickle(path):
    with path.open("wb") as file:
        np.savez(file, error=np.array([{"a": 1}], dtype=object))


def break_by_folder(path):
    path.unlink()
    path.mkdir()


def break_by_another_version(path):
    other = Store(path.parents[2] / "other", experiment="toy/one", version=2)
    name = add(other, [40], [0, 1])
    path.write_bytes((other.path / "parts" / name).read_bytes())


@pytest.mark.parametrize(
    "breaks",
    [
        break_by_truncation,
        break_by_a_flipped_bit,
        break_by_emptying,
        break_by_text,
        break_by_foreign_archive,
        break_by_pickle,
        break_by_folder,
        break_by_another_version,
    ],
)
def test_a_bad_part_is_named_set_aside_and_missing(store, breaks):
    good, bad = add(store, [100], [0, 1]), add(store, [40], [0, 1])
    path = store.path / "parts" / bad
    breaks(path)
    for round_number in (1, 2):  # a second bad file of the same name is kept too
        again = reopened(store)
        assert again.parts() == [good]
        assert len(again.warnings) == 1
        assert bad in again.warnings[0]
        assert len(os.listdir(store.path / "parts" / "aside")) == round_number
        assert again.missing(cells_of([40, 100], [0, 1])) == [0, 1]
        assert dataset(again, [40, 100], [0, 1])["present"].values.tolist() == [
            [False, False],
            [True, True],
        ]
        path.write_bytes(b"bad once more")
    path.unlink()
    assert reopened(store).warnings == []


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_damage_goes_unnoticed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("store")
    store = Store(path, experiment="toy/one", version=1)
    part = path / "parts" / add(store, [40], [0, 1])
    whole = bytearray(part.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        whole[at] ^= data.draw(st.integers(1, 255))
    else:
        whole = whole[:at]
    part.write_bytes(bytes(whole))
    after = Store(path, experiment="toy/one", version=1)
    assert len(after) == 0
    assert len(after.warnings) == len(os.listdir(path / "parts" / "aside")) == 1


def test_equal_duplicates_are_quiet_and_others_are_reported(store):
    first = add(store, [40], [0, 1])
    cells = cells_of([40], [1, 2])
    again = reopened(store)
    again.add(cells, arrays_for(cells), ORIGIN)
    assert again.warnings == []
    changed = arrays_for(cells)
    changed["error"] = changed["error"] + 1
    third = reopened(store)
    third.add(cells, changed, ORIGIN)
    fourth = reopened(store)
    for reader in (third, fourth):
        assert sum("with other values" in warning for warning in reader.warnings) == 2
        assert first in reader.warnings[0]
        assert dataset(reader, [40], [1, 2])["error"].values.tolist() == [[47.0, 54.0]]


def test_another_version_is_refused_in_words(store):
    add(store, [40], [0])
    with pytest.raises(StoreError, match=r"version 1 \(now 2\): --fresh moves them aside"):
        Store(store.path, experiment="toy/one", version=2)
    with pytest.raises(StoreError, match=r"experiment toy/one \(now toy/two\)"):
        Store(store.path, experiment="toy/two", version=1)
    (store.path / "store.json").write_text("{")
    with pytest.raises(StoreError, match="not readable"):
        reopened(store)


def test_another_schema_is_refused(store):
    manifest = json.loads((store.path / "store.json").read_text())
    (store.path / "store.json").write_text(json.dumps(manifest | {"schema": 99}))
    with pytest.raises(StoreError, match=r"schema 99 \(now 1\)"):
        reopened(store)


def test_a_file_is_not_a_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        Store(tmp_path / "file", experiment="toy/one", version=1)


def test_move_aside_deletes_nothing(tmp_path):
    path = tmp_path / "store"
    assert Store.move_aside(path) is None
    for number in (1, 2, 3):
        part = add(Store(path, experiment="toy/one", version=number), [40], [number])
        assert Store.move_aside(path) == tmp_path / f"store.old-{number}"
        assert (tmp_path / f"store.old-{number}" / "parts" / part).is_file()
    assert sorted(os.listdir(tmp_path)) == ["store.old-1", "store.old-2", "store.old-3"]


def test_merge_takes_what_is_not_here(store, tmp_path):
    add(store, [40], [0, 1])
    other = Store(tmp_path / "other", experiment="toy/one", version=1)
    add(other, [40], [0, 1])
    add(other, [40], [1, 2])
    add(other, [100], [0])
    assert store.merge(other.path) == 2
    assert store.merge(other.path) == 0
    assert store.keys() == other.keys() == reopened(store).keys()
    assert store.warnings == []
    newer = Store(tmp_path / "newer", experiment="toy/one", version=2)
    with pytest.raises(StoreError, match="version 2"):
        store.merge(newer.path)
    with pytest.raises(StoreError, match=r"no store\.json"):
        store.merge(tmp_path)


def test_other_flags_of_xla_are_another_rounding(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    usual = rounding()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert rounding() != usual
    assert "--xla_cpu_enable_fast_math=true" in rounding()


def test_provenance_says_where_results_came_from(store):
    part = add(store, [40], [0])
    origin = reopened(store).provenance(part)
    assert origin["parameters"] == {"steps": 3}
    assert {"python", "tacit", "numpy", "jax"} <= origin["versions"].keys()
    assert (origin["device"], origin["precision"]) == ("cpu: test", "float64")
    assert os.uname().nodename not in json.dumps(origin)


@pytest.mark.parametrize(
    ("cells", "arrays", "word"),
    [
        ([], {"error": np.zeros(0)}, "1 or more"),
        ([{"seed": 1}, {"seed": 1.0}], {"error": np.zeros(2)}, "distinct"),
        ([{"seed": 1}], {"error": np.zeros(2)}, "leading axis"),
        ([{"seed": 1}], {"error": np.float64(0)}, "leading axis"),
        ([{"seed": 1}], {"error": np.array([object()])}, "not storable"),
        ([{"seed": 1}], {"_error": np.zeros(1)}, "identifier"),
        ([{"seed": 1}], {"an error": np.zeros(1)}, "identifier"),
    ],
)
def test_what_cannot_be_added(store, cells, arrays, word):
    with pytest.raises(ValueError, match=word):
        store.add(cells, arrays, {})
    assert os.listdir(store.path / "parts") == []


def test_a_variable_may_have_any_name(store):
    store.add([{"seed": 1}], {"file": np.ones(1), "arr_0": np.zeros(1)}, {})
    names = {"file": Variable("file"), "arr_0": Variable("arr_0")}
    assert reopened(store).dataset({"seed": (1,)}, {}, names, {})["file"].item() == 1


def test_parts_of_another_state_of_the_experiment_are_named(store):
    add(store, [40], [0])
    axes = {"width": (40,), "seed": (0,)}
    with pytest.raises(StoreError, match="no variable 'loss'"):
        store.dataset(axes, {"steps": 3}, {"loss": Variable("loss")}, {})
    with pytest.raises(StoreError, match=r"shape \(3,\) a cell where \(2,\)"):
        store.dataset(axes, {"steps": 3}, VARIABLES, {"horizon": (10, 20)})
    with pytest.raises(ValueError, match=r"\['seed'\] is used twice"):
        store.dataset(axes, {"steps": 3}, {"seed": Variable("seed")}, {})


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = Store("~/store", experiment="toy/one", version=1)
    assert made.path == tmp_path / "store"
    assert (tmp_path / "store" / "store.json").is_file()
    assert not (tmp_path / "~").exists()
