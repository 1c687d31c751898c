"""What ends early has not succeeded: sys.exit, and errors in claims and figures."""

import json

import pytest

from tacit.reproduction._cell import ExperimentCell
from tacit.sweep import Batch
from tacit.sweep._task import Task


def lamp(tacit, name, *edits):
    text = (tacit.folder / "lamp.py").read_text().replace("mine/lamp", f"mine/{name}")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (tacit.folder / f"{name}.py").write_text(text)
    return f"{name}.py"


@pytest.mark.parametrize("call", ["sys.exit(0)", "raise GeneratorExit"])
def test_leaving_a_cell_is_a_failed_cell(tacit, call):
    file = lamp(tacit, "leaver", ("        time.sleep(self.pause)\n", f"        {call}\n"))
    (tacit.folder / file).write_text("import sys\n" + (tacit.folder / file).read_text())
    done = tacit("reproduce", file, "--preset", "smoke")
    assert done.returncode == 1
    assert "every batch failed" in done.stderr
    assert call.partition("(")[0].removeprefix("raise ").replace("sys.exit", "SystemExit") in (
        done.stderr
    )
    (row,) = json.loads(tacit("status", "--json").stdout)["stores"]
    assert (row["done"], row["failed"]) == (0, 4)


def test_leaving_in_a_worker_is_an_error_of_the_batch(tacit):
    file = lamp(
        tacit, "leaver", ("        time.sleep(self.pause)\n", "        raise SystemExit(0)\n")
    )
    cell = ExperimentCell(str(tacit.folder / file), 1, {"power": (1,), "seed": (0,)})
    with pytest.raises(RuntimeError, match=r"SystemExit\(0\)"):
        Task(cell, {}, None, {})(Batch(0, ({"power": 1, "seed": 0},)))


def test_leaving_at_the_import_is_a_file_that_cannot_be_loaded(tacit):
    file = lamp(
        tacit, "leaver", ("import numpy as np\n", "import numpy as np\nraise SystemExit(0)\n")
    )
    for command in ("reproduce", "status", "figure"):
        done = tacit(command, file)
        assert done.returncode == 2
        assert "leaver.py could not be loaded: SystemExit" in done.stderr


BROKEN = [
    ("        claim = Claims", "        1 / 0\n        claim = Claims", "ZeroDivisionError"),
    ("        claim = Claims", "        raise SystemExit(0)\n        claim = Claims", "SystemExit"),
    ("        return claim", "        return 3", "claims() gave 3"),
    ("        line = Line(", "        {}['no']\n        line = Line(", "KeyError"),
    ("        return Figure(", "        return 3\n        Figure(", "draw() returned 3"),
]


def test_one_that_breaks_does_not_stop_the_others(tacit):
    files = [lamp(tacit, f"broken{i}", (old, new)) for i, (old, new, _) in enumerate(BROKEN)]
    done = tacit("reproduce", *files, lamp(tacit, "fine"), "--preset", "smoke", "--json")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    *broken, fine = json.loads(done.stdout)["experiments"]
    for number, (record, (_, _, words)) in enumerate(zip(broken, BROKEN, strict=True)):
        assert words in record["error"]
        assert record["error"] in done.stderr
        if "Error" in words:
            assert f"broken{number}.py, line" in record["error"]
    assert fine["as_expected"] is True
    assert "mine-fine.html" in (tacit.folder / "results" / "index.html").read_text()


def test_alone_it_is_one_sentence_and_exit_1(tacit):
    broken = lamp(
        tacit, "broken", ("        claim = Claims", "        1 / 0\n        claim = Claims")
    )
    done = tacit("reproduce", broken, "--preset", "smoke")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "mine/broken: ZeroDivisionError: division by zero (broken.py, line " in done.stderr
    record = tacit.folder / "results" / "mine" / "broken" / "error.txt"
    assert str(record.relative_to(tacit.folder)) in done.stderr
    assert "Traceback" in record.read_text()
    assert len(tacit.parts()) == 1  # what was computed is kept
