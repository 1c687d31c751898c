"""The tables of settings in docs/papers: every parameter of every experiment, with its values."""

import re
from pathlib import Path

import pytest

from tacit.reproduction import find_experiment, in_words, list_experiments

PAGES = Path(__file__).parents[2] / "docs" / "papers"
PAPERS = ("connectivity", "depth", "kernel", "lowdim", "memoryless", "regimes")
COLUMNS = ["parameter", "paper", "public code", "quick", "paper preset", "why ours differs"]


def tables(paper):
    """The tables of a page by the id in the heading above: parameter → its row."""
    found, rows = {}, None
    for line in (PAGES / f"{paper}.md").read_text().splitlines():
        if line.startswith("## "):
            rows = found.setdefault(line.removeprefix("## ").strip(), {})
        elif line.startswith("|") and rows is not None:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if cells[0].startswith("`"):
                name = cells[0].strip("`")
                assert name not in rows, f"{paper}: two rows of {name}"
                rows[name] = dict(zip(COLUMNS, cells, strict=True))
            elif set(cells[0]) - set(":-"):
                assert cells == COLUMNS, line
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_experiment_of_the_paper_has_a_table(paper):
    ids = {entry.id for entry in list_experiments() if entry.group == paper}
    assert {name for name in tables(paper) if "/" in name} == ids


@pytest.mark.parametrize("paper", PAPERS)
def test_our_values_are_those_of_the_presets(paper):
    wrong = []
    for name, rows in tables(paper).items():
        if "/" not in name:
            continue
        kind = find_experiment(name)
        assert rows.keys() == kind.parameters().keys(), name
        for preset, column in (("quick", "quick"), ("paper", "paper preset")):
            ours = in_words(kind.from_preset(preset))
            wrong += [
                f"{name}, {preset}: {parameter} is {ours[parameter]}, the page has {row[column]}"
                for parameter, row in rows.items()
                if row[column] != ours[parameter]
            ]
    assert wrong == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_preset_that_departs_from_the_paper_says_why(paper):
    """A number or word of ours that neither source has needs a reason beside it."""
    silent = []
    for name, rows in tables(paper).items():
        for parameter, row in rows.items():
            stated = f"{row['paper']} {row['public code']}".lower()
            ours, counts = row["paper preset"], numbers(row["paper preset"])
            words = [word.strip().lower() for word in ours.split(",")]
            known = counts <= numbers(stated) if counts else all(word in stated for word in words)
            if not known and not row["why ours differs"]:
                silent.append(f"{name}: {parameter} is {ours}; stated: {stated}")
    assert silent == []


def numbers(words):
    """Every number that is written in a text; 5% is 0.05."""
    found = re.findall(r"(\d+(?:\.\d+)?(?:e-?\d+)?)(%?)", words)
    return {float(number) / (100 if percent else 1) for number, percent in found}
