"""The page on experiments of one's own: its file runs as printed, and stays short."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.experiments import UsageError
from tacit.reproduction import find_experiment, list_experiments

PAGE = Path(__file__).parents[2] / "docs" / "own-experiment.md"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The first block of Python on the page, as a user would save it."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    path = tmp_path_factory.mktemp("own") / "weight_decay.py"
    path.write_text(code, encoding="utf-8")
    return path


def test_the_file_has_at_most_sixty_lines(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 60


def test_it_runs_at_smoke_and_decides_nothing_yet(file, tmp_path):
    run = tacit.reproduce(str(file), preset="smoke", results=tmp_path)
    assert run.outcomes == {"stopped": 12}
    assert np.isfinite(run.dataset["error"]).all()
    assert [claim.name for claim in run.claims] == ["helps below", "no harm above"]
    assert {claim.verdict for claim in run.claims} == {"undecided"}  # two seeds of 100 steps
    assert (run.path / "figure.png").stat().st_size > 10_000
    assert [mark.label for mark in run.figure().panels[0].marks if mark.label] == [
        "k = 2 × teacher order",
        "decay 0",
        "decay 0.001",
        "decay 0.1",
    ]


def test_a_wrong_value_is_one_sentence(file):
    with pytest.raises(UsageError, match=r"decay: received -1\.0, allowed is a number of at least"):
        find_experiment(str(file)).from_preset("quick", decay=-1.0)


def test_the_entry_point_on_the_page_puts_it_into_the_list(file, monkeypatch):
    block = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    group = re.search(r'entry-points\."(.*?)"', block)[1]
    name, value = re.search(r'^"(.*?)" = "(.*?)"', block, re.MULTILINE).groups()
    point = EntryPoint(name, value.replace("my_package.", ""), group)

    def entry_points(*, group):
        return [point] if group == point.group else []

    monkeypatch.setattr("tacit.reproduction._listing.entry_points", entry_points)
    monkeypatch.syspath_prepend(str(file.parent))
    last = list_experiments()[-1]
    assert (last.id, last.figure) == ("mine/weight-decay", "beside lowdim's Figure 1(a)")
    assert find_experiment("mine/weight-decay").id == name
