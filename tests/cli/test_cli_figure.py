"""`tacit figure`: files of stored results, in our style and in the paper's."""

import json

import pytest

TABLES = """
    published = dict(seed=range(2))

    def tables(self, runs):
        return {"lamps.tex": f"{runs.sizes['seed']} lamps"}
"""


@pytest.fixture
def lamps(tacit):
    path = tacit.folder / "lamp.py"
    path.write_text(path.read_text() + TABLES)
    return tacit


@pytest.mark.drawn
def test_files_are_written_beside_the_results(lamps):
    assert lamps("reproduce", "lamp.py").returncode == 0
    folder = lamps.folder / "results" / "mine" / "lamp"
    before = (folder / "claims.json").read_bytes()
    lamps.log.unlink()
    done = lamps("figure", "lamp.py", "--style", "paper")
    assert done.returncode == 0, done.stderr
    names = ["figure-paper.png", "figure-paper.svg", "lamps.tex"]
    assert done.stdout.splitlines() == [f"results/mine/lamp/{name}" for name in names]
    assert (folder / "figure-paper.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "lamps.tex").read_text() == "2 lamps"
    assert not lamps.log.exists()  # nothing was computed
    assert (folder / "claims.json").read_bytes() == before


@pytest.mark.drawn
def test_our_own_style_is_what_reproduce_draws(lamps):
    lamps("reproduce", "lamp.py")
    drawn = (lamps.folder / "results" / "mine" / "lamp" / "figure.svg").read_bytes()
    done = lamps("figure", "lamp.py", "--into", "elsewhere", "--json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)["figures"]
    names = ["figure.png", "figure.svg", "lamps.tex"]
    assert record == {
        "experiment": "mine/lamp",
        "preset": "quick",
        "style": "ours",
        "files": [f"elsewhere/{name}" for name in names],
    }
    assert (lamps.folder / "elsewhere" / "figure.svg").read_bytes() == drawn
    assert (lamps.folder / "elsewhere" / "lamps.tex").read_text() == "4 lamps"


def test_parameters_are_those_of_the_run(lamps):
    assert lamps("reproduce", "lamp.py", "--seeds", "100..102").returncode == 0
    done = lamps("figure", "lamp.py")
    assert done.returncode == 2
    assert "mine/lamp: 16 of 16 cells of quick are not stored" in done.stderr
    assert "tacit reproduce mine/lamp" in done.stderr
    done = lamps("figure", "lamp.py", "--seeds", "100..102", "--set", "power=1..3")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["lamp.py"], "are not stored"),
        (["lamp.py", "--style", "papers"], "--style: received 'papers', did you mean 'paper'"),
        (["lamp.py", "--seeds", "two"], "seeds: received 'two', allowed is an integer N"),
        (["lamp.py", "--preset", "quik"], "did you mean 'quick'"),
        (["lamp.py", "depth/fig1", "--into", "here"], "--into: received 'here' for 2 experiments"),
        (["mine/lam"], "experiment: 'mine/lam' is not known"),
        ([], "Missing argument"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(lamps, options, words):
    done = lamps("figure", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""
