"""`tacit complete`, in this process."""

import json

import numpy as np
import pytest

from tacit.cli import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    full = np.outer(rng.normal(size=8), rng.normal(size=6))
    lines = ["id,a,b,c,d,e,f"]
    for number, row in enumerate(full):
        cells = ["" if rng.random() < 0.2 or number == 5 else repr(float(x)) for x in row]
        lines.append(",".join([f"r{number}", *cells]))
    path = tmp_path / "m.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_table_is_filled_and_told_in_json(table, tmp_path, capsys):
    out, report = tmp_path / "new" / "full.csv", tmp_path / "report"
    arguments = ["complete", str(table), "-o", str(out), "--report", str(report), "--json"]
    assert run([*arguments, "--depth", "2", "--decay", "0.1", "--seed", "3"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["depth"], told["weight_decay"], told["undetermined"]) == (2, 0.1, 6)
    assert told["undetermined_entries"][0] == ["r5", "a"]
    lines = out.read_text().splitlines()
    assert lines[0] == "id,a,b,c,d,e,f"
    assert lines[6] == "r5,,,,,,"
    assert all("" not in line.split(",") for line in lines[1:6] + lines[7:])
    assert {path.name for path in report.iterdir()} == {
        "report.md", "figure.png", "undetermined.csv",
    }  # fmt: skip
    assert (report / "undetermined.csv").read_text().splitlines()[1] == "r5,a"


def test_all_is_filled_on_request_and_told_in_words(table, tmp_path, capsys):
    out = tmp_path / "full.csv"
    options = ["--fill-all", "--depth", "2", "--decay", "0.1"]
    assert run(["complete", str(table), "-o", str(out), *options]) == 0
    assert "" not in out.read_text().splitlines()[6].split(",")
    assert "filled by means, since no method can determine them: r5 × a" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.csv"], "is not a file"),
        (["{table}", "--depth", "1"], "depth: received 1"),
        (["{table}", "--depth", "x"], "allowed is an integer"),
        (["{table}", "--decay", "x"], "allowed is a number"),
        (["{table}", "--form", "round"], "form: received 'round'"),
        (["{table}", "--seed", "-1"], "--seed: received -1"),
        (["{table}", "-o", "."], "is a folder"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(table, capsys, arguments, words):
    assert run(["complete", *[word.format(table=table) for word in arguments]]) == 2
    sentence = capsys.readouterr().err
    assert words in sentence
    assert len(sentence.splitlines()) == 1


def test_numbers_that_name_rows_are_said_in_one_line_and_can_be_taken_for_data(tmp_path, capsys):
    rng = np.random.default_rng(0)
    full = np.outer(rng.normal(size=12), rng.normal(size=3))
    lines = ["id,a,b,c"]
    for number, row in enumerate(full):
        cells = ["" if rng.random() < 0.2 else repr(float(x)) for x in row]
        lines.append(",".join([f"{number:03d}", *cells]))
    table, out = tmp_path / "ids.csv", tmp_path / "full.csv"
    table.write_text("\n".join(lines) + "\n")
    command = ["complete", str(table), "-o", str(out), "--depth", "2", "--decay", "0.1"]
    assert run(command) == 0
    told = capsys.readouterr().out.splitlines()[0]
    assert told.startswith("column 'id' is taken for the names of the rows")
    assert told.endswith("--no-names takes it for data.")
    assert [line[:4] for line in out.read_text().splitlines()[1:3]] == ["000,", "001,"]
    assert run([*command, "--no-names", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["shape"], told["remark"]) == ([12, 4], "")
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["shape"] == [12, 3]
    assert "leading zeros, as in 000" in told["remark"]
