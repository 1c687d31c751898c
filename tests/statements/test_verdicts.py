"""What decides a verdict and what tells it: each erratum, each mutant, each instance counts."""

import json
import math

import numpy as np
import pytest

import tacit.statements._errata as errata_file
from tacit.statements import (
    Erratum,
    Instance,
    Statement,
    UsageError,
    draw_instance,
    errata_page,
    find_statements,
    read_instance,
    replay,
    slack,
    statement_ids,
    try_statement,
    verify,
)
from tacit.statements._sharpness import _record


def make(check=lambda a, *, power=2: 0.0 if power == 2 else 1.0, name="toy/made", **options):
    """A statement that holds with its constant, and with no other."""
    defaults = {
        "place": "Lemma 1",
        "words": "two is two",
        "draw": lambda rng: {"a": rng.uniform(1, 2)},
        "tolerance": 1e-3,
        "hypotheses": {"a > 0": lambda a: a > 0},
        "mutations": [{"power": 3}],
        "instances": 4,
    }
    return Statement(id=name, check=check, **{**defaults, **options})


def wrong(power=3, **options):
    return Erratum(as_printed="three", as_corrected="two", constants={"power": power}, **options)


def result_of(made, **options):
    (one,) = verify(made, **options).statements
    return one


def test_every_erratum_must_be_shown_and_one_is_enough_for_a_correction():
    one = result_of(make(errata=[wrong(3), wrong(2)]))  # the second prints what is right
    assert one.verdict == "holds with a correction"
    assert not one.as_expected
    assert [part["shown"] for part in one.to_dict()["correction"]] == [True, False]
    assert result_of(make(errata=[wrong(3), wrong(4)])).as_expected


def test_every_mutant_must_be_caught():
    made = make(
        mutations=[{"power": 3}, {"power": 2}],
        without={"a > 0": lambda rng: {"a": -1.0}},  # which the check does not read
    )
    one = result_of(made, mutations=True)
    assert dict(one.mutants) == {"power=3": True, "power=2": False, "without: a > 0": False}
    assert not one.as_expected
    assert result_of(make(mutations=[{"power": 3}, {"power": 4}]), mutations=True).as_expected


def test_one_statement_that_comes_out_otherwise_is_enough():
    good, bad = make(name="toy/good"), make(lambda a, *, power=2: 1.0, name="toy/bad")
    assert verify(good).as_expected
    done = verify(good, bad)
    assert not done.as_expected
    assert not done.to_dict()["as_expected"]
    assert "1 as expected" in repr(done)


def test_what_holds_although_a_failure_was_expected_is_unexpected():
    made = make(expected="fails", because="it should not hold")
    one = result_of(made)
    assert (one.verdict, one.expected, one.as_expected) == ("holds", "fails", False)
    assert one.claim.expected == "fails"


def test_a_margin_that_is_no_number_is_text_in_the_record():
    made = make(lambda a, *, power=2: 0.0 if power == 2 else math.nan, errata=[wrong()])
    record = result_of(made).to_dict()
    assert record["correction"][0]["worst_margin_as_printed"] == "inf"
    json.dumps(record, allow_nan=False)


def test_rounding_is_allowed_on_the_wrong_side_and_no_more():
    inequality = make(lambda a, *, power=2: -9e-4, kind="inequality")
    assert try_statement(inequality).met
    assert not inequality.is_met(-1.1e-3)
    equality = make()
    assert equality.is_met(1e-3)
    assert not equality.is_met(1.1e-3)


def test_the_worst_of_an_inequality_is_its_smallest_slack():
    made = make(lambda a, *, power=2: slack(1.0, a), kind="inequality")
    smallest = min(float(draw_instance(made, 0, n).fields["a"]) for n in range(4))
    assert try_statement(made).margin == pytest.approx(1 - 1 / smallest)
    assert try_statement(made).worst.fields["a"] == smallest


