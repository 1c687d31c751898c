"""The report's words: what a claim says, what a comparison tells, what is told apart."""

import json
import math
import re

from tacit.draw import Axis, Figure, Panel, figure_to_dict
from tacit.site import read_entries, write_report
from tacit.site._claims import duration, number, views


def test_a_claim_tells_its_seeds_who_is_left_out_and_what_it_would_take(results, read):
    folder = results.add(
        drawn={},
        claims=[
            {"samples": 8, "satisfied": 6, "left_out": 2, "verdict": "undecided"},
            {"low": None, "high": 0.95, "samples": 3, "satisfied": None},
        ],
    )
    effort = {"rank": {"seeds": 5, "seconds": 9000.0}}
    (folder / "run.json").write_text(json.dumps({"seconds": 12.3, "efforts": effort}))
    (entry,) = read_entries(results.folder)
    first, second = views(entry)
    assert first.seeds == "6 of 8 seeds"
    assert first.remarks == ("2 of 10 seeds do not count", "about 5 more seeds, 2.5 h")
    assert (second.seeds, second.interval) == ("3 samples", "[—, 0.95]")
    assert entry.seconds == 90.0  # what the stored cells took, where that is known
    page = json.loads((folder / "page.json").read_text())
    del page["origin"]
    (folder / "page.json").write_text(json.dumps(page))
    (entry,) = read_entries(results.folder)
    assert entry.seconds == 12.3


def test_numbers_and_times_in_words():
    assert [number(x) for x in (1.23456, -0.5, math.inf, -math.inf, math.nan, None)] == [
        *("1.235", "−0.5", "∞", "−∞", "—", "—")
    ]
    assert [duration(x) for x in (0.2, 59, 60, 3599, 3600, 9000, None)] == [
        *("1 s", "59 s", "1 min", "60 min", "1 h", "2.5 h", "—")
    ]


def test_what_does_not_stand_as_part_of_the_whole_is_marked(results, read):
    # Evidence of 32 decides a claim by itself, not among thirty that say nothing.
    alone = {"samples": 7, "satisfied": 7, "expected": "holds", "verdict": "holds"}
    nothing = {"samples": 2, "satisfied": 1, "verdict": "undecided"}
    sure = {"samples": 40, "satisfied": 40, "verdict": "holds"}
    odd = {"relation": "about"}  # of another state of tacit: shown, and not counted
    results.add(drawn={}, claims=[alone, sure, odd, *[nothing] * 30])
    write_report(results.folder)
    page = read(results.folder / "report" / "claims.html")
    assert "Of 2 decided claims 1 also stand" in page.texts("p", "lead")[0]
    rows = page.texts("tr")[1:]
    assert [row.endswith("alone") for row in rows] == [True, *[False] * 32]


def test_a_comparison_tells_presets_machines_and_changed_verdicts_first(results, tmp_path, read):
    other = type(results)(tmp_path / "other")
    moved, decided = {"measured": 0.94}, {"samples": 2, "satisfied": 1}
    for name, now, then in (
        ("fig1", {"preset": "paper"}, {}),
        ("fig2", {"claims": [moved]}, {}),
        ("fig3", {"claims": [moved], "rounding": "arm64"}, {}),
        ("fig4", {"claims": [decided]}, {}),
        ("fig5", {}, {}),
    ):
        results.add(f"mine/{name}", drawn={}, **now)
        other.add(f"mine/{name}", drawn={}, **then)
    write_report(results.folder, against=other.folder)
    page = read(results.folder / "report" / "compare.html")
    # Within the interval, on another machine, a value has not moved; a verdict comes first.
    assert page.texts("h2") == ["mine/fig4", "mine/fig1", "mine/fig2"]
    assert page.texts("p", "soft") == ["preset quick there, paper here"]
    assert "Of these 2 did not move" in page.texts("p", "lead")[0]


def test_two_experiments_never_share_a_page(results):
    for name in ("mine/fig 1", "mine/fig_1", "mine/fig+1"):
        results.add(name, drawn={})
    slugs = [entry.slug for entry in read_entries(results.folder)]
    assert len(set(slugs)) == 3
    assert all(re.fullmatch(r"mine-fig_1(-[0-9a-f]{6})?", slug) for slug in slugs)


def test_another_figure_has_another_picture_and_files_of_yours_stay(results):
    folder = results.add("mine/fig1")
    report = write_report(results.folder).parent / "report"
    (before,) = (report / "thumbnails").glob("*.png")
    (report / "notes.txt").write_text("mine")
    page = json.loads((folder / "page.json").read_text())
    page["figure"] = figure_to_dict(Figure("other", [Panel("p", Axis("x"), Axis("y"), [])]))
    (folder / "page.json").write_text(json.dumps(page))
    write_report(results.folder)
    (after,) = (report / "thumbnails").glob("*.png")
    assert after.name != before.name
    assert (report / "notes.txt").read_text() == "mine"


def test_a_figure_that_is_a_link_is_not_shown(results, tmp_path, monkeypatch):
    secret = tmp_path / "secret.svg"
    secret.write_text('<svg width="288pt" height="144pt"/>')
    folder = results.add()
    (folder / "figure.svg").symlink_to(secret)
    monkeypatch.setattr("tacit.site._report.plotly_script", lambda: None)
    write_report(results.folder)
    assert not list((results.folder / "report" / "figures").glob("*.svg"))


def test_a_statement_that_came_out_otherwise_and_a_printed_forms_margin_are_shown(results, read):
    results.add("memoryless/fig1", drawn={}, claims=[{"place": "Lemma 3.1"}])
    (results.folder / "verify").mkdir()
    answers = {
        "memoryless/lemma3.1": {
            "verdict": "holds", "worst_margin": 1e-13, "instances": 20, "as_expected": False,
            "correction": [{"worst_margin_as_printed": 0.0625}],
        }
    }  # fmt: skip
    (results.folder / "verify" / "margins.json").write_text(json.dumps(answers))
    write_report(results.folder)
    page = read(results.folder / "report" / "statements.html")
    assert [row[1]["id"] for row in page.find("tr", "alarm")] == ["memoryless-lemma3.1"]
    (shown,) = [
        text
        for text in read(results.folder / "report" / "errata.html").texts("article", "erratum")
        if "worst margin" in text
    ]
    assert "worst margin 0.0625" in shown
    links = read(results.folder / "report" / "memoryless-fig1.html").find("a")
    tests = [tag[1]["href"] for tag in links if "statements.html#" in tag[1].get("href", "")]
    assert tests == ["statements.html#memoryless-lemma3.1"]  # and no other statement
