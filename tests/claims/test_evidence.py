"""The decision rule: against numerical integration, exact expectations and simulated sequences."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims import (
    ENOUGH,
    Claim,
    Claims,
    decide_all,
    e_value,
    fraction_interval,
    median_interval,
    seeds_to_decide,
)

MOST = 60  # seeds of a simulated sequence
DRAWS = 2000


@settings(deadline=None, max_examples=60)
@given(n=st.integers(0, 40), share=st.floats(0.05, 0.95), data=st.data())
def test_it_is_the_mixture_of_likelihood_ratios(n, share, data):
    k = data.draw(st.integers(0, n))
    ratio = lambda q: (q / share) ** k * ((1 - q) / (1 - share)) ** (n - k)  # noqa: E731
    peak = min(max(k / n if n else 1.0, share), 1.0)
    integral, _ = scipy.integrate.quad(ratio, share, 1, points=[peak], limit=200)
    assert e_value(k, n, share=share) == pytest.approx(integral / (1 - share), rel=1e-6, abs=1e-12)


def test_it_is_the_closed_form_for_a_half():
    for n in (0, 1, 7, 30):
        for k in range(n + 1):
            beta = scipy.special.beta(k + 1, n - k + 1)
            tail = 1 - scipy.special.betainc(k + 1, n - k + 1, 0.5)
            assert e_value(k, n) == pytest.approx(2 ** (n + 1) * beta * tail, rel=1e-9)
    assert e_value(7, 7) == pytest.approx(31.875)  # seven unanimous seeds decide,
    assert e_value(6, 6) < ENOUGH  # six do not,
    assert e_value(9, 10) < ENOUGH < e_value(10, 11)  # and one dissenting asks for eleven


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 7, 25])
def test_its_mean_is_at_most_one_under_the_null(share, n):
    values = [e_value(k, n, share=share) for k in range(n + 1)]
    for truth in (share, share / 2):
        mean = float(scipy.stats.binom.pmf(np.arange(n + 1), n, truth) @ values)
        assert mean <= 1 + 1e-9
    at_share = scipy.stats.binom.pmf(np.arange(n + 1), n, share) @ values
    assert at_share == pytest.approx(1.0)  # the test wastes nothing


def test_many_seeds_do_not_overflow():
    assert e_value(0, 5000) == 0.0
    assert math.isfinite(e_value(5000, 5000))
    assert math.isfinite(e_value(100_000, 200_000))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((4, 3, 0.5), "yes: received 4"), ((-1, 3, 0.5), "yes"), ((1, 3, 1.0), "share: received 1")],
)
def test_wrong_counts_are_refused(arguments, words):
    yes, seeds, share = arguments
    with pytest.raises(ValueError, match=words):
        e_value(yes, seeds, share=share)


DISTRIBUTIONS = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "heavy-tailed": (lambda rng, size: np.exp(2 * rng.standard_t(3, size=size)), 1.0),
    "Cauchy": (lambda rng, size: rng.standard_cauchy(size), 0.0),
    "discrete": (lambda rng, size: rng.choice([0.0, 1.0], size=size), 0.5),
}


def stopped(draws, bound):
    """For each sequence: where it stops, and whether the claim 'median ≤ bound' held or failed."""
    table = np.array(
        [[e_value(k, n) if k <= n else 0.0 for k in range(MOST + 1)] for n in range(MOST + 1)]
    )
    seeds = np.arange(1, MOST + 1)
    yes = np.cumsum(draws <= bound, axis=1)
    holds, fails = table[seeds, yes] >= ENOUGH, table[seeds, seeds - yes] >= ENOUGH
    either = holds | fails
    last = np.where(either.any(axis=1), either.argmax(axis=1), MOST - 1)
    rows = np.arange(len(draws))
    return last + 1, holds[rows, last], fails[rows, last]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_stopping_when_decided_errs_in_at_most_5_percent_a_side(name):
    draw, median = DISTRIBUTIONS[name]
    draws = draw(np.random.default_rng(7), (DRAWS, MOST))
    counts, holds, fails = stopped(draws, median)  # the bound is the median: P is one half
    assert holds.mean() <= 0.05
    assert fails.mean() <= 0.05
    covered = [
        low <= median <= high
        for row, n in zip(draws, counts, strict=True)
        for low, high in [median_interval(row[:n])]
    ]
    assert np.mean(covered) >= 0.93
    # The rule it replaces: seeds are added until the 95% interval lies on one side of the bound.
    naive = [
        any(
            high <= median or low > median
            for n in range(6, MOST + 1)
            for low, high in [median_interval(row[:n], confidence=0.95)]
        )
        for row in draws[:300]
    ]
    assert np.mean(naive) > 0.12


@pytest.mark.parametrize("truth", [0.5, 0.8, 0.95])
def test_intervals_of_fractions_cover_when_one_stops_at_a_decision(truth):
    draws = np.random.default_rng(3).random((DRAWS, MOST)) < truth
    counts, _, _ = stopped(1.0 - draws, 0.5)
    covered = [
        low <= truth <= high
        for row, n in zip(draws, counts, strict=True)
        for low, high in [fraction_interval(int(row[:n].sum()), int(n))]
    ]
    assert np.mean(covered) >= 0.93


@pytest.mark.parametrize(
    ("truth", "mean", "fixed"), [(1.0, 7.0, 5), (0.9, 10.7, 16), (0.8, 19.0, 28), (0.7, 37.0, 69)]
)
def test_how_many_seeds_it_takes(truth, mean, fixed):
    draws = np.random.default_rng(5).random((DRAWS, MOST))
    counts, _, fails = stopped(draws, truth)
    assert counts.mean() == pytest.approx(mean, rel=0.05)
    assert fails.mean() <= 0.01
    # Beside it: the number to be fixed beforehand so that the sign test, at 5% a side, decides in
    # 95% of cases. It is larger unless all seeds agree, and one has to know the truth to choose it.
    assert fixed == next(
        n for n in range(3, 100) if all(_power(m, truth) >= 0.95 for m in range(n, n + 8))
    )


def _power(n, truth):
    needed = next(k for k in range(n + 2) if scipy.stats.binom.sf(k - 1, n, 0.5) <= 0.05)
    return scipy.stats.binom.sf(needed - 1, n, truth)


def test_the_forecast_is_what_the_rule_needs():
    assert seeds_to_decide(6, 6) == 1
    assert seeds_to_decide(0, 6) == 1
    assert seeds_to_decide(9, 10) <= 3
    assert 20 <= seeds_to_decide(7, 10) <= 80
    assert seeds_to_decide(5, 10) == 10_000
    assert seeds_to_decide(500, 1000, at_most=50) == 50
    assert seeds_to_decide(0, 0) == 10_000  # nothing seen promises nothing


def claim_of(yes, seeds, name="a"):
    made = Claims()
    made.fraction(name, [1.0] * yes + [0.0] * (seeds - yes), says="most do", at_least=0.5)
    return made[0]


def test_a_family_is_decided_by_e_bh():
    claims = [claim_of(20, 20), claim_of(7, 7), claim_of(5, 10), claim_of(0, 15)]
    # m = 4, e = 1e5, 31.9, .., 4096: three at least, 4 / (.05 · 3) = 26.7 ≤ 31.9
    assert decide_all(claims) == [True, True, False, True]
    many = [*claims, *(claim_of(5, 10) for _ in range(20))]
    assert decide_all(many)[:4] == [True, False, False, True]  # 24 / (.05 · 3) = 160
    number = Claims()
    number.value("sure", 1, says="it is small", at_most=2)
    assert decide_all([*many, number[0]])[-1]  # no matter of chance
    assert decide_all([]) == []


def test_a_family_errs_in_at_most_5_percent_of_what_it_says():
    rng = np.random.default_rng(11)
    false, of = [], [claim_of(k, 20) for k in range(21)]
    for _ in range(200):
        truths = np.where(rng.random(60) < 0.5, 0.49999, 0.95)
        noise = rng.random(20)  # the same seeds for every claim: they depend on one another
        yes = (noise[None, :] < truths[:, None]).sum(axis=1)
        claims = [of[k] for k in yes]
        stands = decide_all(claims)
        said = [
            (claim.verdict == "holds") != (truth > 0.5)
            for claim, truth, stand in zip(claims, truths, stands, strict=True)
            if stand
        ]
        false.append(np.mean(said) if said else 0.0)
    assert np.mean(false) <= 0.05


@pytest.mark.parametrize("relation", ["at_most", "at_least"])
@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30), st.floats(-5, 5))
def test_a_claim_and_its_opposite_never_both_hold(relation, values, bound):
    other = {"at_most": "at_least", "at_least": "at_most"}[relation]
    made = Claims()
    made.median("one", values, says="so", **{relation: bound})
    made.median("other", values, says="not so", **{other: bound})
    strict = [v for v in values if v != bound]
    if len(strict) == len(values):
        assert (made[0].verdict == "holds") == (made[1].verdict == "fails")
    assert not (made[0].verdict == "fails" and made[1].verdict == "fails")


def test_the_record_of_a_claim_has_its_evidence():
    claim = claim_of(7, 7)
    record = claim.to_dict()
    assert record["evidence"] == [pytest.approx(31.875), pytest.approx(e_value(0, 7), rel=1e-5)]
    assert (record["satisfied"], record["share"], record["more_seeds"]) == (7, 0.5, None)
    assert Claim.from_dict(record) == claim
    assert claim_of(5, 10).to_dict()["more_seeds"] == 10_000
