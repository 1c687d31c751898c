"""kernel/memory at its smallest preset: the exact count, and what is counted."""

import numpy as np
import pytest
import xarray

from tacit.experiments.kernel.memory import Memory, recorded_steps
from tacit.reproduction import reproduce
from tacit.theory.kernel import lag_weights


def test_the_exact_count_is_that_of_iterated_steps():
    paper = Memory.from_preset("paper")
    lags = np.arange(6)
    for nu_w in paper.nu_w:
        rho = lag_weights(6, nu_w=nu_w)
        counted = []
        for lag in lags:
            made, steps = 0.0, 0
            while made < paper.share:
                made += 2 * paper.rate * rho[lag] * (1 - made)
                steps += 1
            counted.append(steps)
        np.testing.assert_array_equal(np.ceil(paper.exact_steps(lags, nu_w)), counted)


def test_smoke_counts_near_the_prediction(tmp_path):
    made = reproduce("kernel/memory", preset="smoke", results=tmp_path)
    data = made.dataset
    assert made.outcomes == {"converged": 8}
    # The network's own kernel at its start predicts its count better than a factor of 1.5.
    near = data.sel(nu_w=0.3)
    assert float(abs(np.log(near["steps"] / near["start_steps"])).max()) < np.log(1.5)
    # With a large variance a later lag is the cheaper one.
    late = data["steps"].sel(nu_w=0.9).mean("seed")
    assert (late.sel(delay=2) < late.sel(delay=0)).all()
    assert (made.path / "figure.png").exists()


def runs_of(experiment, steps):
    """A dataset with these steps, by delay, for every seed, width and variance."""
    shape = (len(experiment.width), len(experiment.nu_w), 2, len(steps))
    dims = ("width", "nu_w", "seed", "delay")
    axes = {name: list(getattr(experiment, name)) for name in ("width", "nu_w", "delay")}
    runs = xarray.Dataset({"steps": (dims, np.broadcast_to(steps, shape))}, axes)
    exact = [experiment.exact_steps(experiment.delay, nu_w) for nu_w in experiment.nu_w]
    limit = xarray.DataArray(exact, dims=("nu_w", "delay"))
    return runs.assign(limit_steps=limit.broadcast_like(runs["steps"]))


def test_one_lag_alone_makes_no_claim_about_growth():
    alone = Memory(width=60, delay=3, nu_w=0.3)
    claims = alone.claims(runs_of(alone, [5.0]))
    assert [claim.name for claim in claims] == ["ν_W = 0.3, lag 3: the exact count"]


def test_the_factor_is_the_limits_and_the_order_turns_with_the_variance():
    both = Memory(width=60, delay=(0, 4))
    names = {
        claim.name: claim for claim in both.claims(runs_of(both, both.exact_steps([0, 4], 0.3)))
    }
    factor = names["ν_W = 0.3: each lag costs the limit's factor"]
    assert factor.measured == pytest.approx(0, abs=1e-12)
    assert "factor of 2.06" in factor.statement
    wrong = both.claims(runs_of(both, [3.0, 3.0 * 2.5**4]))
    assert not any(c.satisfied for c in wrong if "factor" in c.name)
    turned = names["ν_W = 0.9: lag 4 costs more than lag 0"]
    assert turned.expected == "fails"
    assert "up to lag 8" in turned.because


def test_the_recorded_steps_go_to_the_budget():
    for budget in (3, 60, 5000):
        recorded = recorded_steps(budget)
        assert recorded[0] == 0
        assert recorded[-1] == budget
        assert (np.diff(recorded) > 0).all()
