"""The page of findings is what the committed runs say, every sentence of it."""

import re
from pathlib import Path

import pytest

from tacit.reproduction import find_experiment, findings_page, list_experiments, load_reference

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"
BUILT_IN = [entry.id for entry in list_experiments() if entry.group != "mine"]


def test_the_page_is_that_of_the_committed_runs():
    assert PAGE.read_text() == findings_page(), "write it again: .venv/bin/python tools/findings"


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_committed_run_supports_every_sentence(name):
    kind = find_experiment(name)
    presets = [one for one in ("paper", "gpu", "quick") if one in kind.presets]
    references = [load_reference(kind, preset) for preset in presets]
    reference = next(one for one in references if one is not None)
    said = kind.finding.said(reference.claims)
    assert said
    for sentence, words in zip(kind.finding.sentences, said, strict=True):
        assert words is not None, sentence


# What a sentence may have without a run: formulas (2d̂ + 1, L ≥ 3), orders of products, names.
TYPED = re.compile(r"\d*\.\d+|\d{2,}|\d+ ?(%|percent|times|fold|seeds|steps|epochs)")


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_number_of_a_run_is_typed(name):
    for sentence in find_experiment(name).finding.sentences:
        rest = re.sub(r"\{[^{}]*\}", "", sentence)
        assert TYPED.search(rest) is None, rest
