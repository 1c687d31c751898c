"""A run beside its committed reference: what moved, and what cannot be compared."""

import dataclasses
import json

import pytest

from tacit.experiments import Claims
from tacit.reproduction import Comparison, load_reference, reference_path


@pytest.fixture
def committed(run):
    """A run at `quick`, and the path of the reference that it became."""
    result = run()
    path = reference_path(result.experiment, "quick")
    path.parent.mkdir()
    path.write_bytes((result.path / "claims.json").read_bytes())
    return result, path


def test_a_run_without_a_reference(run, toy):
    result = run()
    assert reference_path(result.experiment, "quick") == toy.parent / "reference" / "die.quick.json"
    assert load_reference(result.experiment, "quick") is None
    assert result.compare().unable == "there is no reference for toy/die at quick"


def test_comparison_with_the_committed_reference(committed):
    result, _ = committed
    reference = load_reference(result.experiment, "quick")
    assert reference.claims == result.claims
    assert reference.digest == result.digest
    assert reference.parameters["seed"] == "0, …, 7"
    assert result.compare() == Comparison()


def test_a_change_of_the_program_is_seen_where_it_is(committed, run, toy):
    toy.write_text(toy.read_text().replace("mean = (self.sides + 1) / 2", "mean = 3.51"))
    result = run(fresh=True)
    assert {(m.name, m.kind) for m in result.compare().moved} == {
        ("small", "measured"),
        ("error", "digest"),
    }


def test_another_default_is_named(committed, run, toy):
    toy.write_text(toy.read_text().replace("fixed(6,", "fixed(8,"))
    first = run().compare().moved[0]
    assert (first.name, first.kind, first.sentence) == ("sides", "parameters", "6 became 8")


def test_other_parameters_are_not_compared(committed, run):
    found = run(throws=[1, 2], seeds=3).compare()
    assert found.moved == ()
    assert "throws, seed differ from the preset quick" in found.unable


def test_a_reference_of_an_older_tacit_must_be_made_again(committed):
    result, path = committed
    record = json.loads(path.read_text())
    del record["digest"], record["parameters"], record["rounding"]
    path.write_text(json.dumps(record))
    assert "has no digest: make it again" in result.compare().unable


def test_a_reference_of_another_machine_is_compared_less_closely(committed, run):
    result, path = committed
    record = json.loads(path.read_text())
    record["digest"]["error"]["size"] *= 1.01
    path.write_text(json.dumps(record))
    assert [(m.name, m.kind) for m in result.compare().moved] == [("error", "digest")]
    path.write_text(json.dumps(record | {"rounding": "an abacus"}))
    found = result.compare()
    assert found.moved == ()
    assert "an abacus" in found.remark


def test_two_of_unknown_rounding_are_not_taken_for_the_same(committed):
    result, path = committed
    record = json.loads(path.read_text())
    record["digest"]["error"]["size"] *= 1.01
    for words in ("unknown", "an abacus; unknown"):
        path.write_text(json.dumps(record | {"rounding": words}))
        found = dataclasses.replace(result, rounding=words).compare()
        assert found.moved == ()
        assert words in found.remark


def test_a_run_with_further_seeds_is_compared_on_those_of_the_preset(committed):
    result, _ = committed
    more = Claims("page 1")
    more.median("small", [0.1] * 30, says="it is small", at_most=0.3)
    claims = tuple(more[0] if claim.name == "small" else claim for claim in result.claims)
    assert dataclasses.replace(result, claims=claims).compare().moved == ()
