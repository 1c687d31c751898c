"""A cell of one's own that raises: its line, its record, no second try; --pdb, --profile."""

import json
import pdb
from pathlib import Path

import pytest

SMOKE = ("reproduce", "lamp.py", "--preset", "smoke")


def broken(tacit, line):
    """The line of the experiment's file at which its cell now raises."""
    path = tacit.folder / "lamp.py"
    text = path.read_text().replace("        time.sleep(self.pause)\n", f"        {line}\n")
    path.write_text(text)
    return text.splitlines().index(f"        {line}") + 1


@pytest.mark.parametrize(
    ("line", "words", "tries"),
    [
        ("{}[self.pause]", "KeyError", 0),  # the same code raises it again
        ("raise OSError('busy')", "OSError: busy", 1),
    ],
)
def test_a_failed_cell_shows_its_line_and_its_record(tacit, line, words, tries):
    number = broken(tacit, line)
    done = tacit(*SMOKE)
    assert done.returncode == 1
    assert words in done.stderr
    assert f"(lamp.py, line {number}: {line})" in done.stderr
    record = done.stderr.partition("the traceback is in ")[2].split()[0].rstrip(";")
    assert f"line {number}, in cell" in Path(record).read_text()
    assert done.stderr.count("it is tried again") == tries
    assert "Traceback" not in done.stderr


def test_pdb_opens_where_the_cell_raised(tacit, monkeypatch):
    number = broken(tacit, "1 / 0")
    seen = []

    def look(trace):
        while trace.tb_next is not None:
            trace = trace.tb_next
        seen.append(trace.tb_lineno)

    monkeypatch.setattr(pdb, "post_mortem", look)
    done = tacit(*SMOKE, "--pdb")
    assert seen == [number]
    assert done.returncode == 130
    assert "ZeroDivisionError" in done.stderr
    assert "0 of 4 cells of mine/lamp are stored" in done.stderr
    refused = tacit(*SMOKE, "--pdb", "--workers", "2")
    assert refused.returncode == 2
    assert "--pdb: received with --workers" in refused.stderr


def test_profile_tells_where_the_time_went(tacit):
    done = tacit(*SMOKE, "--profile", "--json")
    profile = json.loads(done.stdout)["profile"]
    assert profile["running"] > 0
    assert profile["storing"] > 0
    assert profile["drawing"] > 0
    words = " ".join(done.stderr.split())
    assert "tracing 0.0 s, compiling 0.0 s (0 programs), running" in words
    refused = tacit(*SMOKE, "--profile", "--workers", "2")
    assert refused.returncode == 2
    assert "--profile: received with --workers" in refused.stderr
