"""`tacit identify`, in this process."""

import json

import numpy as np
import pytest
from scipy.signal import lfilter

from tacit.cli import run
from tacit.estimators import LinearSystem


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    u = rng.normal(size=200)
    y = lfilter([0, 0.5], [1, -0.8], u) + 0.01 * rng.normal(size=200)
    path = tmp_path / "data.csv"
    lines = [f"{a!r},{b!r}" for a, b in zip(u.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(["force,place", *lines]) + "\n")
    return path


def test_a_system_is_written_and_told_in_json(table, tmp_path, capsys):
    model, report = tmp_path / "new" / "model.json", tmp_path / "report"
    arguments = ["identify", str(table), "--input", "force", "--output", "place", "--json"]
    arguments += ["-o", str(model), "--report", str(report), "--max-order", "2", "--step", "0.1"]
    assert run(arguments) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["order"] == 1
    assert told["poles"][0][0] == pytest.approx(0.8, abs=0.01)
    assert set(told["held_out"]) == {"tacit", "ARX", "OKID + ERA", "subspace"}
    system = LinearSystem.load(model)
    assert (system.step, system.input_names, system.output_names) == (0.1, ("force",), ("place",))
    assert "Simulation of held-out samples" in (report / "report.md").read_text()
    assert (report / "figure.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-u", "nothing", "-y", "place"], "has no column 'nothing'; it has force, place"),
        (["-u", "force", "-y", "place", "--held-out", "1"], "--held-out: received 1.0"),
        (["-u", "force", "-y", "place", "--record", "run"], "has no column 'run' that --record"),
        (["-u", "force", "-y", "place", "--order", "99"], "order: received 99"),
    ],
)
def test_wrong_use_is_one_sentence(table, arguments, words, capsys):
    assert run(["identify", str(table), *arguments]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert words in shown
    assert "Traceback" not in shown


def test_a_gap_is_named_by_its_line(table, capsys):
    lines = table.read_text().splitlines()
    lines[4] = "," + lines[4].split(",")[1]
    table.write_text("\n".join(lines) + "\n")
    assert run(["identify", str(table), "-u", "force", "-y", "place"]) == 2
    assert "'force' has no finite number in line 5" in " ".join(capsys.readouterr().err.split())
