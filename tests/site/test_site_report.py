"""The report: all claims and figures are on it, nothing is fetched, nothing is trusted."""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tacit.draw import THUMBNAIL, Axis, Figure, Line, Panel, figure_to_dict
from tacit.site import read_entries, write_report
from tacit.site._claims import views
from tacit.site._statements import _places


def pages(folder):
    return sorted([folder / "index.html", *(folder / "report").glob("*.html")])


def test_every_link_leads_somewhere(results, read):
    for name in ("mine/fig1", "mine/fig10", "mine/fig2"):
        results.add(name)
    front = write_report(results.folder)
    assert front == results.folder / "index.html"
    tags = {path: read(path).tags for path in pages(front.parent)}
    anchors = {path: {tag[1]["id"] for tag in tags[path] if "id" in tag[1]} for path in tags}
    links = [(path, tag[1].get("href") or tag[1].get("src")) for path in tags for tag in tags[path]]
    links = [(path, link) for path, link in links if link and link != "data:,"]
    assert len(links) > 30
    for path, link in links:
        parts = urlsplit(link)
        assert parts.scheme + parts.netloc == "", link
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        assert target.is_file(), (path, link)
        if parts.fragment and "=" not in parts.fragment:
            assert parts.fragment in anchors[target], (path, link)


def test_the_front_page_shows_each_experiment_as_a_card(results, read):
    expected_failure = {"expected": "fails", "verdict": "fails"}
    claims = [{}, {"verdict": "fails"}, {"verdict": "undecided"}, expected_failure]
    results.add("mine/fig10", claims=claims)
    results.add("mine/fig2")
    page = read(write_report(results.folder))
    cards = page.texts("li", "card")
    assert [card.split()[1] for card in cards] == ["fig2", "fig10"]
    assert "quick · 16 Nov · 1.5 min" in cards[0]
    states = [tag[1]["data-states"] for tag in page.find("li", "card")]
    assert states == ["holds", "unexpected undecided failure holds"]
    for image in page.find("img"):
        assert (int(image[1]["width"]), int(image[1]["height"])) == THUMBNAIL
        picture = (results.folder / image[1]["src"]).read_bytes()
        assert picture[16:24] == b"".join(n.to_bytes(4) for n in THUMBNAIL)
    lead = page.texts("p", "lead")[0]
    assert "2 experiments, 5 claims: 3 came out as expected" in lead
    assert "1 did not, 1 are undecided" in lead
    assert "mine/fig10: rank: expected holds, found fails" in page.texts("ul", "alarms")[0]


@pytest.mark.parametrize(
    ("expected", "verdict", "kind"),
    [
        ("holds", "holds", "holds"),
        ("fails", "fails", "failure"),
        ("holds", "fails", "unexpected"),
        ("fails", "holds", "unexpected"),
        ("holds", "undecided", "undecided"),
        ("fails", "at the bound", "bound"),
        (None, None, "undecided"),
    ],
)
def test_kinds_of_answers(results, expected, verdict, kind):
    results.add(drawn={}, claims=[{"expected": expected, "verdict": verdict}])
    (entry,) = read_entries(results.folder)
    assert [view.kind for view in views(entry)] == [kind]


def test_an_experiment_has_a_page_with_all_that_is_known(results, read):
    results.add(claims=[{"expected": "fails", "verdict": "fails", "because": "a reason"}])
    write_report(results.folder)
    page = read(results.folder / "report" / "mine-fig1.html")
    assert page.texts("h1") == ["Longer training, later bend"]
    (claim,) = page.texts("article", "claim")
    for words in (
        "the rank stays at most r", "Theorem 2.1", "0.9346 [0.91, 0.95]", "9 of 9 seeds", "≤ 1.5",
        "Because: a reason",
    ):  # fmt: skip
        assert words in claim
    assert re.search(r"expected\s*fails found\s*fails", claim)
    text = page.texts("main")[0]
    for words in (
        "tacit reproduce mine/fig1 --preset quick", "factors an integer", "abc123", "jax 0.10.2",
        "12 converged, 3 stopped", "Medians over five seeds.",
    ):  # fmt: skip
        assert words in text
    assert page.texts("p", "notice") == ["Undecided: rank"]
    # The main panel comes first, each plot is said in words, and the key is there once.
    panels = page.texts("figure", "panel")
    assert [panel.split()[0] for panel in panels] == ["(b)", "(a)", "(c)"]
    first = page.find("div", "plot")[0][1]["aria-label"]
    assert first == "large start: loss (log scale) against step. Series: loss; half way."
    assert page.texts("ul", "key") == ["loss half way", "no value"]


