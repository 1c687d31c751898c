"""The report's page: all claims are on it, nothing is fetched, nothing is trusted."""

import json
import re
from html.parser import HTMLParser

import pytest

from tacit.site import read_entries, write_index

VOID = {"meta", "img", "br", "link", "input", "hr"}


def claim(**changes):
    made = {
        "name": "rank",
        "statement": "the rank stays at most r",
        "place": "Theorem 2",
        "measured": 0.93456,
        "low": 0.91,
        "high": 0.95,
        "relation": "<=",
        "bound": 1.5,
        "expected": "holds",
        "verdict": "holds",
        "because": None,
        "samples": 9,
    }
    return made | changes


def entry(experiment="lowdim/fig1a", **changes):
    made = {
        "experiment": experiment,
        "title": "Low rank",
        "paper": "A paper",
        "figure": "Figure 1(a)",
        "preset": "quick",
        "claims": [claim()],
        "outcomes": {"converged": 12, "stopped": 3},
        "seconds": 12.34,
        "as_expected": True,
    }
    return made | changes


def store(folder, made):
    """What a run leaves: its claims, and the seconds that it took in a file of their own."""
    place = folder / made["experiment"]
    place.mkdir(parents=True)
    claims = {name: value for name, value in made.items() if name != "seconds"}
    (place / "claims.json").write_text(json.dumps(claims))
    (place / "run.json").write_text(json.dumps({"seconds": made["seconds"]}))
    (place / "figure.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")


