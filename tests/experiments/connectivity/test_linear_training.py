"""Training of the linear network: two ways to the same weights, and the exact flow as its limit."""

import numpy as np
import pytest

from tacit.experiments.connectivity._linear_training import (
    at_fixed_point,
    change_singular_values,
    crossing_time,
    drawn_network,
    in_time,
    paper_rate,
)
from tacit.theory.connectivity import flow


@pytest.mark.parametrize(("target", "g"), [(0.5, 0.6), (2.0, 0.0)])
def test_the_fixed_point_is_where_the_simulated_trial_ends(target, g):
    network = drawn_network(24, g, 0)
    rate = 2 * paper_rate(target, g)
    fixed, timed = (train(network, target, rate, 20) for train in (at_fixed_point, in_time))
    np.testing.assert_allclose(fixed.losses, timed.losses, rtol=1e-8)
    np.testing.assert_allclose(fixed.gradients, timed.gradients, rtol=1e-8)
    np.testing.assert_allclose(fixed.Y @ fixed.X.T, timed.Y @ timed.X.T, atol=1e-9)


def test_descent_is_the_flow_to_first_order_in_its_rate():
    network = drawn_network(50, 0.5, 1)
    end = flow(*network, targets=1.0).learning_time()
    exact = flow(*network, targets=1.0).change(end)
    gaps = []
    for epochs in (50, 100, 200):
        run = at_fixed_point(network, 1.0, end / epochs, epochs)
        gaps.append(np.abs(run.Y @ run.X.T - exact).max())
    ratios = np.array(gaps[:-1]) / gaps[1:]
    np.testing.assert_allclose(ratios, 2, rtol=0.1)


def test_singular_values_are_those_of_the_change():
    run = at_fixed_point(drawn_network(40, 0.5, 2), 1.0, 0.01, 30)
    found = change_singular_values(run, np.array([0, 10, 30]), 4)
    for row, epoch in enumerate((0, 10, 30)):
        change = run.Y[:, :epoch] @ run.X[:, :epoch].T
        values = np.linalg.svd(change, compute_uv=False)[:4] if epoch else np.zeros(4)
        np.testing.assert_allclose(found[row], values, atol=1e-12)


def test_a_run_that_leaps_over_the_singularity_is_said_to_have_diverged_or_not_to_arrive():
    run = at_fixed_point(drawn_network(40, 0.8, 3), 4.0, 1.0, 50)
    assert run.diverged or crossing_time(run.losses, 1.0, 0.05) == np.inf


def test_crossing_time_is_between_the_epochs():
    losses = np.exp(-0.1 * np.arange(100))
    assert crossing_time(losses, 0.5, 0.05) == pytest.approx(0.5 * 10 * np.log(20))
    assert crossing_time(np.ones(5), 1.0, 0.05) == np.inf


def test_the_papers_rates():
    assert [paper_rate(z, 0.0) for z in (0.5, 1.0, 2.0)] == pytest.approx([0.015, 0.009, 0.003])
    assert paper_rate(0.5, 0.6) == pytest.approx(0.015 * 0.64**2)
    assert paper_rate(4.0, 0.0) == pytest.approx(0.003 / 4)
