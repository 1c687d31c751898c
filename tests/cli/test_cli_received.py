"""A store from elsewhere cannot write outside itself, and commands that read write nothing."""

import json
import os

import numpy as np
import pytest

from tacit.reproduction import find_experiment, planned, stored_run
from tacit.site import read_entries
from tacit.store import Store, StoreError, provenance

OUTSIDE = "outside"


def tree(folder):
    """Every name below a folder, with what would show that it was touched."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = os.path.join(place, name)
            facts = os.lstat(path)
            found[path] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_nlink)
    return found


def received(tacit):
    """A store that came from elsewhere, the folder of one's own results, and one beside both."""
    kind = find_experiment("lamp.py")
    chosen = kind.from_preset("smoke")
    plan = planned(chosen, "smoke")
    path = tacit.folder / "foreign" / "mine" / "lamp" / "store"
    store = Store(path, experiment="mine/lamp", version=1)
    cells = [{**plan.fixed, **cell} for cell in plan.cells()]
    arrays = {"burnt": np.ones((4, 3)), "outcome": np.array(["converged"] * 4)}
    origin = provenance({}, seconds=0.5, device="cpu: test", precision="float64")
    store.add(cells, arrays, origin)
    store.keep_plan(plan)
    (tacit.folder / OUTSIDE).mkdir()
    (tacit.folder / OUTSIDE / "precious").write_text("mine")
    return path


def rename(store, experiment, version=1):
    manifest = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(
        json.dumps(manifest | {"experiment": experiment, "version": version})
    )


def one_sentence(done, code=2):
    assert done.returncode == code, done
    assert done.stderr.startswith("tacit: ")
    assert done.stderr.strip().count("\n") == 0, done.stderr


@pytest.mark.parametrize("command", [["merge", "foreign"], ["status", "foreign"]])
def test_a_store_is_named_as_an_experiment_is(tacit, command):
    store = received(tacit)
    before = tree(tacit.folder / OUTSIDE)
    for experiment in (
        "../../../outside/evil",
        str(tacit.folder / OUTSIDE / "evil"),
        "..",
        "",
        "mine//lamp",
        "mine/../lamp",
        "mine/lamp\n",
        "Mine/Lamp",
        "mine/lamp/",
        "\x1b[31mmine",
        "m" * 5000,
        7,
        None,
    ):
        rename(store, experiment)
        one_sentence(tacit(*command))
    for version in (0, -1, True, 1.5, "1", 10**30):
        rename(store, "mine/lamp", version)
        one_sentence(tacit(*command))
    assert not (tacit.folder / "results").exists()
    assert tree(tacit.folder / OUTSIDE) == before


def test_the_same_pattern_holds_in_python(tmp_path):
    for experiment in ("../evil", "/evil", "Evil", "a" * 1000):
        with pytest.raises(StoreError, match="experiment"):
            Store(tmp_path / "store", experiment=experiment, version=1)
    assert list(tmp_path.iterdir()) == []


def test_commands_that_read_write_nothing(tacit):
    store = received(tacit)
    (part,) = (store / "parts").iterdir()
    (store / "parts" / "000002-bad.safetensors").write_bytes(part.read_bytes()[:-1])
    (store / "parts" / ".000003-x.safetensors.aaaaaaaaaaaa.tmp").write_text("of a killed writer")
    os.utime(store / "parts" / ".000003-x.safetensors.aaaaaaaaaaaa.tmp", (0, 0))
    (store / "failures").mkdir()
    (store / "failures" / "000001-bad.json").write_text("{")
    (store / "reserved").mkdir(exist_ok=True)
    (store / "reserved" / "0123456789abcdef").write_text("")
    (store / "reserved" / "link").symlink_to(tacit.folder / OUTSIDE / "precious")
    (store / "reserved" / "nowhere").symlink_to(tacit.folder / OUTSIDE / "new")
    os.mkfifo(store / "reserved" / "pipe")
    before = tree(tacit.folder)
    done = tacit("status", "foreign")
    assert done.returncode == 0, done.stderr
    assert "000002-bad.safetensors is not whole" in done.stdout
    assert tacit("status", "lamp.py", "--results", "foreign").returncode == 0
    assert tacit("list", "--results", "foreign").returncode == 0
    stored_run("lamp.py", preset="smoke", results="foreign")
    assert tree(tacit.folder) == before
    assert tacit("merge", "foreign").returncode == 0
    foreign = str(tacit.folder / "foreign") + os.sep
    assert tree(foreign) == {
        path: facts for path, facts in before.items() if path.startswith(foreign)
    }


