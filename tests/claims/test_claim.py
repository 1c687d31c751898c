"""The record of a claim: its verdict, its round trip through JSON, what it refuses."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import Claim

INF = math.inf


def make(low=0.1, high=0.2, *, relation="<=", bound=0.5, measured=None, **changes):
    middle = (low + high) / 2 if measured is None else measured
    return Claim(
        name="gap",
        statement="the error is small",
        place="Figure 1(a)",
        measured=middle,
        low=low,
        high=high,
        relation=relation,
        bound=bound,
        **changes,
    )


@pytest.mark.parametrize(
    ("relation", "low", "high", "verdict"),
    [
        ("<=", 0.1, 0.4, "holds"),
        ("<=", 0.1, 0.5, "holds"),  # the bound itself satisfies
        ("<=", 0.5, 0.6, "undecided"),  # its lower end does satisfy
        ("<=", 0.51, 0.6, "fails"),
        ("<=", 0.4, 0.6, "undecided"),
        ("<=", -INF, 0.4, "holds"),
        ("<=", 0.6, INF, "fails"),
        ("<=", INF, INF, "fails"),  # every run diverged
        ("<=", -INF, INF, "undecided"),
        (">=", 0.6, 0.7, "holds"),
        (">=", 0.5, 0.7, "holds"),
        (">=", 0.4, 0.5, "undecided"),
        (">=", 0.3, 0.49, "fails"),
        (">=", 0.3, 0.6, "undecided"),
        (">=", INF, INF, "holds"),
    ],
)
def test_verdict_follows_from_the_interval(relation, low, high, verdict):
    assert make(low, high, relation=relation, measured=low).verdict == verdict


def test_no_samples_and_no_number_are_undecided():
    assert make(samples=0).verdict == "undecided"
    assert make(measured=math.nan).verdict == "undecided"
    assert make(low=math.nan, high=math.nan, measured=0.1).verdict == "undecided"


def test_as_expected():
    assert make(0.1, 0.2).as_expected
    assert not make(0.6, 0.7).as_expected
    assert make(0.4, 0.7).as_expected is None  # undecided is neither success nor failure
    assert make(0.6, 0.7, expected="fails", because="conditioning").as_expected
    assert not make(0.1, 0.2, expected="fails", because="conditioning").as_expected


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"expected": "fails"}, "because"),
        ({"expected": "fails", "because": "  "}, "because"),
        ({"bound": math.nan}, "bound"),
        ({"bound": INF}, "bound"),
        ({"samples": -1}, "samples"),
        ({"low": 0.3, "high": 0.2}, "low"),
        ({"satisfied": 4, "samples": 3}, "satisfied"),
        ({"share": 1.0}, "share"),
        ({"left_out": -1}, "left_out"),
        ({"margin": -0.1}, "margin"),
    ],
)
def test_refuses_what_makes_no_sense(changes, word):
    with pytest.raises(ValueError, match=word):
        make(**changes)


def test_the_dictionary_carries_the_verdict_and_is_plain_json():
    record = make(0.6, INF).to_dict()
    text = json.dumps(record, allow_nan=False)
    assert json.loads(text)["verdict"] == "fails"
    assert record["high"] is None
    assert record["measured"] is None
    assert record["low"] == 0.6
    assert "nonfinite" not in make().to_dict()


def test_a_bare_null_is_an_open_end():
    record = make().to_dict() | {"low": None, "high": None, "measured": None}
    claim = Claim.from_dict(record)
    assert (claim.low, claim.high) == (-INF, INF)
    assert math.isnan(claim.measured)


def test_a_record_that_is_not_a_claim_is_named():
    with pytest.raises(ValueError, match="lacks 'relation'"):
        Claim.from_dict({"name": "a", "statement": "b", "place": "c"})


@settings(deadline=None)
@given(
    ends=st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)).map(sorted),
    measured=st.floats(allow_nan=False),
    relation=st.sampled_from(["<=", ">="]),
    bound=st.floats(allow_nan=False, allow_infinity=False),
    expected=st.sampled_from(["holds", "fails"]),
    samples=st.integers(0, 50),
    satisfied=st.none() | st.integers(0, 50),
    left_out=st.integers(0, 9),
    margin=st.sampled_from([None, 0.0, 0.1]),  # none asked for, and a margin of nothing
)
def test_json_round_trip(
    ends, measured, relation, bound, expected, samples, satisfied, left_out, margin
):
    claim = make(
        ends[0],
        ends[1],
        measured=measured,
        relation=relation,
        bound=bound,
        expected=expected,
        because="a reason",
        samples=samples,
        satisfied=None if satisfied is None else min(satisfied, samples),
        left_out=left_out,
        margin=margin,
    )
    back = Claim.from_dict(json.loads(json.dumps(claim.to_dict(), allow_nan=False)))
    assert back == claim
    assert back.verdict == claim.verdict
