"""README: what it says of runs is made from them, and its first commands end as it says."""

import importlib.util
import re
import shlex
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tacit.cli import run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_WORDS = 900


def _tool():
    loader = SourceFileLoader("findings", str(ROOT / "tools" / "findings"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("findings", loader))
    loader.exec_module(module)
    return module


def test_what_it_says_of_runs_is_made_from_the_committed_ones():
    assert _tool().readme(TEXT) == TEXT, "write it again: .venv/bin/python tools/findings"


def test_it_is_short():
    assert len(TEXT.split()) <= MOST_WORDS


def test_no_number_of_a_run_is_typed():
    rest = re.sub(r"<!-- [a-z]+.*?<!-- end -->", "", TEXT, flags=re.DOTALL)
    rest = re.sub(r"```.*?```|`[^`]*`|\(docs/[^)]*\)", "", rest, flags=re.DOTALL)
    found = re.findall(r"\d+(?:\.\d+)+|\d+ ?[%×]|\d{2,}", rest)
    assert set(found) <= {"3.11", "2.0"}  # of Python, and of the licence


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.mark.bits
def test_its_first_commands_end_well_and_leave_its_picture(results, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TACIT_RESULTS", str(results))
    block = re.search(r"```sh\n(.*?)```", TEXT, re.DOTALL)[1]
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    commands = [words[1:] for words in lines if words and words[0] == "tacit"]
    assert [words[0] for words in commands[:3]] == ["reproduce", "reproduce", "verify"]
    for words in commands[:3]:
        assert run(words) == 0, capsys.readouterr().err
    shown = "reproduce", "lowdim/threshold"
    assert tuple(commands[0]) == shown
    figure = ["figure", "lowdim/threshold", "--panel", "a", "--format", "png"]
    assert run([*figure, "--preset", "quick", "--into", str(tmp_path)]) == 0
    (made,) = tmp_path.glob("*.png")
    now, then = imread(made), imread(ROOT / "docs/pictures/lowdim-threshold.png")
    again = "take it again: tacit figure lowdim/threshold --panel a --into docs/pictures"
    assert now.shape == then.shape, again
    assert np.abs(now - then).mean() < 0.01, again
