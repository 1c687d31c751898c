"""The collector of claims: what it takes, what it makes of it, what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import Claim, Claims

INF, NAN = math.inf, math.nan


def made(method, *values, place="Figure 1", **terms):
    """The one claim that a call of a method makes."""
    claim = Claims(place)
    returned = getattr(claim, method)("gap", *values, says="it is small", **terms)
    assert returned is None
    (found,) = claim
    return found


def test_a_median_is_decided_by_its_seeds():
    values = [0.1, 0.3, 0.2, 0.5, 0.4, 0.6, 0.7]
    claim = made("median", values, at_most=1)
    assert (claim.measured, claim.low, claim.high) == (0.4, 0.1, 0.7)
    assert (claim.satisfied, claim.samples, claim.verdict) == (7, 7, "holds")
    assert made("median", values, at_least=1).verdict == "fails"
    assert made("median", values, at_most=0.65).verdict == "undecided"  # six of seven
    assert made("median", values[:6], at_most=1).verdict == "undecided"
    assert made("median", [0.4] * 7, at_most=0.4).verdict == "holds"  # the bound itself satisfies


def test_a_median_from_both_sides_is_two_claims():
    values = [0.5, 0.9, 1.0, 1.1, 1.2, 1.2, 3.0]  # single seeds may lie outside
    claim = Claims("Figure 1")
    claim.between("epochs", values, at_least=0.4, at_most=1.5, says="as published")
    less, more = claim
    assert (less.name, less.relation, less.bound) == ("epochs: not less", ">=", 0.4)
    assert (more.name, more.relation, more.bound) == ("epochs: not more", "<=", 1.5)
    assert (less.verdict, more.verdict, more.satisfied) == ("holds", "undecided", 6)
    with pytest.raises(TypeError, match="says"):
        claim.between("epochs", values, at_least=0.4, at_most=1.5)


def test_a_fraction_is_decided_by_its_seeds():
    claim = made("fraction", [True] * 9 + [False], at_least=0.5)
    assert (claim.measured, claim.satisfied, claim.samples) == (0.9, 9, 10)
    assert claim.verdict == "undecided"
    assert made("fraction", [True] * 10 + [False], at_least=0.5).verdict == "holds"
    few = made("fraction", [False] * 10 + [True], at_most=0.5)
    assert (few.satisfied, few.share, few.verdict) == (10, 0.5, "holds")
    rare = made("fraction", [False] * 60, at_most=0.1)
    assert (rare.satisfied, rare.share, rare.verdict) == (60, 0.9, "holds")
    assert made("fraction", [True] * 4 + [False] * 4, at_most=0.1).verdict == "fails"
    assert made("fraction", [1.0, 0.0, NAN, 1.0], at_least=0.5).left_out == 1


def test_too_close_to_call_is_a_verdict():
    near = [0.95, 0.97, 0.99, 1.01, 1.03, 1.05, 1.02, 0.98, 0.96, 1.04]
    assert made("median", near, at_most=1).verdict == "at the bound"
    assert made("median", near, at_most=1, margin=0.01).verdict == "undecided"
    assert made("median", np.array(near) - 1, at_most=0).verdict == "undecided"  # a tenth of 0
    assert made("median", np.array(near) - 1, at_most=0, margin=0.1).verdict == "at the bound"
    assert made("median", near, at_most=1).as_expected is None
    assert made("median", near, at_most=1).more_seeds is None
    assert made("median", [0.99] * 7, at_most=1).verdict == "holds"  # decided is decided


@settings(deadline=None)
@given(values=st.lists(st.floats() | st.just(NAN), max_size=12))
def test_runs_that_do_not_count_are_left_out(values):
    counted = [value for value in values if not math.isnan(value)]
    with np.errstate(all="ignore"):
        found, expected = (made("median", v, at_most=1) for v in (values, counted))
    assert (found.samples, found.left_out) == (len(counted), len(values) - len(counted))
    assert found.to_dict() | {"left_out": 0} == expected.to_dict()
    assert found.many_left_out == (found.left_out > len(values) / 5)


def test_an_infinite_run_counts():
    assert made("median", [0.1] * 9 + [INF], at_most=1).samples == 10
    every = made("median", [INF] * 9 + [NAN], at_most=1)
    assert (every.samples, every.measured, every.verdict) == (9, INF, "fails")
    half = made("median", [0.1] * 5 + [INF] * 5, at_most=1)
    assert (half.measured, half.verdict) == (INF, "undecided")
    assert made("median", [INF] * 9, at_least=1).verdict == "holds"
    assert made("median", [NAN] * 9, at_least=1).verdict == "undecided"


def test_a_value_without_spread_decides_by_itself():
    assert made("value", 3, at_most=3).verdict == "holds"
    assert made("value", 3, at_least=4).verdict == "fails"
    assert made("value", 3, error=1, at_most=3).verdict == "undecided"
    assert made("value", np.float32(2), error=0.5, at_most=3).verdict == "holds"
    assert made("value", NAN, at_most=3).verdict == "undecided"
    assert made("value", 3, error=1, at_most=3).more_seeds is None
    with pytest.raises(ValueError, match="error"):
        made("value", 3, error=-1, at_most=3)


@pytest.mark.parametrize("method", ["median", "fraction"])
def test_one_number_for_each_seed_and_no_more(method):
    xarray = pytest.importorskip("xarray")
    table = xarray.DataArray(np.zeros((2, 4)), dims=("width", "seed"))
    assert made(method, table.sel(width=0), at_most=0.5).samples == 4
    for wrong, words in [
        (table, r"dimensions \('width', 'seed'\)"),
        (table.sel(seed=0), r"dimensions \('width',\)"),
        (table.values, r"shape \(2, 4\)"),
        (0.5, r"shape \(\)"),
    ]:
        with pytest.raises(ValueError, match=f"'gap' received the {words}.*within the seed"):
            made(method, wrong, at_most=0.5)


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
    claim.extend([made("value", 7, at_most=8)])
    assert [found.name for found in claim] == ["claim 0", "claim 1", "claim 2", "gap"]
    assert claim[-1].measured == 7
    assert [found.name for found in claim[1:3]] == ["claim 1", "claim 2"]
    assert claim[0] in claim


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"at_most": 1}, r"a claim needs says=… and takes says, .*at_most.*received at_most"),
        ({"says": "", "at_most": 1}, "a claim needs says=…"),
        ({"says": "it is small", "atmost": 1}, "received says, atmost"),
        ({"says": "it is small", "expected": "fails", "at_most": 1}, "received says, expected"),
    ],
)
def test_wrong_words_are_refused(terms, words):
    claim = Claims()
    for call, value in [(claim.median, [1.0]), (claim.value, 1.0), (claim.fraction, [True])]:
        with pytest.raises(TypeError, match=words):
            call("gap", value, **terms)
    assert len(claim) == 0


@pytest.mark.parametrize("terms", [{}, {"at_most": 1, "at_least": 0}])
def test_exactly_one_bound(terms):
    with pytest.raises(ValueError, match="exactly one"):
        made("median", [1.0], **terms)


def test_a_fraction_is_of_booleans_and_its_bound_of_neither_all_nor_none():
    with pytest.raises(ValueError, match=r"'gap' received .* give a yes or no for each seed"):
        made("fraction", [0.5], at_most=0.5)
    for bound in (0, 1):
        with pytest.raises(ValueError, match="no number of seeds can show that all, or none, do"):
            made("fraction", [True], at_least=bound)


@pytest.mark.parametrize("bound", [0.05, 0.95])
def test_the_margin_of_a_fraction_is_a_tenth_of_its_rarer_side(bound):
    made = Claims()
    made.fraction("a", [1.0, 0.0], says="some do", at_least=bound)
    assert made[0].margin == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("says", "bound", "words"),
    [
        ("at most {bound}", 0.001, "at most 0.001"),
        ("at most {bound}", 1e-9, "at most 1e-9"),
        ("at most {bound}", 1.625, "at most 1.625"),
        ("{bound:.0%} of {bound}", 0.95, "95% of 0.95"),
        ("{bounds} {other}", 1.0, "{bounds} {other}"),
    ],
)
def test_the_bound_that_decides_is_the_one_that_is_said(says, bound, words):
    claim = Claims()
    claim.value("x", 0.0, says=says, at_most=bound)
    assert claim["x"].statement == words


def test_both_bounds_of_a_median_between_are_said():
    claim = Claims()
    claim.between("x", [1.0] * 9, says="the ratio is near one: {bound}", at_least=0.5, at_most=2)
    assert [one.statement[-3:] for one in claim] == ["0.5", ": 2"]


def test_a_claim_counts_what_its_samples_are_made_of():
    claim = Claims()
    claim.median("means", [1.0] * 3, says="x", at_least=0.5, unit=3)
    claim.median("blocks", [1.0] * 12 + [0.0] * 6, says="x", at_least=0.5, most=20)
    claim.median("all blocks", [1.0] * 13 + [0.0] * 7, says="x", at_least=0.5, most=20)
    means, blocks, every = claim
    assert means.verdict == blocks.verdict == every.verdict == "undecided"
    assert means.more_seeds == 3 * 4  # seven unanimous samples decide, of three seeds each
    assert blocks.more_seeds == 2  # there are no more
    assert every.more_seeds is None
    for one in claim:
        assert Claim.from_dict(one.to_dict()) == one
    with pytest.raises(ValueError, match="unit"):
        claim.median("none", [1.0], says="x", at_least=0.5, unit=0)
