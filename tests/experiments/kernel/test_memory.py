"""kernel/memory at its smallest preset: the exact count, and what is counted."""

import numpy as np
import xarray

from tacit.experiments.kernel.memory import Memory, recorded_steps
from tacit.reproduction import reproduce
from tacit.theory.kernel import lag_weights


def test_the_exact_count_is_that_of_iterated_steps():
    paper = Memory.from_preset("paper")
    lags = np.arange(6)
    rho = lag_weights(6, nu_w=paper.nu_w)
    counted = []
    for lag in lags:
        made, steps = 0.0, 0
        while made < paper.share:
            made += paper.rate * rho[lag] * (1 - made)
            steps += 1
        counted.append(steps)
    np.testing.assert_array_equal(np.ceil(paper.exact_steps(lags)), counted)


def test_smoke_counts_near_the_prediction(tmp_path):
    made = reproduce("kernel/memory", preset="smoke", results=tmp_path)
    data = made.dataset
    assert made.outcomes == {"converged": 4}
    # The network's own kernel at its start predicts its count better than a factor of 1.5.
    assert float(abs(np.log(data["steps"] / data["start_steps"])).max()) < np.log(1.5)
    assert (made.path / "figure.png").exists()


def test_one_lag_alone_makes_no_claim_about_growth():
    steps = (("width", "delay", "seed"), np.ones((1, 1, 2)))
    runs = xarray.Dataset({"steps": steps}, {"width": [60], "delay": [3], "seed": [0, 1]})
    claims = Memory(width=60, delay=3).claims(runs.assign(limit_steps=runs["steps"]))
    assert [claim.name for claim in claims] == [
        "lag 3: the exact count",
        "the factor tends to 1/ν_W",
    ]


def test_the_recorded_steps_go_to_the_budget():
    for budget in (3, 60, 5000):
        recorded = recorded_steps(budget)
        assert recorded[0] == 0
        assert recorded[-1] == budget
        assert (np.diff(recorded) > 0).all()