def test_a_plan_of_arrays_that_nobody_has_takes_no_memory(tacit):
    store = received(tacit)
    plan = json.loads((store / "plan.json").read_text())
    line = {"dtype": "<i8", "values": list(range(10_000))}
    plan["coords"] |= dict.fromkeys("abc", line)
    plan["variables"]["huge"] = {"long_name": "", "dims": [*"abc"], "units": "1", "dtype": "f8"}
    (store / "plan.json").write_text(json.dumps(plan))
    done = tacit("merge", "foreign")
    assert done.returncode == 0, done.stderr
    assert "0 parts taken" in done.stdout
    assert "it has no variable 'huge'" in done.stdout
    assert tacit("check", "--repair").returncode == 1


def test_a_reservation_that_is_a_link_is_not_written_through(tacit):
    store = received(tacit)
    reserved = store / "reserved"
    reserved.mkdir(exist_ok=True)
    precious = tacit.folder / OUTSIDE / "precious"
    opened = Store.existing(store)
    keys = ["0" * 32]
    with opened.reserve(keys):
        (name,) = os.listdir(reserved)
    for make in (
        lambda path: path.symlink_to(precious),
        lambda path: path.symlink_to(tacit.folder / OUTSIDE / "new"),
        lambda path: path.symlink_to(path),
        lambda path: path.hardlink_to(precious),
        os.mkfifo,
    ):
        make(reserved / name)
        with pytest.raises(StoreError, match=name):
            opened.reserve(keys)
        (reserved / name).unlink()
    assert precious.read_text() == "mine"
    assert os.listdir(tacit.folder / OUTSIDE) == ["precious"]


@pytest.mark.parametrize("name", ["parts", "failures", "reserved", "parts/aside"])
def test_a_folder_of_a_store_that_is_a_link_is_refused(tacit, name):
    store = received(tacit)
    if (store / name).exists():
        (store / name).rename(store / "kept")
    (store / name).symlink_to(tacit.folder / OUTSIDE, target_is_directory=True)
    before = tree(tacit.folder / OUTSIDE)
    for command in (
        ["status", "foreign"],
        ["merge", "foreign"],
        ["reproduce", "lamp.py", "--preset", "smoke", "--results", "foreign"],
    ):
        done = tacit(*command)
        one_sentence(done)
        assert "is a link" in done.stderr
    assert tree(tacit.folder / OUTSIDE) == before


@pytest.mark.parametrize("name", ["mine", "mine/lamp", "mine/lamp/store"])
def test_results_below_a_link_are_not_written(tacit, name):
    received(tacit)
    link = tacit.folder / "results" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tacit.folder / OUTSIDE, target_is_directory=True)
    before = tree(tacit.folder / OUTSIDE)
    for command in (
        ["reproduce", "lamp.py", "--preset", "smoke"],
        ["merge", "foreign"],
    ):
        done = tacit(*command)
        one_sentence(done)
        assert "is a link" in done.stderr
    assert tree(tacit.folder / OUTSIDE) == before


def test_a_figure_is_not_drawn_through_a_link(tacit):
    store = received(tacit)
    (tacit.folder / "results").mkdir()
    (tacit.folder / "results" / "mine").symlink_to(store.parents[1], target_is_directory=True)
    before = tree(tacit.folder / "foreign")
    done = tacit("figure", "lamp.py", "--preset", "smoke")
    one_sentence(done)
    assert "is a link" in done.stderr
    assert tree(tacit.folder / "foreign") == before


