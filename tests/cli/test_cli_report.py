"""`tacit report`, what `reproduce` and `verify` leave for it, and figures for papers."""

import json

import pytest


@pytest.fixture
def lamps(tacit):
    """Two experiments, run one after the other."""
    text = (tacit.folder / "lamp.py").read_text()
    (tacit.folder / "other.py").write_text(text.replace("mine/lamp", "mine/other"))
    done = tacit("reproduce", "lamp.py", "other.py", "--seeds", "5", "--set", "power=1,3")
    assert done.returncode == 0, done.stderr
    return tacit


def test_a_report_is_written_again_from_what_is_stored(lamps, monkeypatch):
    folder = lamps.folder / "results"
    names = {path.name for path in (folder / "report").glob("*.html")}
    assert names == {"claims.html", "mine-lamp.html", "mine-other.html"}
    page = (folder / "report" / "mine-lamp.html").read_text()
    command = "tacit reproduce lamp.py:Lamp --preset quick --set power=1,3 --seeds 0..4"
    assert command in page
    lamps.log.unlink()
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = lamps("report", "--open", "--into", "elsewhere", "--against", "results", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"page": "elsewhere/index.html", "skipped": []}
    assert opened == [(lamps.folder / "elsewhere" / "index.html").as_uri()]
    assert (lamps.folder / "elsewhere" / "report" / "mine-lamp.html").read_text() != page
    assert (lamps.folder / "elsewhere" / "report" / "compare.html").is_file()
    assert not lamps.log.exists()  # nothing was computed


def test_without_its_page_a_file_of_ones_own_shows_the_figure_that_is_there(lamps):
    folder = lamps.folder / "results" / "mine" / "lamp"
    (folder / "page.json").unlink()
    (lamps.folder / "results" / "mine" / "bad").mkdir()
    (lamps.folder / "results" / "mine" / "bad" / "claims.json").write_text("{")
    done = lamps("report")
    assert done.returncode == 0
    assert done.stdout == "results/index.html\n"
    assert "skipped results/mine/bad/claims.json: " in done.stderr
    page = (lamps.folder / "results" / "report" / "mine-lamp.html").read_text()
    assert "figures/mine-lamp.svg" in page  # the figure's own file is all that is left of it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--results", "none"], "results: 'none' is no folder; run an experiment first"),
        (["--results", ".", "--against", "none"], "--against: 'none' is no folder"),
        (["--results", ".", "--into", "lamp.py"], "report: it cannot be written"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(tacit, options, words):
    done = tacit("report", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""


@pytest.mark.drawn
def test_figures_for_papers(lamps):
    options = ["--seeds", "5", "--set", "power=1,3", "--into", "out"]
    done = lamps("figure", "lamp.py", *options, "--format", "pdf", "--panel", "a")
    assert done.stdout.splitlines() == ["out/figure-a.pdf"], done.stderr
    assert (lamps.folder / "out" / "figure-a.pdf").read_bytes().startswith(b"%PDF")
    done = lamps("figure", "lamp.py", *options, "--format", "png", "--size", "single")
    assert done.stdout.splitlines() == ["out/figure-single.png"], done.stderr
    data = (lamps.folder / "out" / "figure-single.png").read_bytes()
    assert int.from_bytes(data[16:20]) == round(3.4 * 160)
    for wrong, words in (
        (["--format", "gif"], "--format: received 'gif'"),
        (["--size", "singel"], "--size: received 'singel', did you mean 'single'"),
        (["--panel", "b"], "--panel: received 'b', this figure has a"),
    ):
        done = lamps("figure", "lamp.py", *options, *wrong)
        assert done.returncode == 2
        assert words in done.stderr
