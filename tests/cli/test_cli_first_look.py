"""What one looks at before a run: the list, an experiment, a plan, a template, the data sets."""

import json

import pytest

from tacit.cli._console import hung
from tacit.reproduction import list_experiments


def test_the_list_is_a_line_each_and_takes_a_paper_or_a_word(tacit):
    lines = tacit("list", "depth").stdout.splitlines()
    known = [entry.id for entry in list_experiments() if entry.group == "depth"]
    assert [line.split()[0] for line in lines[1:]] == known
    found = json.loads(tacit("list", "gru", "--json").stdout)["experiments"]
    assert {row["id"] for row in found} == {"lowdim/fig2a", "lowdim/fig2b"}
    done = tacit("list", "dpeth")
    assert done.returncode == 2
    assert "no experiment has 'dpeth' in its line, did you mean 'depth'?" in done.stderr


def test_on_a_terminal_the_list_fits(tacit, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = tacit("list").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("…") for line in lines)
    assert lines[0].endswith("  what it compares")  # the subject has half of the line
    assert lines[0].index("what it compares") <= 42
    assert any("GPU CIFAR  " in line for line in lines)


def test_the_commands_are_told_in_one_line_each(tacit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = tacit("--help").stdout
    assert "..." not in text.partition("Commands:")[2]
    assert "[ID]...\n" in tacit("reproduce", "--help").stdout


def test_show_has_parameters_of_every_preset_claims_and_needs(tacit):
    text = tacit("show", "kernel/fig4").stdout
    assert "minutes   quick 0.6, paper 7.5, paper on a GPU" in text
    assert "data      m1" in text
    record = json.loads(tacit("show", "lowdim/fig1a", "--json").stdout)
    (length,) = [p for p in record["parameters"] if p["name"] == "length"]
    assert length["values"]["smoke"] == "9, …, 12"
    assert length["allowed"] == "an integer from 1 to 200"
    assert len(record["claims"]) > 20
    own = tacit("show", "lamp.py").stdout
    assert "power: power [W] (swept, an integer of at least 1)" in own
    assert "smoke: 1 · quick, paper: 1, …, 4" in own
    assert "Claims: known after a run" in own


def test_a_dry_run_counts_and_computes_nothing(tacit):
    first = tacit("reproduce", "lamp.py", "--dry-run")
    assert first.returncode == 0
    assert "mine/lamp at quick: 16 cells in 4 batches, 0 stored" in first.stdout
    assert not (tacit.folder / "results").exists()
    assert tacit("reproduce", "lamp.py", "--preset", "smoke").returncode == 0
    assert "16 cells in 4 batches, 4 stored" in tacit("reproduce", "lamp.py", "--dry-run").stdout
    rows = json.loads(tacit("reproduce", "regimes", "--dry-run", "--json").stdout)["dry_run"]
    known = [entry.id for entry in list_experiments() if entry.group == "regimes"]
    assert [row["experiment"] for row in rows] == known


def test_a_preset_does_not_replace_another(tacit):
    folder = tacit.folder / "results" / "mine" / "lamp"
    for preset in ("smoke", "quick", "quick"):
        assert tacit("reproduce", "lamp.py", "--preset", preset).returncode == 0
    assert json.loads((folder / "claims.json").read_text())["preset"] == "quick"
    kept = folder / "presets" / "smoke"
    assert json.loads((kept / "claims.json").read_text())["preset"] == "smoke"
    assert (kept / "figure.png").is_file()
    assert not (folder / "presets" / "quick").exists()


def test_batches_are_lines_and_reasons_are_told(tacit):
    file = tacit.folder / "lamp.py"
    text = file.read_text().replace("at_least=0)", "at_least=9, fails_because='glass is thin')")
    file.write_text(text)
    done = tacit("reproduce", "lamp.py")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("  batch 3/4  ")] != []
    assert "  expected to fail: burns: glass is thin" in lines


def test_a_sentence_hangs_on_a_terminal_and_is_whole_when_piped():
    words = "well-conditioned teachers " * 6
    lines = hung(words, 40).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines] == [2] + [4] * (len(lines) - 1)
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == words.strip()
    assert hung(words, None) == f"  {words}"


def test_a_new_file_runs_as_it_is(tacit):
    assert tacit("new", "my_idea.py").returncode == 0
    done = tacit("reproduce", "my_idea.py", "--preset", "smoke", "--json")
    assert done.returncode == 3, done.stderr  # two seeds decide nothing
    record = json.loads(done.stdout.splitlines()[-1])
    assert record["experiment"] == "mine/my-idea"
    assert [claim["name"] for claim in record["claims"]] == ["a larger rate helps"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new", "my idea.py"], "give a file whose name Python can import"),
        (["new", "lamp.py"], "is there already; --force writes over it"),
        (["data", "fetch", "mnist"], "'mnist' is not known"),
        (["show", "lowdim/fig1"], "did you mean"),
    ],
)
def test_wrong_use_is_a_sentence(tacit, arguments, words):
    done = tacit(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_data_sets_are_listed_with_their_place(tacit, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tacit.folder))
    lines = tacit("data", "list").stdout.splitlines()
    assert lines[0] == f"m1_flint_run1     not in {tacit.folder}/m1_flint_run1"
    assert len(lines) >= 6
    (row,) = json.loads(tacit("data", "list", "m1", "--json").stdout)["data"]
    assert row["name"] == "m1_flint_run1"


def test_the_shell_completes_ids():
    from tacit.cli._options import known_ids

    assert known_ids("kernel/fi") == [f"kernel/fig{n}" for n in (1, 2, 3, 4)]
    assert known_ids("low")[0] == "lowdim"