def test_a_trial_until_failure_goes_on_until_one_fails():
    seen = []

    def third(a, *, power=2):
        seen.append(a)
        return float(len(seen) >= 3)

    trial = try_statement(make(third), until_failure=True)
    assert (trial.instances, trial.met) == (3, False)


def test_more_than_a_million_instances_are_refused_at_once():
    with pytest.raises(UsageError, match="instances: received 1000001, at most 1,000,000"):
        verify(make(), instances=1_000_001)


def test_instances_are_those_of_their_seed_their_place_and_their_statement():
    draws = {
        float(draw_instance(make(name=f"toy/{name}"), seed, index).fields["a"])
        for name in ("one", "two")
        for seed in (0, 1)
        for index in (0, 1)
    }
    assert len(draws) == 8
    assert draw_instance(make(), 1, 1).fields == draw_instance(make(), 1, 1).fields


def test_a_replayed_instance_tries_the_printed_form_too(tmp_path, monkeypatch):
    made = make(errata=[wrong()])
    monkeypatch.setattr("tacit.statements._verify.find_statements", lambda *names: [made])
    done = replay(draw_instance(made, 0, 0).save(tmp_path / "kept.npz"))
    assert done.statements[0].verdict == "holds with a correction"
    assert done.as_expected


def test_an_array_or_a_header_of_other_types_is_no_instance(tmp_path):
    np.save(tmp_path / "array.npy", np.arange(3))
    (tmp_path / "array.npy").rename(tmp_path / "kept.npz")
    with pytest.raises(UsageError, match="cannot be read as an instance"):
        read_instance(tmp_path / "kept.npz")
    Instance("p/s", "0", 1, "", {}).save(tmp_path / "kept.npz")
    with pytest.raises(UsageError, match="allowed is an instance of a statement"):
        read_instance(tmp_path / "kept.npz")


def test_a_paper_has_its_own_statements_and_no_others():
    find_statements("lowdim", "memoryless")  # both are imported
    for paper in ("lowdim", "memoryless"):
        ids = statement_ids(paper)
        assert {name.partition("/")[0] for name in ids} == {paper}
        assert [one.id for one in find_statements(paper)] == ids
    assert [one.id for one in find_statements("memoryless/lemma3.1")] == ["memoryless/lemma3.1"]


def test_a_printed_form_must_change_a_constant_of_the_check():
    with pytest.raises(ValueError, match=r"mutations, errata: received \['factor'\]"):
        make(errata=[Erratum(as_printed="x", as_corrected="y", constants={"factor": 2})])


def test_the_page_of_errata_says_what_is_not_shown(monkeypatch):
    made = [
        make(name="toy/shown", errata=[wrong(gravity="misprint", glyph="a minus")]),
        make(name="toy/right", errata=[wrong(2, gravity="misprint")]),
        make(lambda a, *, power=2: power - 1.0, name="toy/never", errata=[wrong()]),
        make(lambda a, *, power=2: 1.0, name="toy/false", expected="fails", because="it is not"),
    ]
    monkeypatch.setattr(errata_file, "find_statements", lambda: made)
    page = errata_page()
    assert "| toy | 2 | 0 | 1 | 1 |" in page
    lines = {line.split("`")[1]: line for line in page.splitlines() if "- shown by `" in line}
    assert lines["toy/shown"].endswith(
        "as printed: residual 1; as corrected: residual at most 1e-03"
    )
    assert "as printed: residual 0 (NOT SHOWN);" in lines["toy/right"]
    assert lines["toy/never"].endswith("residual at most 1e-03 (NOT SATISFIED)")
    assert lines["toy/false"].endswith("as printed: residual 1")
    assert "rests on: a minus" in page


def test_a_record_is_stale_when_the_check_has_another_bound(monkeypatch):
    (one,) = find_statements("memoryless/lemma3.1")
    monkeypatch.setattr(_record, "find_statements", lambda: [one])
    known = {one.id: {"digest": _record.digest_of(one), "constants": {}}}
    assert _record._stale(known) == []
    known[one.id]["digest"] = "another"
    assert _record._stale(known) == [one]
    assert _record._stale({}) == [one]
