"""The command line: files, tables, JSON, exit codes, one-sentence errors."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli._app import run

OWN = '''
"""An experiment of a user's own."""
from dataclasses import dataclass

import numpy as np

from tacit.claims import claim_about_median
from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments import OUTCOME, Config, Experiment, Variable, parameter


@dataclass(frozen=True, kw_only=True)
class CoinConfig(Config):
    bias: tuple[float, ...] = parameter((0.5, 0.9), "chance of heads", low=0, high=1, swept=True)
    seed: tuple[int, ...] = parameter(tuple(range(8)), "seed", low=0, swept=True)
    throws: int = parameter(400, "throws", low=1, high=10_000)


class Coin(Experiment):
    id = "mine/coin"
    paper = "mine"
    figure = "Figure 1"
    summary = "a coin's share of heads"
    Config = CoinConfig
    presets = {"smoke": CoinConfig(seed=(0, 1)), "quick": CoinConfig(), "paper": CoinConfig()}
    batch_by = ("bias",)

    def variables(self, config):
        return {"outcome": OUTCOME, "heads": Variable((), "1", "share of heads")}

    def cell(self, batch, config):
        heads = [
            np.random.default_rng(seed).binomial(config.throws, batch.one("bias")) / config.throws
            for seed in batch.column("seed")
        ]
        return {"outcome": np.full(len(batch), "converged"), "heads": np.array(heads)}

    def claims(self, dataset, config):
        return [
            claim_about_median(
                dataset["heads"].sel(bias=bias).values,
                name=f"fair at {bias}",
                statement="heads come at least half of the time, nearly",
                place="nowhere",
                at_least=AT_LEAST,
            )
            for bias in config.bias
        ]

    def draw(self, dataset, config, claims):
        line = Line(np.array(config.bias), dataset["heads"].median("seed").values)
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
    assert json.loads((folder / "claims.json").read_text())["claims"] == record["claims"]
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "figure.svg").read_text()
    assert "fair at 0.5" in (tmp_path / "results" / "index.html").read_text()
    assert "holds" in done.stderr


def test_plotly_is_not_needed(own: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)  # as if it were not installed
    done = tacit("reproduce", "coin.py", "--preset", "smoke", cwd=tmp_path)
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


def test_an_unexpected_verdict_exits_with_1(tmp_path: Path):
    (tmp_path / "coin.py").write_text(OWN.replace("AT_LEAST", "0.7"))
    done = tacit("reproduce", "coin.py", "--results", "elsewhere", cwd=tmp_path)
    assert done.returncode == 1
    assert "not as expected" in done.stdout
    assert (tmp_path / "elsewhere" / "mine" / "coin" / "claims.json").exists()


def test_undecided_claims_exit_with_0_and_show_on_the_figure(own: Path, tmp_path: Path):
    done = tacit("reproduce", "coin.py", "--preset", "smoke", cwd=tmp_path)
    assert done.returncode == 0
    assert "undecided" in done.stdout
    drawing = (tmp_path / "results" / "mine" / "coin" / "figure.svg").read_text()
    assert "Undecided" in drawing


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
    (["reproduce"], "give ids or --all"),
    (["reproduce", "--all", "lowdim/fig1a"], "give ids or --all"),
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
    (["reproduce", "lowdim/fig1a", "--seeds", "many"], "many"),
    (["reproduce", "lowdim/fig1a", "--seeds", "3", "--set", "seed=1"], "one of the two"),
    (["reproduce", "lowdim/fig1a", "--colour"], "--colour"),
    (["list", "--every"], "--every"),
    (["list", "extra"], "extra"),
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
        assert words in shown.err
        assert shown.err.startswith("tacit: ")
        assert shown.err.strip().count("\n") == 0
    assert not any(tmp_path.iterdir())  # nothing was begun


def test_results_that_cannot_be_written(own: Path, tmp_path: Path):
    (tmp_path / "taken").write_text("a file")
    done = tacit("reproduce", "coin.py", "--results", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("tacit: results:")
    assert "Traceback" not in done.stderr


def test_another_version_is_refused_in_words(own: Path, tmp_path: Path):
    tacit("reproduce", "coin.py", cwd=tmp_path)
    own.write_text(
        own.read_text().replace('figure = "Figure 1"', 'figure = "Figure 1"\n    version = 2')
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
    table = tacit("list", cwd=tmp_path)
    assert "lowdim/fig1a" in table.stdout
    assert "not run yet" in table.stdout


def test_help_and_version(tmp_path: Path):
    assert "reproduce" in tacit("--help", cwd=tmp_path).stdout
    assert "--preset" in tacit("reproduce", "--help", cwd=tmp_path).stdout
    assert tacit("--version", cwd=tmp_path).stdout.startswith("tacit 0.")