def test_claims_that_are_no_file_do_not_stop_the_page(tmp_path):
    (tmp_path / "mine" / "lamp").mkdir(parents=True)
    os.mkfifo(tmp_path / "mine" / "lamp" / "claims.json")
    skipped = []
    assert read_entries(tmp_path, on_skip=lambda path, reason: skipped.append(reason)) == []
    assert skipped == ["it is not a regular file"]


def test_files_in_place_of_ours_are_replaced_not_followed(tacit):
    store = received(tacit)
    precious = tacit.folder / OUTSIDE / "precious"
    zarr = store / "results.zarr"
    ours = (zarr, store / "plan.json", store.parent / "claims.json", store.parent / "figure.png")
    for path in (*ours, tacit.folder / "foreign" / "index.html"):
        path.unlink(missing_ok=True)
        path.symlink_to(precious)
    done = tacit("reproduce", "lamp.py", "--preset", "smoke", "--results", "foreign")
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "mine"
    assert zarr.is_dir()
    assert not zarr.is_symlink()
    assert not list(store.glob(".*"))


@pytest.mark.parametrize("make", ["fifo", "loop", "endless", "folder"])
def test_a_manifest_or_plan_that_is_no_file_is_said(tacit, make):
    store = received(tacit)
    for name in ("plan.json", "store.json"):
        path = store / name
        path.unlink()
        if make == "fifo":
            os.mkfifo(path)
        elif make == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero" if make == "endless" else path)
        done = tacit("status", "foreign")
        assert done.returncode == (0 if name == "plan.json" else 2), done
        assert name in done.stdout + done.stderr or "holds no store" in done.stderr


def test_a_crafted_part_is_named_set_aside_and_computed_again(tacit):
    store = received(tacit)
    (part,) = (store / "parts").glob("*.safetensors")
    bad = store / "parts" / "000002-crafted.safetensors"
    os.mkfifo(bad)
    words = tacit("status", "foreign").stdout
    assert "000002-crafted.safetensors is not whole (it is not a regular file)" in words
    bad.unlink()
    bad.write_bytes(bytes(64))
    done = tacit("merge", "foreign")
    assert done.returncode == 0
    assert "000002-crafted.safetensors is not whole (its header should have 0 bytes" in done.stdout
    assert [p.name for p in tacit.parts()] == [part.name]
    bad.unlink()
    os.mkfifo(tacit.parts()[0].with_name("000000-first.safetensors"))
    done = tacit("reproduce", "lamp.py", "--preset", "smoke")
    assert done.returncode == 0
    assert (
        "000000-first.safetensors is not whole (it is not a regular file): set aside" in done.stderr
    )


def numbers_in(value, at=()):
    """The places of all numbers in a record."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield at
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from numbers_in(inner, (*at, key))
    for key, inner in enumerate(value) if isinstance(value, list) else ():
        yield from numbers_in(inner, (*at, key))


def test_a_number_of_four_hundred_digits_breaks_no_report(tacit):
    assert tacit("reproduce", "lamp.py", "--preset", "smoke").returncode == 0
    folder, tried = tacit.folder / "results" / "mine" / "lamp", 0
    for name in ("page.json", "claims.json", "run.json"):
        whole = (folder / name).read_text()
        for at in numbers_in(json.loads(whole)):
            record = inner = json.loads(whole)
            for key in at[:-1]:
                inner = inner[key]
            inner[at[-1]] = 10**400
            (folder / name).write_text(json.dumps(record))
            for command in (["report"], ["list"]):
                done = tacit(*command)
                assert done.returncode == 0, (name, at, done.stderr)
            tried += 1
        (folder / name).write_text(whole)
    assert tried > 10
