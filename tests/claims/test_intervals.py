"""Intervals against SciPy's and against simulated coverage."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import fraction_interval, median_interval

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


@pytest.mark.parametrize(("n", "rank"), [(7, 1), (10, 1), (11, 2), (30, 9)])
def test_median_interval_covers_as_it_promises(n, rank):
    promised = 1 - 2 * scipy.stats.binom.cdf(rank - 1, n, 0.5)
    assert promised >= 0.98
    draws = np.random.default_rng(0).lognormal(sigma=2.0, size=(4000, n))  # skewed, median 1
    intervals = np.array([median_interval(row) for row in draws])
    covered = np.mean((intervals[:, 0] <= 1.0) & (intervals[:, 1] >= 1.0))
    assert covered == pytest.approx(promised, abs=3 * math.sqrt(0.02 * 0.98 / 4000))


@pytest.mark.parametrize("n", range(7))
def test_fewer_than_seven_samples_have_no_interval(n):
    assert median_interval(np.full(n, 0.1)) == (-INF, INF)
    assert median_interval(np.full(7, 0.1)) == (0.1, 0.1)


def test_nan_samples_are_refused():
    with pytest.raises(ValueError, match="1 of 3 are NaN"):
        median_interval([0.1, math.nan, 0.2])


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_the_median_lies_in_its_interval(samples):
    low, high = median_interval(samples)
    assert low <= np.median(samples) <= high


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (10, 10), (1, 1), (497, 1000)])
def test_fraction_interval_is_clopper_pearson(count, total):
    interval = scipy.stats.binomtest(count, total).proportion_ci(0.98, method="exact")
    assert fraction_interval(count, total) == pytest.approx(tuple(interval), abs=1e-12)


def test_wrong_counts_are_refused():
    assert fraction_interval(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="count: received 4"):
        fraction_interval(4, 3)
    with pytest.raises(ValueError, match="total: received -1"):
        fraction_interval(0, -1)
    with pytest.raises(ValueError, match="confidence"):
        fraction_interval(1, 2, confidence=1.0)


def test_a_tail_of_just_the_size_that_is_left_is_enough():
    assert median_interval([1.0, 2.0], confidence=0.5) == (1.0, 2.0)  # both sides have 1/4
    assert median_interval([1.0, 2.0], confidence=0.51) == (-INF, INF)