def test_the_script_of_a_page_holds_its_plots(results):
    results.add()
    write_report(results.folder)
    script = (results.folder / "report" / "figures" / "mine-fig1.js").read_text()
    plots = json.loads(script.removeprefix("window.tacitPlots = ").removesuffix(";\n"))
    assert len(plots) == 3
    _, line = plots[0]["data"]
    assert line["text"][3] == "seed 3, converged"
    assert line["hovertemplate"].endswith("%{text}<extra>loss</extra>")
    # A band goes with its line, a rule is a shape of its own.
    assert plots[0]["series"] == {"data": [0, 0], "shapes": [1]}
    assert plots[2]["data"][0]["z"][1] == [3, None]


def test_everything_is_escaped(results, read):
    bad = '<script>alert("1")</script>&'
    line = Line([1, 2], [1, 2], label=bad, hover=[bad, bad])
    panel = Panel(bad, Axis(bad), Axis(bad), [line], note=bad)
    drawn = figure_to_dict(Figure(bad, [panel], caption=bad, notice=bad))
    claim = dict.fromkeys(("name", "statement", "place", "because", "expected", "verdict"), bad)
    results.add(
        'a"><b/fig', drawn=drawn, title=bad, paper=bad, figure=bad, preset=bad, rounding=bad,
        outcomes={bad: bad}, parameters={bad: bad}, remarks=[bad], claims=[claim],
    )  # fmt: skip
    folder = write_report(results.folder).parent
    (slug,) = [path.stem for path in (folder / "report").glob("a*.html")]
    assert re.fullmatch(r"[\w-]+", slug)
    for path in pages(folder):
        assert all(tag[2] == "" for tag in read(path).find("script")), path
    page = read(folder / "report" / f"{slug}.html")
    assert page.texts("h1") == [bad]
    for tag, look in (("figcaption", None), ("ul", "key"), ("article", None), ("p", "notice")):
        assert bad in page.texts(tag, look)[0]
    # Plotly reads tags in words; what it is given has none.
    script = (folder / "report" / "figures" / f"{slug}.js").read_text()
    assert "&lt;script&gt;" in script
    assert "<script>" not in script


def test_a_policy_forbids_the_pages_what_they_do_not_need(results, read):
    results.add()
    for page in pages(write_report(results.folder).parent):
        tags = read(page).tags
        (policy,) = [t[1]["content"] for t in tags if "Policy" in t[1].get("http-equiv", "")]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert rules["script-src"] == "'self' file:"
        assert "connect-src" not in rules


def test_the_pages_fetch_nothing(results):
    results.add()
    folder = write_report(results.folder).parent
    paths = [path for path in (folder / "report").rglob("*.*") if path.name != "plotly.min.js"]
    texts = [path.read_text() for path in (folder / "index.html", *paths) if path.suffix != ".png"]
    assert len(texts) >= 5
    assert not [found for text in texts for found in re.findall(r"https?:|@import|url\(", text)]


def test_without_plotly_the_page_shows_the_file(results, read, monkeypatch):
    folder = results.add()
    (folder / "figure.svg").write_text('<svg width="288pt" height="144.5pt" xmlns="svg"/>')
    monkeypatch.setattr("tacit.site._report.plotly_script", lambda: None)
    write_report(results.folder)
    page = read(results.folder / "report" / "mine-fig1.html")
    (image,) = page.find("img")
    assert image[1]["src"] == "figures/mine-fig1.svg"
    assert (image[1]["width"], image[1]["height"]) == ("384", "192")
    assert (results.folder / "report" / "figures" / "mine-fig1.svg").is_file()
    assert not (results.folder / "report" / "plotly.min.js").exists()


NO_TICKS = {"label": "x", "scale": "log", "limits": [0, None], "ticks": None, "threshold": 1}


