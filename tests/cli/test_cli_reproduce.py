"""The command line: files, tables, JSON, exit codes, one-sentence errors."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli import run
from tacit.reproduction import list_experiments

OWN = '''
"""An experiment of a user's own."""
import numpy as np

from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments import Claims, Experiment, Variable, fixed, swept


class Coin(Experiment):
    """A coin's share of heads."""

    id, figure = "mine/coin", "Figure 1"

    bias: tuple[float, ...] = swept((0.5, 0.9), "chance of heads", low=0, high=1)
    seed: tuple[int, ...] = swept(range(8), "seed", low=0)
    throws: int = fixed(400, "throws", low=1, high=10_000)

    presets = {"smoke": dict(seed=range(2)), "quick": {}, "paper": {}}
    batch_by = "bias"

    def variables(self):
        return {"heads": Variable("share of heads")}

    def cell(self, batch):
        heads = [
            np.random.default_rng(seed).binomial(self.throws, batch.one("bias")) / self.throws
            for seed in batch.column("seed")
        ]
        return {"heads": np.array(heads)}

    def claims(self, runs):
        claim = Claims("nowhere")
        for bias in self.bias:
            claim.median(
                f"fair at {bias}",
                runs["heads"].sel(bias=bias),
                says="heads come at least half of the time, nearly",
                at_least=AT_LEAST,
            )
        return claim

    def draw(self, runs):
        line = Line(np.array(self.bias), runs["heads"].median("seed").values)
        return Figure("heads", [Panel("heads", Axis("bias"), Axis("share"), [line])])
