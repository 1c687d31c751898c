"""`results.zarr`: the parts as xarray reads them, whole or not there, made again at any time.

It looks inside to write in small slabs and to let a second writer come first.
"""

import itertools
import json
import os
import shutil

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.store import Plan, Store, Variable, WriteError, provenance
from tacit.store import _results as results

VARIABLES = {
    "error": Variable("error"),
    "curve": Variable("a curve", "horizon", units="m", dtype="float32"),
    "count": Variable("a count", dtype="int64"),
    "good": Variable("whether it is good", dtype="bool"),
    "outcome": Variable("how it ended", dtype="str"),
}
COORDS = {"horizon": np.array([10, 20, 40], dtype=np.int32)}
ATTRS = {"width": {"long_name": "width of the student", "units": "1"}}


def plan(widths=(40, 100), seeds=range(3), names=("even",)):
    axes = {"kind": tuple(names), "width": tuple(widths), "seed": tuple(seeds)}
    return Plan(axes, {"steps": 3, "scale": 1.0}, VARIABLES, COORDS, ATTRS, "quick")


def cells_of(the_plan):
    return [{**the_plan.fixed, **cell} for cell in the_plan.cells()]


def add(store, cells, device="cpu: test", seconds=0.5):
    base = np.array([7.0 * cell["seed"] + cell["width"] for cell in cells])
    arrays = {
        "error": base,
        "curve": (base[:, None] + np.arange(3)).astype(np.float32),
        "count": base.astype(np.int64),
        "good": base % 2 == 0,
        "outcome": np.array(["converged" if cell["seed"] % 2 else "stop" for cell in cells]),
    }
    origin = provenance({}, seconds=seconds, device=device, precision="float64")
    return store.add(cells, arrays, origin)


def from_parts(store, the_plan):
    p = the_plan
    return store.dataset(p.axes, p.fixed, p.variables, p.coords, attrs=p.attrs)


def without_provenance(dataset):
    kept = dataset.copy()
    for name in ("origins", "content"):
        del kept.attrs[name]
    return kept


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", experiment="toy/one", version=1)


def test_xarray_opens_what_the_parts_hold(store):
    cells = cells_of(plan())
    add(store, cells[:2], device="gpu: a", seconds=2.0)
    add(store, cells[2:5])
    path = store.consolidate(plan())
    assert path == store.path / "results.zarr"
    opened = xarray.open_zarr(path)
    assert without_provenance(opened.load()).identical(from_parts(store, plan()))
    assert opened["width"].attrs == ATTRS["width"]
    assert opened["curve"].attrs == {"units": "m", "long_name": "a curve"}
    assert (opened.attrs["experiment"], opened.attrs["version"]) == ("toy/one", 1)
    assert opened.attrs["scale"] == 1.0
    origins = json.loads(opened.attrs["origins"])
    assert [origin["device"] for origin in origins] == ["gpu: a", "cpu: test"]
    assert {"versions", "commit", "precision"} <= origins[0].keys()
    made = xarray.open_zarr(path, group="provenance")
    assert made["origin"].values.ravel().tolist() == [0, 0, 1, 1, 1, -1]
    assert made["batch_seconds"].values.ravel()[:3].tolist() == [2.0, 2.0, 0.5]
    assert made["batch_seconds"].attrs["units"] == "s"


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_random_grids_round_trip_in_slabs_of_any_size(tmp_path_factory, data):
    the_plan = plan(
        data.draw(st.lists(st.integers(1, 50), unique=True, min_size=1, max_size=4)),
        data.draw(st.lists(st.integers(0, 50), unique=True, min_size=1, max_size=4)),
        data.draw(st.lists(st.text("abÅ", min_size=1), unique=True, min_size=1, max_size=2)),
    )
    store = Store(tmp_path_factory.mktemp("store"), experiment="toy/one", version=1)
    cells = data.draw(st.permutations(cells_of(the_plan)))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(cells)), max_size=3)) | {0, len(cells)})
    for first, last in list(itertools.pairwise(cuts))[int(data.draw(st.booleans())) :]:
        add(store, cells[first:last])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "_SLAB_BYTES", data.draw(st.sampled_from([1, 150, 1000, 2**25])))
        opened = xarray.open_zarr(store.consolidate(the_plan)).load()
    assert without_provenance(opened).identical(from_parts(store, the_plan))