@pytest.mark.parametrize("drawn", [[1], {"panels": [{}], "ours": []}, "figure", NO_TICKS])
def test_a_record_that_is_no_figure_leaves_the_claims(results, read, drawn):
    folder, told = results.add(drawn=drawn, remarks=3, outcomes=4, parameters=5), []
    write_report(results.folder, on_skip=lambda path, reason: told.append((path, reason)))
    assert [path for path, _ in told] == [folder / "page.json"]
    assert "its figure cannot be drawn: this is no record of a figure" in told[0][1]
    page = read(results.folder / "report" / "mine-fig1.html")
    assert page.texts("p", "none") == ["This run left no figure."]
    assert len(page.texts("article", "claim")) == 1


def test_missing_values_are_dashes(results, read):
    empty = dict.fromkeys(("measured", "low", "high", "bound", "samples", "expected", "verdict"))
    odd = {"measured": float("nan"), "high": float("inf")}
    results.add(drawn={}, claims=[empty, odd], outcomes=None)
    write_report(results.folder)
    first, second = read(results.folder / "report" / "mine-fig1.html").texts("article", "claim")
    assert "None" not in first
    assert re.search(r"measured\s*—", first)
    assert "nan" not in second
    assert "∞]" in second


def test_while_a_run_goes_on_only_what_changed_is_made_anew(results):
    results.add("mine/fig1")
    write_report(results.folder)
    folder = results.folder / "report"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}
    results.add("mine/fig2", claims=[{"verdict": "undecided"}])
    write_report(results.folder, only="mine/fig2")
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}
    changed = {path.name for path in after if before.get(path) != after[path]}
    pictures = {name for name in changed if name.endswith(".png")}
    assert changed - pictures == {"claims.html", "mine-fig2.html", "mine-fig2.js"}
    assert len(pictures) == 1
    assert "<b>1</b> are undecided" in (results.folder / "index.html").read_text()


def test_what_is_no_longer_there_has_no_page(results):
    gone = results.add("mine/fig1")
    results.add("mine/fig2")
    write_report(results.folder)
    (gone / "claims.json").unlink()
    write_report(results.folder)
    names = {path.name for path in (results.folder / "report").rglob("*.*")}
    assert not [name for name in names if "fig1" in name]
    assert {"mine-fig2.html", "mine-fig2.js"} < names


def test_unreadable_files_are_named_and_skipped(results):
    results.add(drawn={})
    broken = {
        "half": b'{"experiment": "x/half", ',
        "list": b"[]",
        "nameless": b'{"claims": []}',
        "claims": b'{"experiment": "x/claims", "claims": [1]}',
        "binary": b"\xff\xfe\x00",
    }
    for name, text in broken.items():
        (results.folder / "x" / name).mkdir(parents=True)
        (results.folder / "x" / name / "claims.json").write_bytes(text)
    told = {}
    entries = read_entries(
        results.folder, on_skip=lambda path, reason: told.update({path.parent.name: reason})
    )
    assert [found.id for found in entries] == ["mine/fig1"]
    assert set(told) == set(broken)
    assert all(told.values())
    assert "received list, a JSON object was expected" in told["list"]
    with pytest.warns(UserWarning, match=r"skipped .*claims\.json: "):
        read_entries(results.folder)


def test_a_record_does_not_choose_which_file_is_run(results, tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    folder = results.add("mine/fig1", drawn={})
    (folder / "page.json").unlink()
    (folder / "claims.json").write_text(json.dumps({"experiment": str(evil), "claims": []}))
    write_report(results.folder)
    assert not (tmp_path / "ran").exists()


def test_a_page_that_belongs_to_other_claims_is_not_believed(results):
    folder = results.add(drawn={})
    (entry,) = read_entries(results.folder)
    assert entry.page["command"]
    (folder / "claims.json").write_text((folder / "claims.json").read_text() + " ")
    (entry,) = read_entries(results.folder)
    assert entry.page == {}


def test_an_empty_folder_gives_an_empty_page(results, read):
    page = read(write_report(results.folder))
    assert "There are no results here yet." in page.texts("p", "lead")[0]


def test_pages_are_replaced_whole_and_through_no_link(results, monkeypatch, tmp_path):
    results.add(drawn={})
    front = write_report(results.folder)
    before = front.read_bytes()
    results.add("mine/fig2", drawn={})

    def fail(handle):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            write_report(results.folder)
    assert front.read_bytes() == before
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "report").symlink_to(other)
    with pytest.raises(ValueError, match="is a link"):
        write_report(results.folder, into=tmp_path / "linked")
    assert list(other.iterdir()) == []