'''


def outside(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tacit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200"},
    )


def tacit(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has imported everything already."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.chdir(cwd)
        patch.setenv("COLUMNS", "200")
        code = run(arguments)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file with an experiment whose claims hold."""
    path = tmp_path / "coin.py"
    path.write_text(OWN.replace("AT_LEAST", "0.4"))
    return path


def test_an_experiment_of_ones_own_end_to_end(own: Path, tmp_path: Path):
    done = outside("reproduce", "coin.py", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1  # the object alone; the table went to standard error
    record = json.loads(done.stdout)
    assert {"experiment", "preset", "claims", "outcomes", "seconds"} <= record.keys()
    assert record["experiment"] == "mine/coin"
    assert record["preset"] == "quick"
    assert record["outcomes"] == {"converged": 16}
    for claim in record["claims"]:
        assert {
            "name", "statement", "measured", "bound", "expected", "verdict", "because"
        } <= claim.keys()  # fmt: skip
        assert claim["verdict"] == "holds"
    folder = tmp_path / "results" / "mine" / "coin"
    costs = {name: record.pop(name) for name in ("seconds", "efforts")}
    assert json.loads((folder / "claims.json").read_text()) == record
    assert json.loads((folder / "run.json").read_text()) == costs
    assert costs["efforts"] == {}
    assert record["verdicts"] == {"holds": 2, "fails": 0, "undecided": 0, "at the bound": 0}
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "figure.svg").read_text()
    assert "1 s" in (tmp_path / "results" / "index.html").read_text()
    page = (tmp_path / "results" / "report" / "mine-coin.html").read_text()
    assert "fair at 0.5" in page
    assert "holds" in done.stderr


def test_programs_of_one_experiment_are_let_go_before_the_next(own: Path, tmp_path: Path):
    import jax

    (tmp_path / "other.py").write_text(own.read_text().replace("mine/coin", "mine/other"))
    freed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "clear_caches", lambda: freed.append(True))
        done = tacit("reproduce", "coin.py", "other.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(freed) == 1  # between the two; after the last, the process ends anyway


@pytest.mark.drawn
def test_plotly_is_not_needed(own: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)  # as if it were not installed
    done = tacit("reproduce", "coin.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "mine" / "coin"
    assert {"figure.png", "figure.svg"} <= {path.name for path in folder.iterdir()}


def test_stored_cells_are_not_computed_again(own: Path, tmp_path: Path):
    tacit("reproduce", "coin.py", cwd=tmp_path)
    again = tacit("reproduce", "coin.py", cwd=tmp_path)
    assert "2 of 2 batches were stored already" in again.stdout.replace("\n", " ")
    more = tacit("reproduce", "coin.py", "--set", "bias=0.5,0.9,0.7", cwd=tmp_path)
    assert "2 of 3 batches were stored already" in more.stdout.replace("\n", " ")
    fresh = tacit("reproduce", "coin.py", "--fresh", cwd=tmp_path)
    assert "stored already" not in fresh.stdout
    assert (tmp_path / "results" / "mine" / "coin" / "store.old-1").is_dir()


def test_values_that_no_claim_reads_are_said(own: Path, tmp_path: Path):
    own.write_text(own.read_text().replace("in self.bias:", "in (0.5, 0.9):"))
    options = ["reproduce", "coin.py", "--set", "bias=0.5,0.9,0.7", "--seeds", "100..107"]
    done = tacit(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  no claim reads bias = 0.7\n" in done.stdout
    record = json.loads(tacit(*options, "--json", cwd=tmp_path).stdout)
    assert record["remarks"] == ["no claim reads bias = 0.7"]
    assert record["parameters"]["seed"] == "100, …, 107"
    assert record["as_expected"] is True


def test_an_experiment_without_claims_is_neither_as_expected_nor_undecided(
    own: Path, tmp_path: Path
):
    own.write_text(own.read_text().replace("in self.bias:", "in ():"))
    done = tacit("reproduce", "coin.py", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["as_expected"] is None
    (tmp_path / "other.py").write_text(own.read_text().replace("mine/coin", "mine/other"))
    both = tacit("reproduce", "coin.py", "other.py", "--json", cwd=tmp_path)
    assert both.returncode == 0, both.stderr
    assert json.loads(both.stdout)["as_expected"] is None


def test_compare_tells_what_moved_and_exits_with_1(own: Path, tmp_path: Path):
    asked = ("reproduce", "coin.py", "--compare")
    done = tacit(*asked, cwd=tmp_path)
    assert done.returncode == 0
    assert "there is no reference for mine/coin at quick" in done.stdout
    (tmp_path / "reference").mkdir()
    reference = tmp_path / "reference" / "coin.quick.json"
    reference.write_bytes((tmp_path / "results/mine/coin/claims.json").read_bytes())
    done = tacit(*asked, cwd=tmp_path)
    assert done.returncode == 0
    assert "nothing moved against the reference" in done.stdout

    own.write_text(own.read_text().replace('batch.one("bias"))', '0.99 * batch.one("bias"))'))
    done = tacit(*asked, "--fresh", cwd=tmp_path)
    assert done.returncode == 1
    assert "moved: heads (digest): " in done.stdout
    moved = json.loads(tacit(*asked, "--json", cwd=tmp_path).stdout)["moved"]
    assert {"digest", "measured"} <= {movement["kind"] for movement in moved}
    assert all(set(movement) == {"name", "kind", "sentence"} for movement in moved)

    done = tacit(*asked, "--json", "--set", "throws=300", cwd=tmp_path)
    record = json.loads(done.stdout)
    assert done.returncode == 0
    assert record["moved"] is None
    assert "throws differs from the preset quick" in record["not_compared"]


def test_an_unexpected_verdict_exits_with_1(tmp_path: Path):
    (tmp_path / "coin.py").write_text(OWN.replace("AT_LEAST", "0.7"))
    done = tacit("reproduce", "coin.py", "--results", "elsewhere", cwd=tmp_path)
    assert done.returncode == 1
    assert "not as expected" in done.stdout
    assert (tmp_path / "elsewhere" / "mine" / "coin" / "claims.json").exists()


@pytest.mark.drawn
def test_undecided_claims_exit_with_3_and_show_on_the_figure(own: Path, tmp_path: Path):
    done = tacit("reproduce", "coin.py", "--preset", "smoke", cwd=tmp_path)
    assert done.returncode == 3
    assert "undecided" in done.stdout
    drawing = (tmp_path / "results" / "mine" / "coin" / "figure.svg").read_text()
    assert "Undecided" in drawing


def test_until_decided_adds_seeds_and_exits_with_0(own: Path, tmp_path: Path):
    options = ["coin.py", "--preset", "smoke", "--until-decided", "--budget", "60s"]
    done = tacit("reproduce", *options, "--seeds-at-most", "40", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["as_expected"] is True
    assert all(claim["samples"] >= 7 for claim in record["claims"])


def test_an_undecided_claim_says_what_it_would_take(own: Path, tmp_path: Path):
    options = ["--preset", "smoke", "--set", "seed=0:4"]
    done = tacit("reproduce", "coin.py", *options, cwd=tmp_path)
    words = " ".join(done.stdout.split())
    assert re.search(
        r"undecided: fair at 0.9: about \d+ more seeds, 1 s \(--until-decided\)", words
    )
    page = (tmp_path / "results" / "report" / "claims.html").read_text()
    assert re.search(r"about \d+ more seeds", page)


def test_a_failing_cell_is_a_sentence_and_exit_1(tmp_path: Path):
    broken = OWN.replace("AT_LEAST", "0.4").replace(
        "heads = [", "raise ArithmeticError('boom')\n        heads = ["
    )
    (tmp_path / "coin.py").write_text(broken)
    done = tacit("reproduce", "coin.py", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "ArithmeticError: boom" in done.stderr
    assert "Traceback" not in done.stderr
    assert "boom" in json.loads(done.stdout)["error"]


WRONG = [
    ([], None),
    (["nonsense"], "nonsense"),
    (["reproduce"], "give ids, papers or files, or else --all"),
    (["reproduce", "--all", "lowdim/fig1a"], "give ids, papers or files, or else --all"),
    (["reproduce", "lowdim/fig1"], "did you mean 'lowdim/fig1a'"),
    (["reproduce", "nothing.py"], "no file 'nothing.py'"),
    (["reproduce", "lowdim/fig1a", "--preset", "quik"], "did you mean 'quick'"),
    (["reproduce", "lowdim/fig1a", "--set", "widht=3"], "did you mean 'width'"),
    (["reproduce", "lowdim/fig1a", "--set", "width=1"], "from 2 to 2000"),
    (["reproduce", "lowdim/fig1a", "--set", "width=wide"], "allowed is an integer"),
    (["reproduce", "lowdim/fig1a", "--set", "width"], "name=value"),
    (["reproduce", "lowdim/fig1a", "--set", "teacher=even,odd"], "'odd'"),
    (["reproduce", "lowdim/fig1a", "--set", "horizons=10"], "must exceed the largest length"),
    (["reproduce", "lowdim/fig1a", "--set", "steps=1,2"], "takes one value"),
    (["reproduce", "lowdim/fig1a", "--seeds", "0"], "from 1 to"),
    (["reproduce", "lowdim/fig1a", "--budget", "soon"], "the form is 90s, 30m or 2h"),
    (["reproduce", "lowdim/fig1a", "--budget", "-5m"], "the form is 90s, 30m or 2h"),
    (["reproduce", "lowdim/fig1a", "--seeds-at-most", "0"], "--seeds-at-most: received 0"),
    (["reproduce", "lowdim/fig1a", "--seeds-at-most", "few"], "allowed is an integer"),
    (["reproduce", "lowdim/fig1a", "--seeds", "many"], "received 'many', allowed is an integer N"),
    (["reproduce", "lowdim/fig1a", "--seeds", "9..3"], "it must go upwards"),
    (["reproduce", "lowdim/fig1a", "--seeds", "3", "--set", "seed=1"], "one of the two"),
    (["reproduce", "lowdim/fig1a", "--colour"], "--colour"),
    (["list", "--every"], "--every"),
    (["list", "lowdim", "extra"], "extra"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_use_is_one_sentence_and_exit_2(
    arguments, words, tmp_path: Path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_RESULTS", raising=False)
    code = run(arguments)
    shown = capsys.readouterr()
    assert code == 2
    if words is None:  # no command at all: the help
        assert "Usage" in shown.out + shown.err
    else:
        assert shown.out == ""  # no heading before the refusal
        assert words in shown.err
        assert shown.err.startswith("tacit: ")
        assert shown.err.strip().count("\n") == 0
    assert not any(tmp_path.iterdir())  # nothing was begun


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("def variables(self): return {'throws': Variable('throws')}", "['throws'] are used twice"),
        ("def variables(self): return {'heads': 'share'}", "give a Variable"),
        ("def variables(self): return None", "variables() returned None"),
        ("def claims(self, runs): return None", "claims() gave None"),
        (
            "def claims(self, runs): return [*Coin.claims(self, runs)] * 2",
            "two claims have one name",
        ),
        ("def draw(self, runs): return None", "draw() returned None"),
        ("presets = {'quick': dict(throws=0)}", "Mine.presets['quick']: throws: received 0"),
        ("throws: float = fixed(1, 'throws')", "write 1.0"),
    ],
)
def test_a_wrong_experiment_is_one_sentence_and_exit_2(own: Path, tmp_path: Path, line, words):
    own.write_text(f"{own.read_text()}\n\nclass Mine(Coin):\n    id = 'mine/own'\n    {line}\n")
    done = tacit("reproduce", "coin.py:Mine", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.startswith("tacit: ")
    assert done.stderr.strip().count("\n") == 0


def test_results_that_cannot_be_written(own: Path, tmp_path: Path):
    (tmp_path / "taken").write_text("a file")
    done = tacit("reproduce", "coin.py", "--results", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("tacit: results:")
    assert "Traceback" not in done.stderr


def test_another_version_is_refused_in_words(own: Path, tmp_path: Path):
    tacit("reproduce", "coin.py", cwd=tmp_path)
    own.write_text(
        own.read_text().replace('batch_by = "bias"', 'batch_by = "bias"\n    version = 2')
    )
    done = tacit("reproduce", "coin.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "version" in done.stderr
    assert "--fresh" in done.stderr


def test_list_and_the_environment_variable(own: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TACIT_RESULTS", str(tmp_path / "kept"))
    done = tacit("reproduce", "coin.py", "--preset", "smoke", cwd=tmp_path)
    assert (tmp_path / "kept" / "mine" / "coin" / "claims.json").exists(), done.stderr
    shown = tacit("list", "--json", cwd=tmp_path)
    rows = json.loads(shown.stdout)["experiments"]
    assert rows[0]["id"] == "lowdim/fig1a"
    assert rows[0]["figure"] == "Figure 1(a)"
    assert rows[0]["last"] is None
    assert rows[0]["paper"] == "lowdim"
    first = list_experiments()[0]
    assert rows[0]["needs"] == {
        "quick_minutes": first.quick, "paper_minutes": first.paper,
        "paper_on_gpu": False, "data": None,
    }  # fmt: skip
    needs = {row["id"]: row["needs"] for row in rows}
    assert needs["kernel/fig4"]["data"] == "m1"
    assert needs["kernel/fig4"]["paper_on_gpu"]
    table = tacit("list", cwd=tmp_path)
    assert "lowdim/fig1a" in table.stdout
    assert f"{first.quick:g}/{first.paper:g} min" in table.stdout
    assert re.search(r"[\d.]+/[\d.]+ min +GPU", table.stdout)
    assert re.search(r"[\d.]+/\? min", table.stdout)  # one that was never timed
    assert "GPU m1" in table.stdout
    assert "not run yet" in table.stdout


def test_list_shows_what_the_last_run_said(tmp_path: Path):
    folder = tmp_path / "results" / "memoryless" / "fig4"
    folder.mkdir(parents=True)
    verdicts = ["holds", "holds", "undecided"]
    last = {"preset": "smoke", "as_expected": None, "claims": [{"verdict": v} for v in verdicts]}
    (folder / "claims.json").write_text(json.dumps(last))
    rows = json.loads(tacit("list", "--json", cwd=tmp_path).stdout)["experiments"]
    (row,) = [row for row in rows if row["id"] == "memoryless/fig4"]
    assert row["last"] == {
        "preset": "smoke", "as_expected": None, "holds": 2, "fails": 0, "undecided": 1,
        "at the bound": 0,
    }  # fmt: skip
    assert "smoke: undecided (2 holds, 1 undecided)" in tacit("list", cwd=tmp_path).stdout


def test_help_and_version(tmp_path: Path):
    assert "reproduce" in tacit("--help", cwd=tmp_path).stdout
    assert "--preset" in tacit("reproduce", "--help", cwd=tmp_path).stdout
    assert tacit("--version", cwd=tmp_path).stdout.startswith("tacit 0.")
