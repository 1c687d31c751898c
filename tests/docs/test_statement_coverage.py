"""docs/statements.md lists every numbered equation and theorem, as the registry has them."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tacit.statements import find_statements

PAGE = (Path(__file__).parents[2] / "docs" / "statements.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.M | re.S))

_NUMBER = r"(?:[A-Z]\.|\d+\.)?\d+"
_KINDS = "Theorem|Proposition|Lemma|Corollary|Remark"
_ASIDE = re.compile(r"(?:in the )?proof of [^,;]*|(?:before|after) \([^)]*\)")
_EQUATIONS = re.compile(rf"\(({_NUMBER})\)(?:–\(({_NUMBER})\))?")
_THEOREMS = re.compile(rf"({_KINDS})s? ({_NUMBER}(?:(?:, | and ){_NUMBER})*)")
_COUNTS = re.compile(
    r"Equations: (\d+) numbered, (\d+) with a statement, (\d+) without\.\s+"
    r"Theorems, propositions, lemmas and corollaries: (\d+)\."
)


def numbers_in(text):
    """The numbers that a text names: "(12)", "Lemma C.1", …; a range names all between its ends."""
    text = _ASIDE.sub("", text)
    found = []
    for first, last in _EQUATIONS.findall(text):
        prefix, low = re.fullmatch(r"(.*?)(\d+)", first).groups()
        high = re.fullmatch(r".*?(\d+)", last or first)[1]
        found += [f"({prefix}{number})" for number in range(int(low), int(high) + 1)]
    for kind, names in _THEOREMS.findall(text):
        found += [f"{kind} {name}" for name in re.findall(_NUMBER, names)]
    return found


def rows_of(paper):
    """Number → (kind, what is said of it)."""
    rows = {}
    lines = [line for line in SECTIONS[paper].splitlines() if line.startswith("|")]
    for line in lines[2:]:
        named, kind, said = (cell.strip() for cell in line.strip("|").split("|"))
        assert numbers_in(named), line
        for number in numbers_in(named):
            assert number not in rows, f"{number} stands in two rows"
            rows[number] = kind, said
    return rows


def ids_in(said):
    return re.findall(r"`(\w+/[^`]+)`", said)


def test_numbers_are_read_from_a_place():
    place = "Lemmas E.2 and E.5, (7), (C.9)–(C.11); Theorem 3.3(b), in the proof of Theorem 4"
    expected = ["(7)", "(C.9)", "(C.10)", "(C.11)", "Lemma E.2", "Lemma E.5", "Theorem 3.3"]
    assert numbers_in(place) == expected


@pytest.mark.parametrize("paper", SECTIONS)
class TestPaper:
    def test_each_row_agrees_with_the_registry(self, paper):
        known = {statement.id: statement for statement in find_statements(paper)}
        for number, (kind, said) in rows_of(paper).items():
            ids = ids_in(said)
            if number.startswith("("):
                assert kind == "equation"
                assert len(ids) == 1 or (not ids and len(said.split()) > 1), f"{number}: {said}"
            else:
                assert kind == number.split()[0].lower()
                assert ids, f"{number} has no statement"
            for name in ids:
                assert number in numbers_in(known[name].place), f"{name} does not name {number}"

    def test_each_number_of_a_statement_has_its_row(self, paper):
        rows = rows_of(paper)
        for statement in find_statements(paper):
            for number in numbers_in(statement.place):
                assert statement.id in ids_in(rows[number][1]), f"{statement.id}: {number}"

    def test_no_equation_is_left_out(self, paper):
        series = defaultdict(set)
        for number in rows_of(paper):
            if number.startswith("("):
                prefix, count = re.fullmatch(r"(.*?)(\d+)", number.strip("()")).groups()
                series[prefix].add(int(count))
        for prefix, counts in series.items():
            assert counts == set(range(1, max(counts) + 1)), f"a gap after {prefix or 'the start'}"

    def test_the_counts_are_those_of_the_table(self, paper):
        rows = rows_of(paper)
        equations = [said for number, (_, said) in rows.items() if number.startswith("(")]
        covered = sum(bool(ids_in(said)) for said in equations)
        theorems = sum(kind not in ("equation", "remark") for kind, _ in rows.values())
        expected = (len(equations), covered, len(equations) - covered, theorems)
        assert tuple(map(int, _COUNTS.search(SECTIONS[paper]).groups())) == expected


def test_the_sections_are_papers():
    assert {"connectivity", "memoryless"} <= set(SECTIONS)
