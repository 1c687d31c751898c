"""A cell whose code has changed has another version, or its numbers are known to be the same."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tacit._version import __version__
from tacit.reproduction import experiment_ids, find_experiment, fingerprint
from tacit.reproduction._fingerprint import text_digest

KNOWN = json.loads((Path(__file__).parent / "cells.json").read_text())
COMMAND = "python tools/cells.py"


def words_on(kind, known):
    version, digest = known
    if kind.version == version and text_digest(kind) != digest:
        return (
            f"{kind.id}: the text that computes its cells has changed and its version has not: "
            f"raise it, or, if no number moves, write that down: {COMMAND}"
        )
    return "" if kind.version == version else f"{kind.id}: its version is new: {COMMAND}"


def test_each_cell_is_that_of_its_version():
    assert list(KNOWN) == sorted(experiment_ids()), COMMAND
    words = [words_on(find_experiment(name), known) for name, known in KNOWN.items()]
    assert not any(words), "\n".join(filter(None, words))


@pytest.fixture
def edited(monkeypatch):
    """The built-in fig3b with another text, as if its file had it."""
    from tacit.reproduction import _counted_text

    kind = find_experiment("lowdim/fig3b")

    def edit(old, new, home="lowdim/fig3b"):
        home = home.replace("/", ".")
        plain = _counted_text.source_of

        def source_of(space, file):
            text = plain(space, file).decode()
            if space["__name__"] == f"tacit.experiments.{home}":
                assert old in text
                text = text.replace(old, new)
            return text.encode()

        monkeypatch.setattr(_counted_text, "source_of", source_of)
        return kind

    return edit


def test_a_cell_that_was_edited_is_noticed(edited):
    kind = edited("def cell(self, batch", "def cell(self, batches")
    assert "raise it" in words_on(kind, KNOWN[kind.id])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def claims(self, runs", "def claims(self, the_runs"),
        ("def draw(self, runs", "def draw(self, the_runs"),
        ('"""', '""" '),
        ("\n\n\n", "\n\n# and more\n\n\n"),
    ],
)
def test_claims_figures_and_words_may_be_edited(edited, old, new):
    kind = edited(old, new)
    assert words_on(kind, KNOWN[kind.id]) == ""


def test_one_of_a_clone_is_told_by_its_text_and_one_installed_by_the_version(monkeypatch):
    kind = find_experiment("lowdim/fig3b")
    assert re.fullmatch(rf"tacit {__version__} code-2:[0-9a-f]{{32}}", fingerprint(kind))
    monkeypatch.setattr("tacit.reproduction._fingerprint.own_file", lambda name, home: None)
    assert fingerprint(kind) == f"tacit {__version__}"


@pytest.mark.parametrize("seed", ["1", "2"])
def test_none_is_refused_whatever_the_order_of_sets(seed):
    """In a process as users start it: bytecode, and no checker of types."""
    code = (
        "from tacit.reproduction import experiment_ids, find_experiment, fingerprint\n"
        "for name in experiment_ids():\n"
        "    assert fingerprint(find_experiment(name)), name\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
