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
    monkeypatch.setattr("tacit.experiments._registry.entry_points", lambda group: points)
    monkeypatch.setattr("tacit.experiments._registry.BUILT_IN", {})
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
