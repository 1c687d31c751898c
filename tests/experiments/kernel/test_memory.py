"""kernel/memory at its smallest preset: the exact count, and what is counted."""

import numpy as np
import pytest

from tacit.experiments import find_experiment, load_reference, reproduce
from tacit.experiments.kernel._lag_change import _first, _recorded
from tacit.experiments.kernel.memory import exact_steps
from tacit.theory.kernel import lag_weights


def test_the_exact_count_is_that_of_iterated_steps():
    config = find_experiment("kernel/memory").presets["paper"]
    lags = np.arange(6)
    rho = lag_weights(6, nu_w=config.nu_w)
    counted = []
    for lag in lags:
        made, steps = 0.0, 0
        while made < config.share:
            made += config.rate * rho[lag] * (1 - made)
            steps += 1
        counted.append(steps)
    np.testing.assert_array_equal(np.ceil(exact_steps(config, config.nu_w, lags)), counted)


def test_smoke_counts_near_the_prediction(tmp_path):
    made = reproduce("kernel/memory", preset="smoke", results=tmp_path)
    data = made.dataset
    assert made.outcomes == {"converged": 4}
    # The network's own kernel at its start predicts its count better than a factor of 1.5.
    assert float(abs(np.log(data["steps"] / data["start_steps"])).max()) < np.log(1.5)
    assert (made.path / "figure.png").exists()


def test_counting():
    steps = np.array([0, 10, 20])
    assert _first(np.array([0.0, 0.2, 0.6]), steps, 0.5) == pytest.approx(17.5)
    assert _first(np.array([0.0, 0.2, 0.4]), steps, 0.5) == np.inf
    assert _first(np.array([0.9, 1.0, 1.0]), steps, 0.5) == 0
    for budget in (3, 60, 5000):
        recorded = _recorded(budget)
        assert recorded[0] == 0
        assert recorded[-1] == budget
        assert (np.diff(recorded) > 0).all()


def test_the_committed_reference_is_as_expected():
    claims = load_reference(find_experiment("kernel/memory"), "quick")
    assert claims is not None
    assert all(claim.as_expected for claim in claims)