def test_it_is_made_again_when_the_parts_say_more_and_only_then(store):
    cells = cells_of(plan())
    add(store, cells[:2])
    path = store.consolidate(plan())
    made = os.stat(path).st_ino
    assert os.stat(store.consolidate(plan())).st_ino == made
    add(store, cells[2:])
    assert os.stat(store.consolidate(plan())).st_ino != made
    assert xarray.open_zarr(path)["present"].values.all()
    shutil.rmtree(path)
    store.consolidate(plan())
    assert xarray.open_zarr(path)["present"].values.all()
    store.consolidate(plan(widths=(100,)))  # another grid asked for
    assert xarray.open_zarr(path).sizes["width"] == 1
    assert [name for name in os.listdir(store.path) if name.endswith(".tmp")] == []


def test_failed_cells_are_named_so(store):
    cells = cells_of(plan())
    add(store, cells[:4])
    store.add_failure(cells[4:5], "RuntimeError: no luck", "Traceback …")
    opened = xarray.open_zarr(store.consolidate(plan()))
    words = opened["outcome"].values.ravel().tolist()
    assert words == ["stop", "converged", "stop", "stop", "failed", ""]


def test_a_crash_leaves_the_old_one_or_none_never_a_part_of_one(store, monkeypatch):
    cells = cells_of(plan())
    add(store, cells[:3])
    path = store.consolidate(plan())
    before = xarray.open_zarr(path).load()
    add(store, cells[3:])

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(xarray.Dataset, "to_zarr", full)
        with pytest.raises(WriteError, match=r"No space left on device.*free some space"):
            store.consolidate(plan())
    assert xarray.open_zarr(path).load().identical(before)
    assert [name for name in os.listdir(store.path) if name.endswith(".tmp")] == []
    # Killed between the two renames: nothing of that name, and the next run makes it.
    path.rename(path.with_name(".results.zarr.0123.tmp"))
    store.consolidate(plan())
    assert xarray.open_zarr(path)["present"].values.all()


def test_two_processes_may_consolidate_at_once(store, monkeypatch):
    add(store, cells_of(plan()))
    other = Store(store.path, experiment="toy/one", version=1)
    put, raced = results.put_folder, []

    def second_first(temporary, path):
        if not raced:
            raced.append(True)
            other.consolidate(plan())
        put(temporary, path)

    monkeypatch.setattr(results, "put_folder", second_first)
    path = store.consolidate(plan())
    assert xarray.open_zarr(path)["present"].values.all()


def test_no_chunk_is_missing_from_the_disk_by_accident(store):
    # A chunk that is not there reads as fill values: those that hold data are there and synced.
    add(store, cells_of(plan()))
    path = store.consolidate(plan())
    for name in ("error", "curve", "count", "outcome"):
        assert [entry for entry in os.listdir(path / name) if not entry.startswith(".")]


def _files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_harm_to_it_is_noticed_and_mended(store):
    the_plan = plan(widths=(40,), seeds=(0,))
    add(store, cells_of(the_plan))
    path = store.consolidate(the_plan)
    whole = {file: file.read_bytes() for file in _files(path)}
    inode = os.stat(path).st_ino
    store.consolidate(the_plan)
    assert os.stat(path).st_ino == inode  # it is whole, and left alone
    chunk, kept = path / "curve" / "0.0.0.0", store.path / "kept"
    for harm in (
        lambda: _flip(chunk),
        lambda: (path / "error" / ".zarray").unlink(),
        lambda: chunk.with_name("more").write_bytes(b""),
        lambda: (chunk.rename(kept), chunk.symlink_to(kept)),
    ):
        harm()
        Store.existing(store.path).consolidate(the_plan)
        assert {file: file.read_bytes() for file in _files(path)} == whole
        assert not chunk.is_symlink()


def test_a_part_replaced_under_its_own_name_is_noticed(store, tmp_path):
    the_plan = plan()
    name = add(store, cells_of(the_plan))
    path = store.consolidate(the_plan)
    other = Store(tmp_path / "other", experiment=store.identity.experiment, version=1)
    cells = cells_of(the_plan)
    arrays = store.read(name, list(VARIABLES))
    arrays["error"] = arrays["error"] + 1
    origin = provenance({}, seconds=1.0, device="cpu: test", precision="float64")
    assert other.add(cells, arrays, origin) == name
    shutil.copy(other.path / "parts" / name, store.path / "parts" / name)
    Store.existing(store.path).consolidate(the_plan)
    opened = xarray.open_zarr(path)
    np.testing.assert_array_equal(opened["error"].values.ravel(), arrays["error"])