def test_two_folders_are_compared(results, tmp_path, read):
    undecided = {"verdict": "undecided", "samples": 2, "satisfied": 1}
    results.add("mine/fig1", drawn={}, claims=[undecided])
    results.add("mine/fig2", drawn={})
    other = type(results)(tmp_path / "other")
    other.add("mine/fig1", drawn={})
    other.add("mine/fig3", drawn={})
    write_report(results.folder, against=other.folder)
    page = read(results.folder / "report" / "compare.html")
    text = page.texts("main")[0]
    assert page.texts("h1") == ["Against other"]
    assert "Only here: mine/fig2" in text
    assert "Only in other: mine/fig3" in text
    assert "holds became undecided" in text
    write_report(results.folder)
    assert not (results.folder / "report" / "compare.html").exists()


def test_the_page_of_errata_says_how_grave_each_is_and_what_it_rests_on(results, read):
    """What the documentation's page says of an entry, and as many entries of each kind."""
    from tacit.statements import EDITIONS, GRAVITIES, find_statements

    papers = ("connectivity", "depth", "kernel", "lowdim", "memoryless")
    for paper in papers:
        results.add(f"{paper}/fig1", drawn={})
    write_report(results.folder)
    page = read(results.folder / "report" / "errata.html")
    text = " ".join(page.texts("main")[0].split())
    texts = {tag: {" ".join(words.split()) for words in page.texts(tag)} for tag in ("dt", "dd")}
    assert set(GRAVITIES) <= texts["dt"]
    assert set(GRAVITIES.values()) <= texts["dd"]
    assert "Compare them with the printed page before you cite them" in text
    assert all(f"Read in: {EDITIONS[paper]}." in text for paper in papers)
    documented = (Path(__file__).parents[2] / "docs" / "errata.md").read_text().splitlines()
    rows = [line.replace("|", "").replace(" ", "") for line in documented
            if line.startswith("| ") and "paper" not in line]  # fmt: skip
    assert ["".join(tag[2].split()) for tag in page.find("tr")][1:] == rows
    judged = [e for one in find_statements() for e in one.errata]
    assert {one.gravity for one in judged} == set(GRAVITIES)
    for words in (w for one in judged for w in (one.glyph, one.right_in) if w):
        assert " ".join(words.split()) in texts["dd"]
    heads = [" ".join(tag[2].split()) for tag in page.find("h3")]
    assert sum(head.endswith("false statement") for head in heads) == sum(
        one.gravity == "false statement" for one in judged
    )


def test_statements_stand_with_their_margins_and_errata(results, read):
    results.add("memoryless/fig1", drawn={}, claims=[{"place": "Lemma 3.1"}])
    (results.folder / "verify").mkdir()
    answer = {"verdict": "holds", "worst_margin": 1.5e-13, "instances": 20, "as_expected": True}
    (results.folder / "verify" / "margins.json").write_text(
        json.dumps({"memoryless/lemma3.1": answer, "memoryless/lemma3.2": "none"})
    )
    write_report(results.folder)
    page = read(results.folder / "report" / "statements.html")
    rows = {tag[1]["id"]: " ".join(tag[2].split()) for tag in page.find("tr") if "id" in tag[1]}
    assert "1.5e−13 ≤" in rows["memoryless-lemma3.1"]
    assert rows["memoryless-lemma3.1"].endswith("20 holds correction")
    assert "not measured" in rows["memoryless-lemma3.2"]
    tested = read(results.folder / "report" / "memoryless-fig1.html").find("a")
    assert "statements.html#memoryless-lemma3.1" in [tag[1].get("href") for tag in tested]
    errata = read(results.folder / "report" / "errata.html")
    assert errata.texts("article", "erratum")
    words = "Lemmas 3.1 and A.1, (4); Theorem 2, proof"
    assert _places(words) == {"lemma 3.1", "lemma A.1", "(4)", "theorem 2"}
