"""`tacit status` and `tacit merge`, and the wrong uses of each."""

import json

import pytest
import xarray

from tacit.store import Store


def status(tacit, *arguments):
    done = tacit("status", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["stores"]


def test_status_tells_done_missing_diverged_and_failed(tacit):
    nothing = status(tacit, "lamp.py")
    assert [(row["cells"], row["done"], row["missing"]) for row in nothing] == [(16, 0, 16)]
    assert not (tacit.folder / "results").exists()  # looking changes nothing
    run = tacit("reproduce", "lamp.py", "--set", "poisoned=1", "--set", "power=1,2")
    assert run.returncode == 1
    assert "batch power=2, seed=0…3 raised ArithmeticError: the filament broke" in run.stderr
    assert "batch power=2, seed=1 failed: ArithmeticError: the filament broke" in run.stderr
    for target in ("results", "results/mine/lamp", "results/mine/lamp/store", "mine/lamp"):
        (row,) = status(tacit, target)
        counts = [row[name] for name in ("cells", "done", "missing", "failed", "diverged")]
        assert counts == [8, 7, 0, 1, 2]
        assert row["outcomes"] == {"converged": 5, "diverged": 2}
        (failure,) = row["failures"]
        assert failure["cell"] == {"power": 2, "seed": 1}
        assert failure["message"].startswith("ArithmeticError: the filament broke (lamp.py, line")
        assert (row["experiment"], row["version"], row["preset"]) == ("mine/lamp", 1, "quick")
    (row,) = status(tacit, "lamp.py", "--set", "poisoned=1", "--seeds", "5")
    assert [row[name] for name in ("cells", "done", "missing", "failed")] == [20, 7, 12, 1]
    words = tacit("status").stdout
    assert "8 cells: 7 done (5 converged, 2 diverged), 0 missing, 1 failed" in words
    assert "failed: power=2, seed=1: ArithmeticError: the filament broke" in words
    opened = xarray.open_zarr(tacit.folder / "results" / "mine" / "lamp" / "store" / "results.zarr")
    assert opened["outcome"].sel(power=2, seed=1) == "failed"
    assert opened["power"].attrs == {"long_name": "power", "units": "W"}


def test_parts_made_elsewhere_are_merged(tacit):
    tacit("reproduce", "lamp.py", "--set", "power=1,2")
    whole = tacit.folder / "results"
    whole.rename(tacit.folder / "gpu")
    tacit("reproduce", "lamp.py", "--set", "power=2,3,4")
    tacit.log.unlink()
    done = tacit("merge", "gpu", "--json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)["stores"]
    assert (record["experiment"], record["taken"], record["new_cells"]) == ("mine/lamp", 1, 4)
    assert record["cells"] == 16
    assert record["warnings"] == []
    again = tacit("merge", "gpu")
    assert "0 parts taken with 0 new cells" in again.stdout
    run = tacit("reproduce", "lamp.py")
    assert run.returncode == 0
    assert "4 of 4 batches were stored already" in run.stdout.replace("\n", " ")
    assert not tacit.log.exists()  # nothing was computed
    # Into a folder where nothing is, and into a store itself.
    assert tacit("merge", "results", "gpu/mine/lamp", "--into", "all").returncode == 0
    assert status(tacit, "all")[0]["done"] == 16
    assert len(Store.existing(tacit.folder / "all" / "mine" / "lamp" / "store")) == 16
    opened = xarray.open_zarr(tacit.folder / "all" / "mine" / "lamp" / "store" / "results.zarr")
    assert opened["present"].values.all()
    into = tacit("merge", "results", "--into", "gpu/mine/lamp/store")
    assert "now 16 cells" in into.stdout


def test_wrong_use_is_one_sentence_and_exit_2(tacit):
    tacit("reproduce", "lamp.py", "--preset", "smoke")
    newer = (tacit.folder / "lamp.py").read_text().replace("version = 1", "version = 2")
    (tacit.folder / "newer.py").write_text(newer)
    tacit("reproduce", "newer.py", "--preset", "smoke", "--results", "newer")
    (tacit.folder / "empty").mkdir()
    (tacit.folder / "damaged").mkdir()
    (tacit.folder / "damaged" / "store.json").write_text("{")
    before = sorted(tacit.folder.rglob("*.safetensors"))
    for arguments, words in [
        (["status", "nothing"], "experiment: 'nothing' is not known"),
        (["status", "empty"], "empty holds no store"),
        (["status", "damaged"], "not readable"),
        (["status", "results", "--preset", "quick"], "they need the id of an experiment"),
        (["status", "lamp.py", "--preset", "quik"], "did you mean 'quick'"),
        (["status", "lamp.py", "--set", "power=0"], "power: received 0"),
        (["status", "lamp.py", "--seeds", "many"], "received 'many'"),
        (["status", "--colour"], "--colour"),
        (["merge"], "Missing argument"),
        (["merge", "nothing"], "nothing is not a folder"),
        (["merge", "empty"], "empty holds no store"),
        (["merge", "newer"], "version 2 (there: 1)"),
        (["merge", "newer", "results", "--into", "all"], "version 1 (there: 2)"),
        (["merge", "results"], "is where --into leads"),
        (["merge", "newer", "--into", "lamp.py"], "lamp.py is a file"),
        (["merge", "results", "--into"], "--into"),
    ]:
        done = tacit(*arguments)
        assert done.returncode == 2, (arguments, done)
        assert words in done.stderr, (arguments, done.stderr)
        assert done.stderr.startswith("tacit: ")
        assert done.stderr.strip().count("\n") == 0
        assert done.stdout == ""
    assert sorted(tacit.folder.rglob("*.safetensors")) == before  # nothing was taken
    assert not (tacit.folder / "all").exists()


def test_another_version_on_status_says_what_differs(tacit):
    tacit("reproduce", "lamp.py", "--preset", "smoke")
    lamp = tacit.folder / "lamp.py"
    lamp.write_text(lamp.read_text().replace("version = 1", "version = 3"))
    done = tacit("status", "lamp.py")
    assert done.returncode == 2
    assert "version 1 (now 3): --fresh" in done.stderr


@pytest.mark.parametrize("command", ["status", "merge"])
def test_help(tacit, command):
    done = tacit(command, "--help")
    assert done.returncode == 0
    assert "DIR" in done.stdout
