"""Users' paths and text: home folders, markup, terminal escapes, encodings, what hangs."""

import os
import subprocess
import sys

import pytest

import tacit.sweep._run as running
from tacit.cli._text import plain
from tacit.store import Store
from tacit.sweep import Grid, dask_workers, run_sweep


def test_a_tilde_is_the_home_folder_for_every_file(tacit, monkeypatch):
    pytest.importorskip("matplotlib.font_manager")  # which keeps its fonts in the home folder
    home = tacit.folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    done = tacit("reproduce", "lamp.py", "--preset", "smoke", "--results", "~/x")
    assert done.returncode == 0, done.stderr
    found = home / "x" / "mine" / "lamp"
    assert (found / "claims.json").is_file()
    assert (found / "store" / "results.zarr").is_dir()
    assert sorted(p.name for p in tacit.folder.iterdir()) == ["home", "lamp.py", "log"]
    assert tacit("status", "--results", "~/x").returncode == 0
    assert tacit("merge", "~/x", "--into", "~/y").returncode == 0
    assert (home / "y" / "mine" / "lamp" / "store" / "store.json").is_file()


def test_text_of_users_is_no_markup_and_no_command_to_the_terminal(tacit):
    file = tacit.folder / "lamp.py"
    text = file.read_text()
    text = text.replace('"""How long lamps burn."""', '"""[/] in [red]\\x1b[2J brackets."""')
    text = text.replace('claim.value("burns"', 'claim.value("[/bold] [0, 1] burns\\x1b[31m"')
    text = text.replace('ArithmeticError("the', 'ArithmeticError("[/] \\x1b[2J the')
    file.write_text(text)
    done = tacit("reproduce", "lamp.py", "--set", "power=1,2", "--set", "poisoned=1")
    assert "\x1b" not in done.stdout + done.stderr
    assert "[/] in [red]\\x1b[2J brackets" in done.stdout
    assert "[/bold] [0, 1] burns" in done.stdout
    assert "[/] \\x1b[2J the filament broke" in done.stderr
    shown = tacit("status").stdout
    assert "\x1b" not in shown
    assert "[/] \\x1b[2J the filament broke" in shown
    assert plain("a\x07b\nc") == "a\\x07b\nc"


def test_an_output_without_unicode_is_no_error(tacit):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments in (["list"], ["reproduce", "nothing…"]):
        done = tacit.outside(*arguments, env=environment)
        assert done.returncode == (0 if arguments == ["list"] else 2), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a system without /dev/full")
def test_an_output_that_takes_no_more_is_a_sentence():
    command = f"{sys.executable} -m tacit list > /dev/full"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("tacit: the output cannot be written (No space left on device)")


@pytest.mark.skipif(os.name == "nt", reason="a shell of another kind")
def test_an_output_that_is_closed_is_no_error():
    command = f"{sys.executable} -m tacit list >&- <&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_broken_claims_of_others_do_not_stop_the_list(tacit):
    folder = tacit.folder / "results" / "lowdim" / "fig1a"
    folder.mkdir(parents=True)
    for content in ("[", "3", '{"claims": 3}', '{"claims": [3], "as_expected": []}', "[" * 10**5):
        (folder / "claims.json").write_text(content)
        assert tacit("list", "--json").returncode == 0
    (folder / "claims.json").unlink()
    os.mkfifo(folder / "claims.json")
    assert tacit("list").returncode == 0


def test_what_hangs_is_named_after_a_while_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_PATIENCE_SECONDS", 0.3)
    store = Store(tmp_path / "store", experiment="toy/hangs", version=1)
    grid = Grid({"seed": (0,)})
    keys = store.keys_of([{"seed": 0}])
    held = store.reserve(keys)
    events = []

    def progress(event):
        events.append(event)
        if event.remedy:
            held.release()

    other = Store(tmp_path / "store", experiment="toy/hangs", version=1)
    run_sweep(grid, {}, lambda batch, fixed: {"a": [1.0]}, other, progress=progress)
    (said,) = [event for event in events if event.remedy]
    assert f"process {os.getpid()} has computed it" in said.message
    assert f"kill {os.getpid()}" in said.remedy
    assert len(other) == 1


def test_fresh_is_refused_until_the_last_file_is_written(tacit):
    file = tacit.folder / "lamp.py"
    text = file.read_text().replace(
        "        line = Line(",
        "        from tacit.store import Store, StoreError\n"
        "        try:\n"
        "            Store.move_aside('results/mine/lamp/store')\n"
        "        except StoreError as error:\n"
        "            print('refused', error)\n"
        "        line = Line(",
    )
    file.write_text(text)
    done = tacit("reproduce", "lamp.py", "--preset", "smoke")
    assert done.returncode == 0
    assert "refused results/mine/lamp/store is in use by another process" in done.stdout


def test_results_that_were_deleted_in_mid_run_are_a_sentence(tacit):
    file = tacit.folder / "lamp.py"
    text = file.read_text().replace(
        "        time.sleep(self.pause)\n",
        "        import shutil\n        shutil.rmtree('results', ignore_errors=True)\n",
    )
    file.write_text(text)
    done = tacit("reproduce", "lamp.py", "--preset", "smoke")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "could not be written: No such file or directory" in done.stderr


def test_a_dashboard_is_for_this_machine_alone(monkeypatch):
    distributed = pytest.importorskip("distributed")
    asked = {}

    def cluster(**options):
        asked.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(distributed, "LocalCluster", cluster)
    with pytest.raises(KeyboardInterrupt), dask_workers("local", workers=1):
        pass
    for name in ("dashboard_address", "worker_dashboard_address"):
        assert asked[name].startswith("127.0.0.1:")


def test_a_scheduler_without_its_certificates_is_a_sentence(tacit):
    pytest.importorskip("distributed")
    done = tacit("reproduce", "lamp.py", "--scheduler", "tls://127.0.0.1:9", "--json")
    assert done.returncode == 2
    assert done.stderr.startswith("tacit: scheduler: tls://127.0.0.1:9 ")
    assert done.stderr.count("\n") == 1


def test_no_file_of_the_users_is_taken_for_a_temporary_one(tacit):
    """By its name it is one, and it is old; the folders are not yet a store's."""
    yours = [tacit.folder / place / ".notes.0123456789ab.tmp" for place in (".", "mine/lamp")]
    for path in yours:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (1e9, 1e9))
    done = tacit("reproduce", "lamp.py", "--preset", "smoke", "--results", str(tacit.folder))
    assert done.returncode == 0, done.stderr
    assert (tacit.folder / "mine" / "lamp" / "claims.json").is_file()
    assert [path.exists() for path in yours] == [True, True]
