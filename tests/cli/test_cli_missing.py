"""An experiment that lacks something: skipped among all, refused by name."""

import json
from importlib.metadata import EntryPoint

import pytest

GROUP = "tacit.experiments"  # the group of entry points

LACKING = """
from lamp import Lamp

class Candle(Lamp):
    id = "mine/candle"

    def missing(self):
        return "there is no wax: set WAX to a folder with some"
"""


@pytest.fixture
def two(tacit, monkeypatch):
    """The lamp, and a candle without wax, as all the experiments that there are."""
    (tacit.folder / "candle.py").write_text(LACKING)
    monkeypatch.syspath_prepend(str(tacit.folder))
    points = [
        EntryPoint("mine/candle", "candle:Candle", GROUP),
        EntryPoint("mine/lamp", "lamp:Lamp", GROUP),
    ]
    monkeypatch.setattr("tacit.reproduction._listing.entry_points", lambda group: points)
    monkeypatch.setattr("tacit.reproduction._listing.BUILT_IN", {})
    # In this process: others would not know these entry points.
    monkeypatch.setattr("tacit.cli._reproduce.core_count", lambda: 1)
    return tacit


def test_among_all_it_is_skipped_with_its_sentence(two):
    done = two("reproduce", "--all", "--preset", "smoke")
    assert done.returncode == 0, done.stderr
    assert "skipped: there is no wax: set WAX to a folder with some" in done.stdout
    assert "burns" in done.stdout  # the other one ran
    assert not (two.folder / "results" / "mine" / "candle").exists()
    record = json.loads(two("reproduce", "--all", "--preset", "smoke", "--json").stdout)
    assert record["as_expected"]
    assert record["experiments"][0]["skipped"].startswith("there is no wax")


def test_by_name_it_is_refused_before_anything_runs(two):
    done = two("reproduce", "mine/lamp", "mine/candle", "--preset", "smoke")
    assert done.returncode == 2
    assert done.stderr == "tacit: mine/candle: there is no wax: set WAX to a folder with some\n"
    assert done.stdout == ""
    assert not (two.folder / "results").exists()


def test_among_all_a_broken_plug_in_is_left_out(two, monkeypatch):
    (two.folder / "lantern.py").write_text(
        "from lamp import Lamp\n\n\nclass Lantern(Lamp):\n"
        "    id, presets = 'mine/lantern', {'paper': {}}\n"
    )
    points = [
        EntryPoint("mine/broken", "no_such_module:Broken", GROUP),
        EntryPoint("mine/lamp", "lamp:Lamp", GROUP),
        EntryPoint("mine/lantern", "lantern:Lantern", GROUP),
    ]
    monkeypatch.setattr("tacit.reproduction._listing.entry_points", lambda group: points)
    done = two("reproduce", "--all", "--preset", "smoke")
    assert done.returncode == 0, done.stderr
    assert "tacit: left out: experiment: 'mine/broken' from no_such_module" in done.stderr
    assert "tacit: left out: mine/lantern has no preset 'smoke'\n" in done.stderr
    assert "burns" in done.stdout
    done = two("reproduce", "--all", "--preset", "smok")  # which none of them has
    assert done.returncode == 2
    assert "has no preset 'smok', did you mean 'smoke'" in done.stderr


def test_nothing_is_lacking_where_every_cell_is_stored(tacit):
    """Claims and figures read the store alone: only what is to be computed needs the data."""
    file, wax = tacit.folder / "lamp.py", tacit.folder / "wax"
    method = (
        "    def missing(self):\n        return None if os.path.exists('wax') else 'no wax'\n\n"
    )
    text = file.read_text().replace("    def variables", f"{method}    def variables")
    file.write_text(text.replace('"paper": {}', '"paper": dict(power=1)'))
    smoke = ("reproduce", "lamp.py", "--preset", "smoke")
    wax.touch()
    assert tacit(*smoke).returncode == 0
    wax.unlink()
    tacit.log.unlink()
    done = tacit(*smoke)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 batch was stored already" in done.stdout
    assert "burns" in done.stdout
    assert "4 cells in 1 batch, 4 stored" in tacit(*smoke, "--dry-run").stdout
    for more in (["--seeds", "6"], ["--fresh"], ["--set", "power=1,2"]):
        done = tacit(*smoke, *more)
        assert (done.returncode, done.stderr) == (2, "tacit: mine/lamp: no wax\n"), more
    assert tacit("reproduce", "lamp.py", "--preset", "paper").returncode == 0  # no seeds are added
    assert not tacit.log.exists()
    assert not list((tacit.folder / "results/mine/lamp").glob("store.old*"))
