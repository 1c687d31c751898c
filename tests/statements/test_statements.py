"""Every registered statement: it holds, mistakes are caught, and misprints fail."""

import functools
from pathlib import Path

import numpy as np
import pytest

from tacit.statements import (
    EDITIONS,
    GRAVITIES,
    draw_instance,
    errata_page,
    find_statements,
    margin_of,
    read_instance,
    try_statement,
    verify,
)

FEW = 3
STATEMENTS = find_statements()
ERRATA_PAGE = Path(__file__).parents[2] / "docs" / "errata.md"

FIRST = list({s.id.split("/")[0]: s for s in reversed(STATEMENTS)}.values())  # one of each paper
every = pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.id)

draw = functools.cache(draw_instance)  # the tests below share the instances: each is drawn once


@functools.cache
def result_of(statement):
    few = min(FEW, statement.instances)
    (result,) = verify(statement.id, instances=few, draw=draw).statements
    return result


@every
def test_comes_out_as_expected(statement):
    result = result_of(statement)
    assert result.as_expected, (result.verdict, result.claim.measured, result.printed)


@pytest.mark.parametrize(
    ("statement", "mutation"),
    [(s, m) for s in STATEMENTS for m in s.mutations],
    ids=lambda x: x.id if hasattr(x, "id") else str(x),
)
def test_wrong_constant_is_caught(statement, mutation):
    assert mutation.items() - statement.constants.items(), "a mutation must change something"
    assert not try_statement(statement, constants=mutation, until_failure=True, draw=draw).met


@pytest.mark.parametrize(
    ("statement", "hypothesis"),
    [(s, h) for s in STATEMENTS for h in s.without],
    ids=lambda x: x.id if hasattr(x, "id") else x,
)
def test_broken_hypothesis_is_caught(statement, hypothesis):
    # `draw_instance` raises unless the instance breaks this hypothesis and no other
    assert not try_statement(statement, without=hypothesis, until_failure=True, draw=draw).met


@pytest.mark.parametrize(
    ("statement", "number"),
    [(s, n) for s in STATEMENTS for n in range(len(s.errata))],
    ids=lambda x: x.id if hasattr(x, "id") else str(x),
)
def test_printed_form_fails(statement, number):
    erratum, trial = result_of(statement).printed[number]
    assert erratum is statement.errata[number]
    assert not trial.met


@every
def test_replay_is_exact(statement, tmp_path):
    instance = draw(statement, 1, 1, "")
    again = read_instance(instance.save(tmp_path / "kept.safetensors"))
    assert (again.statement, again.seed, again.index, again.without) == (statement.id, 1, 1, "")
    assert again.fields.keys() == instance.fields.keys()
    for name, value in instance.fields.items():
        assert type(again.fields[name]) is type(value)
        np.testing.assert_array_equal(again.fields[name], value)


@pytest.mark.parametrize("statement", FIRST, ids=lambda s: s.id)
def test_a_replayed_instance_has_its_margin(statement, tmp_path):
    instance = draw(statement, 1, 1, "")
    again = read_instance(instance.save(tmp_path / "kept.safetensors"))
    assert margin_of(statement, again) == margin_of(statement, instance)


@every
def test_instances_depend_on_seed_and_index_alone(statement):
    def same(one, other):
        return all(np.array_equal(one.fields[k], other.fields[k]) for k in one.fields)

    first = draw(statement, 0, 1, "")
    assert same(first, draw_instance(statement, 0, 1))  # drawn a second time, out of order
    assert not same(first, draw(statement, 0, 2, ""))
    assert not same(first, draw(statement, 1, 1, ""))


@every
def test_has_a_place_a_sentence_and_a_docstring(statement):
    assert statement.place
    assert len(statement.words.split()) >= 5
    assert statement.check.__doc__


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s.errata], ids=lambda s: s.id)
def test_errata_are_judged(statement):
    assert statement.paper in EDITIONS
    for erratum in statement.errata:
        assert erratum.gravity in GRAVITIES, erratum.as_printed


def test_the_committed_page_of_errata_is_current():
    assert ERRATA_PAGE.read_text(encoding="utf-8") == errata_page(draw=draw), (
        "generate it again: tacit verify --errata docs/errata.md"
    )
