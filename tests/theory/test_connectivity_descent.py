"""Gradient descent on W: two ways to the same weights, and the exact flow as its limit."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tacit import measures
from tacit.theory.connectivity import (
    DecomposedNetwork,
    FixedPoint,
    LinearNetwork,
    SimulatedTrial,
    decomposed_curve,
    gradient_descent,
    learning_curve,
)
from tacit.theory.connectivity._descent import _orbit


@pytest.mark.parametrize(("target", "g", "rate"), [(0.5, 0.6, 0.012), (2.0, 0.0, 0.006)])
def test_the_fixed_point_is_where_the_simulated_trial_ends(target, g, rate):
    network = LinearNetwork.random(24, g, seed=0)
    fixed, timed = FixedPoint(network, target), SimulatedTrial(network, target)
    runs = [gradient_descent(state, rate, 20) for state in (fixed, timed)]
    np.testing.assert_allclose(runs[0].losses, runs[1].losses, rtol=1e-8)
    np.testing.assert_allclose(runs[0].gradients, runs[1].gradients, rtol=1e-8)
    np.testing.assert_allclose(fixed.change(), timed.W - network.W0, atol=1e-9)


def test_a_decomposed_network_is_the_network():
    network = LinearNetwork.random(40, 0.7, seed=7)
    parts = DecomposedNetwork.of(network)
    states = [FixedPoint(each, 1.0) for each in (network, parts)]
    runs = [gradient_descent(state, 0.003, 100) for state in states]  # the pairs outgrow their room
    assert runs[0].losses[-1] < 0.1 * runs[0].losses[0]
    np.testing.assert_allclose(runs[1].losses, runs[0].losses, rtol=1e-9)
    np.testing.assert_allclose(states[1].change(), states[0].change(), atol=1e-12)
    best = measures.truncated(states[0].change(), 2)
    np.testing.assert_allclose(states[1].change(rank=2), best, atol=1e-12)
    A = np.eye(40) - network.W0 - states[0].change()
    np.testing.assert_allclose(states[0].x, np.linalg.solve(A, network.m), atol=1e-9)
    curves = learning_curve(*network, targets=1.0), decomposed_curve(parts, targets=1.0)
    np.testing.assert_allclose(curves[1].change(0.1), curves[0].change(0.1), atol=1e-12)


def test_the_outputs_of_a_trial_begin_at_rest_and_end_at_the_fixed_point():
    network = LinearNetwork.random(24, 0.4, seed=8)
    trial = SimulatedTrial(network, 1.0)
    trial.error()
    assert (trial.outputs()[:3] == 0).all()
    assert trial.outputs()[3] == pytest.approx(0.5 * network.w @ network.m)
    assert trial.outputs()[-1] == pytest.approx(
        FixedPoint(network, 1.0).w @ FixedPoint(network, 1.0).x
    )


def test_adjoints_that_fade_below_the_normal_range_change_nothing():
    """In single precision 0.8⁴⁰⁰ is no normal number, and a trial with such numbers is slow."""
    network = LinearNetwork.random(24, 0.6, seed=8)
    single, double = (SimulatedTrial(network.astype(t), 2.0, steps=600) for t in ("f4", "f8"))
    for trial in (single, double):
        trial.error()
        trial.loss_and_gradient()
        trial.step(1e-3)
    np.testing.assert_allclose(single.W, double.W, atol=1e-6)
    faded = _orbit(single._step.T, None, 598, single.w)
    assert (faded[-1] == 0).all()
    assert (np.abs(faded[faded != 0]) >= np.finfo(np.float32).tiny).all()


def test_descent_is_the_flow_to_first_order_in_its_rate():
    network = LinearNetwork.random(50, 0.5, seed=1)
    end = 0.45  # the loss is then at 6% of its start

    def motion(_: float, change: np.ndarray) -> np.ndarray:
        A = np.eye(50) - network.W0 - change.reshape(50, 50)
        x, y = np.linalg.solve(A, network.m), np.linalg.solve(A.T, network.w)
        return ((1.0 - network.w @ x) * np.outer(y, x)).ravel()

    solution = solve_ivp(motion, (0, end), np.zeros(2500), rtol=1e-9, atol=1e-12)
    exact = solution.y[:, -1].reshape(50, 50)
    gaps = []
    for epochs in (50, 100, 200):
        state = FixedPoint(network, 1.0)
        gradient_descent(state, end / epochs, epochs)
        gaps.append(np.abs(state.change() - exact).max())
    ratios = np.array(gaps[:-1]) / gaps[1:]
    np.testing.assert_allclose(ratios, 2, rtol=0.1)


def test_singular_values_are_those_of_the_change():
    network = LinearNetwork.random(40, 0.5, seed=2)
    epochs = np.array([0, 10, 30])
    state = FixedPoint(network, 1.0)
    gradient_descent(state, 0.01, 30)
    found = state.singular_values(epochs, 4)
    for row, epoch in zip(found, epochs, strict=True):
        shorter = FixedPoint(network, 1.0)
        gradient_descent(shorter, 0.01, int(epoch))
        values = np.linalg.svd(shorter.change(), compute_uv=False)[:4]
        np.testing.assert_allclose(row, values, atol=1e-12)


def test_a_run_that_leaps_over_the_singularity_diverges_or_does_not_arrive():
    state = FixedPoint(LinearNetwork.random(40, 0.8, seed=3), 4.0)
    run = gradient_descent(state, 1.0, 50)
    assert run.diverged or not (run.losses <= 0.05 * run.losses[0]).any()


def test_divergence_ends_a_run():
    network = LinearNetwork.random(20, 0.0, seed=3)
    run = gradient_descent(FixedPoint(network, 5.0), 0.01, 10, lost=1.0, watch=lambda state: 7)
    assert run.diverged
    assert np.isnan(run.losses).all()
    assert run.watched == [7]


def test_one_seeds_networks_differ_in_their_strength_alone():
    weak, strong = (LinearNetwork.random(30, g, seed=4) for g in (0.2, 0.8))
    np.testing.assert_allclose(4 * weak.W0, strong.W0)
    np.testing.assert_array_equal(weak.w, strong.w)
    assert np.linalg.norm(strong.m) == pytest.approx(1)
    assert strong.W0.std() == pytest.approx(0.8 / np.sqrt(30), rel=0.1)


def test_single_precision_follows_double_before_the_crossing():
    double = LinearNetwork.random(40, 0.5, seed=5)
    runs = [
        gradient_descent(
            SimulatedTrial(network, 1.0, steps=100), 0.01, 10, watch=lambda trial: trial.W.dtype
        )
        for network in (double, double.astype(np.float32))
    ]
    assert [run.watched for run in runs] == [11 * [np.float64], 11 * [np.float32]]
    np.testing.assert_allclose(runs[1].losses, runs[0].losses, rtol=1e-4)
    np.testing.assert_allclose(runs[1].gradients, runs[0].gradients, rtol=1e-4)


def test_an_eigenvalue_beyond_one_makes_the_gradient_explode():
    network = LinearNetwork.random(40, 0.0, seed=6)
    gradients = []
    for size in (0.9, 1.1):
        unstable = network._replace(W0=size * np.outer(network.m, network.m))
        trial = SimulatedTrial(unstable, 4.0, steps=402)
        gradients.append(gradient_descent(trial, 0.0, 0, lost=np.inf).gradients[0])
    assert gradients[1] > 1e6 * gradients[0]
