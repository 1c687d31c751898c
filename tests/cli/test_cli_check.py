"""`tacit check` and `tacit clean`: what they say, mend and remove, and that they touch no more."""

import json
import os
import shutil

import pytest

SMOKE = ["reproduce", "lamp.py", "--preset", "smoke"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of results to copy: with a store, an old one, and a part that was set aside."""
    from tacit.cli import run

    folder = tmp_path_factory.mktemp("made")
    from_here = os.getcwd()
    conftest = importlib_conftest()
    (folder / "lamp.py").write_text(conftest.LAMP)
    os.chdir(folder)
    try:
        assert run(SMOKE) == 0
        assert run([*SMOKE, "--fresh"]) == 0
        (part,) = (folder / "results/mine/lamp/store/parts").glob("*.safetensors")
        (part.parent / "000002-bad.safetensors").write_bytes(part.read_bytes()[:-1])
        assert run(SMOKE) == 0
    finally:
        os.chdir(from_here)
    return folder / "results"


def importlib_conftest():
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("lamps", Path(__file__).with_name("conftest.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def store(made, tacit):
    shutil.copytree(made, tacit.folder / "results")
    return tacit.folder / "results" / "mine" / "lamp" / "store"


def check(tacit, *options):
    done = tacit("check", *options, "--json")
    (record,) = json.loads(done.stdout)["stores"]
    return done.returncode, record


def tree(folder):
    return {
        path: (os.lstat(path).st_mtime_ns, os.lstat(path).st_size)
        for path in sorted(folder.rglob("*"))
    }


def test_a_whole_store_is_whole(tacit, store):
    code, record = check(tacit)
    assert (code, record["findings"], record["cells"], record["parts"]) == (0, [], 4, 1)
    assert "4 cells in 1 part: all of it is whole" in tacit("check").stdout


def harms(store):
    (part,) = (store / "parts").glob("*.safetensors")
    zarr = store / "results.zarr" / "burnt" / "0.0.0"
    yield (
        "000002-bad.safetensors is not whole",
        lambda: (store / "parts" / "000002-bad.safetensors").write_bytes(part.read_bytes()[:-1]),
    )
    yield "results.zarr is not the image", lambda: zarr.write_bytes(zarr.read_bytes()[:-1])
    yield "results.zarr is not there", lambda: shutil.rmtree(store / "results.zarr")
    yield "results.zarr has no digest", (store / "results.digest").unlink
    yield (
        "is held by nobody",
        lambda: (
            (store / "reserved").mkdir(exist_ok=True),
            (store / "reserved" / "0123456789abcdef").write_text("1"),
        ),
    )


def test_what_is_not_whole_is_said_and_mended(tacit, store):
    for words, harm in harms(store):
        harm()
        before = tree(tacit.folder)
        code, record = check(tacit)
        assert code == 1, words
        assert words in record["findings"][0]["what"]
        assert record["findings"][0]["repair"]
        assert tree(tacit.folder) == before, words  # looking changes nothing
        assert "--repair would" in tacit("check").stdout
        code, record = check(tacit, "--repair")
        assert (code, record["repaired"]) == (0, True)
        assert check(tacit)[0] == 0, words


def test_what_is_left_is_not_called_mended(tacit, store):
    (store / "plan.json").write_text("{")
    (store / "parts" / "000002-bad.safetensors").write_bytes(b"bad")
    code, record = check(tacit, "--repair")
    assert (code, record["repaired"]) == (1, False)
    mended = {one["what"].partition(" ")[0]: one["mended"] for one in record["findings"]}
    assert mended == {"000002-bad.safetensors": True, "results/mine/lamp/store/plan.json": False}
    assert "left: the next run writes it anew" in tacit("check", "--repair").stdout


def test_a_store_that_cannot_be_used_is_an_error_of_its_own(tacit, store):
    (store / "store.json").write_text("{")
    code, record = check(tacit)
    assert code == 1
    assert "not readable" in record["error"]
    assert tacit("check", "nowhere").returncode == 2


def test_clean_lists_and_removes_what_is_left_over(tacit, store):
    (tacit.folder / "precious").mkdir()
    (tacit.folder / "precious" / "file").write_text("mine")
    (tacit.folder / "precious" / "store.json").write_text("{}")  # a link to what looks like a store
    (store.parent / "link.old-1").symlink_to(tacit.folder / "precious")
    (store.parent / "mine.old-1").mkdir()  # no store in it
    before = tree(tacit.folder)
    done = tacit("clean")
    assert "store.old-1: an old store" in done.stdout
    assert "parts/aside: set aside, 1 file," in done.stdout
    assert "2 folders" in done.stdout
    assert tree(tacit.folder) == before
    assert tacit("clean", "--yes").returncode == 0
    assert not (store.parent / "store.old-1").exists()
    assert not (store / "parts" / "aside").exists()
    assert (tacit.folder / "precious" / "file").read_text() == "mine"
    assert (store.parent / "mine.old-1").is_dir()
    assert check(tacit)[0] == 0
    assert "nothing is left over" in tacit("clean").stdout


def test_clean_refuses_what_is_no_folder(tacit):
    (tacit.folder / "file").write_text("mine")
    for name in ("file", "nowhere"):
        done = tacit("clean", str(tacit.folder / name))
        assert done.returncode == 2
        assert "is no folder: give a store, or a folder of results" in done.stderr