class Page(HTMLParser):
    """A page as a list of tags with their text, refusing what is not well formed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append([tag, dict(attributes), ""])
        if tag not in VOID:
            self.open.append(self.tags[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        for tag in self.open:
            tag[2] += text

    def find(self, tag, look=None):
        return [
            t for t in self.tags if t[0] == tag and (look is None or look in t[1].get("class", ""))
        ]

    def texts(self, tag, look=None):
        return [" ".join(found[2].split()) for found in self.find(tag, look)]


def shown(folder, entries):
    return Page(write_index(folder, entries).read_text(encoding="utf-8"))


def test_the_folder_becomes_a_page(tmp_path):
    store(tmp_path, entry("lowdim/fig1b"))
    store(tmp_path, entry("depth/fig1"))
    entries = read_entries(tmp_path)
    assert [found["experiment"] for found in entries] == ["depth/fig1", "lowdim/fig1b"]
    page = shown(tmp_path, entries)
    sources = [tag[1]["src"] for tag in page.find("img")]
    assert sources == ["depth/fig1/figure.svg", "lowdim/fig1b/figure.svg"]
    assert all((tmp_path / source).is_file() for source in sources)
    assert all("Low rank" in tag[1]["alt"] for tag in page.find("img"))
    targets = {tag[1]["id"] for tag in page.find("section")}
    assert {tag[1]["href"][1:] for tag in page.find("a")} == targets


def test_the_seconds_come_from_the_file_beside_the_claims(tmp_path):
    store(tmp_path, entry())
    run = tmp_path / "lowdim" / "fig1a" / "run.json"
    assert read_entries(tmp_path) == [entry()]
    assert "12.34 s" in shown(tmp_path, read_entries(tmp_path)).texts("section")[0]
    for text in ("{", "[3]", "{}", None):  # what is not there, or is no record, is no time
        run.unlink() if text is None else run.write_text(text)
        (found,) = read_entries(tmp_path)
        assert "seconds" not in found
        assert "time—" in shown(tmp_path, [found]).texts("section")[0]


def test_a_claim_is_a_row_with_all_that_is_known(tmp_path):
    (row,) = shown(tmp_path, [entry()]).texts("tr")[1:]
    for words in (
        "lowdim/fig1a", "rank", "the rank stays at most r", "Theorem 2", "0.9346 [0.91, 0.95]",
        "9 samples", "≤ 1.5", "holds", "✓ holds",
    ):  # fmt: skip
        assert words in row


def test_a_section_says_how_the_run_went(tmp_path):
    (section,) = shown(tmp_path, [entry()]).texts("section")
    for words in (
        "Low rank",
        "quick",
        "12 converged, 3 stopped",
        "12.34 s",
        "Figure 1(a)",
        "A paper",
    ):
        assert words in section
    assert "no figure" in section


@pytest.mark.parametrize(
    ("expected", "verdict", "surprising"),
    [
        ("holds", "holds", False),
        ("fails", "fails", False),
        ("holds", "fails", True),
        ("fails", "holds", True),
        ("holds", "undecided", False),
        ("fails", "undecided", False),
    ],
)
def test_only_verdicts_against_expectation_are_highlighted(tmp_path, expected, verdict, surprising):
    page = shown(tmp_path, [entry(claims=[claim(expected=expected, verdict=verdict)])])
    assert len(page.find("tr", "alarm")) == surprising
    assert len(page.find("li", "alarm")) == surprising
    row = page.texts("tr")[1]
    assert ("not as expected" in row) == surprising
    assert verdict in page.texts("span", verdict)[0]


def test_the_top_counts_everything(tmp_path):
    claims = [claim(), claim(verdict="fails"), claim(verdict="undecided"), claim(verdict="fails")]
    page = shown(tmp_path, [entry(claims=claims), entry("depth/fig1")])
    assert page.texts("li") == [
        "2experiments", "5claims", "2as expected", "2not as expected", "1undecided",
        "0at the bound",
    ]  # fmt: skip


def test_missing_values_are_dashes(tmp_path):
    empty = dict.fromkeys(claim()) | {"verdict": "undecided", "because": "no lane converged"}
    bare = {"experiment": "lowdim/fig2", "claims": [empty, {}], "outcomes": None, "seconds": None}
    page = shown(tmp_path, [bare])
    first, second = page.texts("tr")[1:]
    assert "no lane converged" in first
    assert "None" not in first + second
    assert (
        "nan" not in shown(tmp_path, [entry(claims=[claim(measured=float("nan"))])]).texts("tr")[1]
    )
    assert "∞" in shown(tmp_path, [entry(claims=[claim(high=float("inf"))])]).texts("tr")[1]


def test_everything_is_escaped(tmp_path):
    bad = '<script>alert("1")</script>&'
    evil = entry(
        experiment='a"><b/fig',
        title=bad,
        paper=bad,
        figure=bad,
        preset=bad,
        outcomes={bad: bad},
        seconds=bad,
        claims=[claim(**dict.fromkeys(claim(), bad))],
    )
    store(tmp_path, evil)
    page = shown(tmp_path, [evil])
    assert page.find("script") == []
    # Inside the words it is still there, as words.
    assert page.texts("h3") == [bad]
    (image,) = page.find("img")
    assert image[1]["src"] == "a%22%3E%3Cb/fig/figure.svg"
    assert bad in page.texts("tr")[1]


def test_the_page_fetches_nothing(tmp_path):
    store(tmp_path, entry())
    text = write_index(tmp_path, read_entries(tmp_path)).read_text(encoding="utf-8")
    assert not re.search(r"https?:|//|@import|url\(|<script|<link", text)
    assert "prefers-color-scheme: dark" in text


def test_unreadable_files_are_named_and_skipped(tmp_path):
    store(tmp_path, entry())
    broken = {
        "half": '{"experiment": "x/half", ',
        "list": "[]",
        "nameless": '{"claims": []}',
        "claims": '{"experiment": "x/claims", "claims": [1]}',
    }
    for name, text in broken.items():
        (tmp_path / "x" / name).mkdir(parents=True)
        (tmp_path / "x" / name / "claims.json").write_text(text)
    (tmp_path / "x" / "binary").mkdir()
    (tmp_path / "x" / "binary" / "claims.json").write_bytes(b"\xff\xfe\x00")
    told = {}
    entries = read_entries(
        tmp_path, on_skip=lambda path, reason: told.update({path.parent.name: reason})
    )
    assert [found["experiment"] for found in entries] == ["lowdim/fig1a"]
    assert set(told) == {*broken, "binary"}
    assert all(told.values())
    assert "received list, a JSON object was expected" in told["list"]
    with pytest.warns(UserWarning, match=r"skipped .*claims\.json: "):
        read_entries(tmp_path)


def test_an_empty_folder_gives_an_empty_page(tmp_path):
    page = shown(tmp_path / "new", read_entries(tmp_path / "new"))
    assert "There are no results here yet." in page.texts("p", "none")


def test_the_page_is_replaced_whole(tmp_path, monkeypatch):
    write_index(tmp_path, [entry()])
    before = (tmp_path / "index.html").read_bytes()
    write_index(tmp_path, [entry()])
    assert (tmp_path / "index.html").read_bytes() == before

    def fail(handle):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_index(tmp_path, [])
    assert (tmp_path / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
