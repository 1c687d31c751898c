"""The collector of claims: what it takes, what it makes of it, what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import (
    Claims,
    claim_about_fraction,
    claim_about_mean,
    claim_about_median,
    claim_about_value,
)

INF, NAN = math.inf, math.nan
WORDS = {"name": "gap", "statement": "it is small", "place": "Figure 1"}


def made(method, *values, place="Figure 1", **terms):
    """The one claim that a call of a method makes."""
    claim = Claims(place)
    returned = getattr(claim, method)("gap", *values, says="it is small", **terms)
    assert returned is None
    (found,) = claim
    return found


def test_every_method_makes_the_claim_of_its_rule():
    values = [0.1, 0.3, 0.2, 0.5, 0.4, 0.6, 0.7]
    assert made("median", values, at_most=1) == claim_about_median(values, **WORDS, at_most=1)
    assert made("mean", values, at_least=1) == claim_about_mean(values, **WORDS, at_least=1)
    expected = claim_about_value(3, error=0.5, **WORDS, at_most=4)
    assert made("value", 3, error=0.5, at_most=4) == expected
    assert made("value", NAN, at_most=4).verdict == "undecided"
    expected = claim_about_fraction(3, 4, **WORDS, at_least=0.5)
    assert made("fraction", [True, False, True, True], at_least=0.5) == expected
    assert made("fraction", [1.0, 0.0, NAN, 1.0, 1.0], at_least=0.5) == expected
    assert made("fraction", 3, 4, at_least=0.5) == expected
    assert made("fraction", np.int64(3), of=np.int32(4), at_least=0.5) == expected
    assert made("fraction", np.nansum([1.0, math.nan, 2.0]), 4, at_least=0.5) == expected


@pytest.mark.parametrize("method", ["median", "mean"])
@settings(deadline=None)
@given(values=st.lists(st.floats() | st.just(NAN), max_size=12))
def test_runs_that_do_not_count_are_left_out(method, values):
    counted = [value for value in values if not math.isnan(value)]
    with np.errstate(all="ignore"):
        found, expected = (made(method, v, at_most=1) for v in (values, counted))
    assert found.samples == len(counted)
    assert found.to_dict() == expected.to_dict()


def test_an_infinite_run_counts():
    assert made("median", [0.1] * 9 + [INF], at_most=1).samples == 10
    every = made("median", [INF] * 9 + [NAN], at_most=1)
    assert (every.samples, every.measured, every.verdict) == (9, INF, "fails")
    assert made("median", [INF] * 9, at_least=1).verdict == "holds"
    assert made("median", [NAN] * 9, at_least=1).verdict == "undecided"


def test_arrays_of_any_shape_and_labelled_ones():
    xarray = pytest.importorskip("xarray")
    table = np.arange(8.0).reshape(2, 4)
    labelled = xarray.DataArray(table, dims=("width", "seed"))
    assert made("median", table, at_most=9) == made("median", labelled, at_most=9)
    assert made("median", table, at_most=9).measured == 3.5
    assert made("mean", labelled.where(labelled > 3), at_most=9).measured == 5.5
    assert made("fraction", labelled > 3, at_most=0.9).measured == 0.5
    assert made("value", labelled.sum(), at_most=99).measured == 28


def test_places():
    claim = Claims("Figure 3")
    claim.value("there", 1, says="there", at_most=1)
    claim.value("elsewhere", 1, says="elsewhere", at_most=1, place="Theorem 2")
    assert [found.place for found in claim] == ["Figure 3", "Theorem 2"]
    ours = Claims()
    ours.value("gap", 1, says="it is small", at_most=1)
    assert ours[0].place == "ours"


def test_what_is_expected_and_why():
    plain = made("value", 1, at_most=2)
    assert (plain.expected, plain.because) == ("holds", "")
    failing = made("value", 3, at_most=2, fails_because="conditioning")
    assert (failing.expected, failing.because) == ("fails", "conditioning")
    assert failing.as_expected
    assert made("value", 3, at_most=2, fails_because="").expected == "holds"
    noted = made("value", 1, at_most=2, note="only six runs")
    assert (noted.expected, noted.because) == ("holds", "only six runs")


def test_it_is_a_sequence_in_the_order_of_the_calls():
    claim = Claims("here")
    assert (len(claim), list(claim)) == (0, [])
    for number in range(3):
        claim.value(f"claim {number}", number, says="a number", at_most=1)
    claim.extend([claim_about_value(7, **WORDS, at_most=8)])
    assert [found.name for found in claim] == ["claim 0", "claim 1", "claim 2", "gap"]
    assert claim[-1].measured == 7
    assert [found.name for found in claim[1:3]] == ["claim 1", "claim 2"]
    assert claim[0] in claim


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"at_most": 1}, r"a claim needs says=… and takes says, at_most.*received at_most"),
        ({"says": "", "at_most": 1}, "a claim needs says=…"),
        ({"says": "it is small", "atmost": 1}, "received says, atmost"),
        ({"says": "it is small", "expected": "fails", "at_most": 1}, "received says, expected"),
    ],
)
def test_wrong_words_are_refused(terms, words):
    claim = Claims()
    for call in (claim.median, claim.mean, claim.value):
        with pytest.raises(TypeError, match=words):
            call("gap", 1.0, **terms)
    with pytest.raises(TypeError, match=words):
        claim.fraction("gap", [True], **terms)
    assert len(claim) == 0


@pytest.mark.parametrize("terms", [{}, {"at_most": 1, "at_least": 0}])
def test_exactly_one_bound(terms):
    with pytest.raises(ValueError, match="exactly one"):
        made("median", [1.0], **terms)


@pytest.mark.parametrize(
    "values", [([1, 0, 1],), ([0.5],), (["yes"],), ([True, False], 2), (2.5, 4), (3,)]
)
def test_a_fraction_is_of_booleans_or_a_count(values):
    with pytest.raises(ValueError, match=r"did: received an array of .* give booleans by run"):
        made("fraction", *values, at_most=1)
    with pytest.raises(ValueError, match="count: received 5"):
        made("fraction", 5, 4, at_most=1)
