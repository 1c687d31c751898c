"""Decision rules: intervals against SciPy's and against simulated coverage."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import (
    claim_about_fraction,
    claim_about_mean,
    claim_about_median,
    claim_about_value,
    fraction_interval,
    mean_half_width,
    mean_interval,
    median_interval,
)

WORDS = {"name": "gap", "statement": "it is small", "place": "Figure 1(a)"}
INF = math.inf


@pytest.mark.parametrize("n", [6, 9, 10, 25, 100, 2000])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_median_interval_is_the_binomial_one(n, confidence):
    samples = np.random.default_rng(n).standard_cauchy(n)
    low, high = median_interval(samples, confidence=confidence)
    tail = (1 - confidence) / 2
    rank = int(np.sum(scipy.stats.binom.cdf(np.arange(n), n, 0.5) <= tail))
    ordered = np.sort(samples)
    expected = (ordered[rank - 1], ordered[n - rank]) if rank else (-INF, INF)
    assert (low, high) == expected


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (10, 2), (11, 2), (30, 10)])
def test_median_interval_covers_as_it_promises(n, rank):
    promised = 1 - 2 * scipy.stats.binom.cdf(rank - 1, n, 0.5)
    assert promised >= 0.95
    draws = np.random.default_rng(0).lognormal(sigma=2.0, size=(4000, n))  # skewed, median 1
    intervals = np.array([median_interval(row) for row in draws])
    covered = np.mean((intervals[:, 0] <= 1.0) & (intervals[:, 1] >= 1.0))
    assert covered == pytest.approx(promised, abs=3 * math.sqrt(0.05 * 0.95 / 4000))


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_samples_decide_nothing(n):
    claim = claim_about_median(np.full(n, 0.1), **WORDS, at_most=1)
    assert claim.verdict == "undecided"
    assert (claim.low, claim.high) == (-INF, INF)
    assert claim.measured == 0.1 if n else math.isnan(claim.measured)
    assert claim_about_median(np.full(6, 0.1), **WORDS, at_most=1).verdict == "holds"


def test_a_diverged_run_is_worse_than_any_bound():
    some = claim_about_median([0.1] * 9 + [INF], **WORDS, at_most=1)
    assert (some.measured, some.verdict) == (0.1, "holds")
    half = claim_about_median([0.1] * 5 + [INF] * 5, **WORDS, at_most=1)
    assert (half.measured, half.verdict) == (INF, "undecided")
    every = claim_about_median([INF] * 10, **WORDS, at_most=1)
    assert (every.measured, every.verdict) == (INF, "fails")


@pytest.mark.parametrize("maker", [claim_about_median, claim_about_mean])
def test_nan_samples_are_refused(maker):
    with pytest.raises(ValueError, match="1 of 3 are NaN"):
        maker([0.1, math.nan, 0.2], **WORDS, at_most=1)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_measured_median_is_numpys_and_lies_in_the_interval(samples):
    claim = claim_about_median(samples, **WORDS, at_most=0)
    assert claim.measured == pytest.approx(np.median(samples), rel=1e-12, abs=1e-300)
    assert claim.low <= claim.measured <= claim.high


def test_mean_interval_is_students():
    samples = np.random.default_rng(1).normal(3.0, 2.0, 12)
    expected = scipy.stats.t.interval(
        0.9, df=11, loc=samples.mean(), scale=scipy.stats.sem(samples)
    )
    assert mean_interval(samples, confidence=0.9) == pytest.approx(expected, rel=1e-12)
    half = (expected[1] - expected[0]) / 2
    assert mean_half_width(samples, confidence=0.9) == pytest.approx(half, rel=1e-12)
    assert mean_half_width(samples[:1]) == INF
    claim = claim_about_mean(samples, **WORDS, at_least=1)
    assert claim.verdict == "holds"
    assert claim.measured == pytest.approx(samples.mean())
    assert claim_about_mean(samples[:1], **WORDS, at_least=1).verdict == "undecided"
    assert claim_about_mean([], **WORDS, at_least=1).verdict == "undecided"
    assert claim_about_mean([1.0, INF], **WORDS, at_most=5).verdict == "undecided"


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (10, 10), (1, 1), (497, 1000)])
def test_fraction_interval_is_clopper_pearson(count, total):
    interval = scipy.stats.binomtest(count, total).proportion_ci(0.95, method="exact")
    assert fraction_interval(count, total) == pytest.approx(tuple(interval), abs=1e-12)
    claim = claim_about_fraction(np.int64(count), total, **WORDS, at_least=0.5)
    assert claim.measured == count / total
    assert claim.samples == total


def test_no_trials_decide_nothing():
    assert claim_about_fraction(0, 0, **WORDS, at_most=1).verdict == "undecided"
    with pytest.raises(ValueError, match="count"):
        claim_about_fraction(4, 3, **WORDS, at_most=1)


def test_a_value_without_spread_decides_by_itself():
    assert claim_about_value(3, **WORDS, at_most=3).verdict == "holds"
    assert claim_about_value(3, **WORDS, at_least=4).verdict == "fails"
    assert claim_about_value(3, error=1, **WORDS, at_most=3).verdict == "undecided"
    assert claim_about_value(np.float32(2), error=0.5, **WORDS, at_most=3).verdict == "holds"
    assert claim_about_value(math.nan, **WORDS, at_most=3).verdict == "undecided"
    with pytest.raises(ValueError, match="error"):
        claim_about_value(3, error=-1, **WORDS, at_most=3)


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1, "at_least": 0}])
def test_exactly_one_bound(bounds):
    with pytest.raises(ValueError, match="exactly one"):
        claim_about_value(1, **WORDS, **bounds)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(ValueError, match="confidence"):
        claim_about_median([1.0] * 8, **WORDS, at_most=1, confidence=confidence)


def test_a_labelled_array_is_samples_too():
    xarray = pytest.importorskip("xarray")
    samples = xarray.DataArray(np.arange(8.0).reshape(2, 4), dims=("width", "seed"))
    assert claim_about_median(samples, **WORDS, at_most=9).measured == 3.5
