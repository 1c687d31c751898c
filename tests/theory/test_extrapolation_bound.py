"""Theorem 8 with constants: students that try to be as wrong as they may."""

from fractions import Fraction

import numpy as np
import pytest

from tacit.theory.lowdim import extrapolation_bound, nonextrapolating_student
from tacit.theory.lowdim._extrapolation_bound import _extremes

NODES, WEIGHTS = np.array([-0.7, 0.2, 0.9]), np.array([0.5, 0.3, 0.4])


def response(nodes, weights, lags):
    return np.array([weights @ nodes**j for j in range(lags)])


def loss_and_error(nodes, weights, length, lag):
    gap = response(nodes, weights, lag + 1) - response(NODES, WEIGHTS, lag + 1)
    return np.sum(gap[:length] ** 2), abs(gap[lag])


@pytest.mark.parametrize("lag", [7, 8, 15, 30])
@pytest.mark.parametrize("radius", [1.0, 1.1])
def test_no_balanced_student_is_further_off(lag, radius):
    rng = np.random.default_rng(lag)
    worst = 0.0
    for scale in np.logspace(-7, 0, 120):
        # atoms near the teacher's, split, with a stray one anywhere
        nodes = np.concatenate([NODES, NODES, rng.uniform(-radius, radius, 1)])
        nodes = np.clip(nodes + scale * rng.normal(size=7) * (np.arange(7) < 6), -radius, radius)
        weights = np.concatenate([WEIGHTS / 2, WEIGHTS / 2, [0]]) + scale**2 * rng.uniform(0, 1, 7)
        loss, error = loss_and_error(nodes, weights, 7, lag)
        bound = extrapolation_bound(
            NODES, WEIGHTS, loss=loss, lag=lag, length=7, radius=radius
        ).sharp
        assert error <= bound * (1 + 1e-9) + 1e-13
        worst = max(worst, error / bound)
    assert worst > 1e-3  # a bound that could be a thousand times smaller would say little


def test_the_sharp_bound_is_nearly_attained():
    # The worst student for a linear functional of the first errors: solve for the least loss that
    # a stray atom of small mass at x and the best reweighting of the teacher's own atoms have.
    lag, length, mass = 15, 7, 1e-4
    ratios = []
    for x in np.linspace(-1, 1, 201):
        basis = np.stack([NODES**j for j in range(length)])
        slope = np.stack([j * NODES ** max(j - 1, 0) for j in range(length)])
        stray = mass * x ** np.arange(length)
        moves = np.linalg.lstsq(np.hstack([basis, slope]), -stray, rcond=None)[0]
        nodes = np.append(NODES + moves[3:] / (WEIGHTS + moves[:3]), x)
        weights = np.append(WEIGHTS + moves[:3], mass)
        if np.all(weights > 0) and np.max(np.abs(nodes)) <= 1:
            loss, error = loss_and_error(nodes, weights, length, lag)
            bound = extrapolation_bound(NODES, WEIGHTS, loss=loss, lag=lag, length=length).sharp
            ratios.append(error / bound)
    assert 0.3 < max(ratios) <= 1


def test_unbalanced_students_break_it():
    # Proposition 3: without positive weights a zero loss says nothing of the next lag.
    student = nonextrapolating_student(response(NODES, WEIGHTS, 7), 7, 20, 5.0)
    nodes, weights = np.diag(student.A), student.C[0] * student.B[:, 0]
    loss, error = loss_and_error(nodes, weights, 7, 7)
    bound = extrapolation_bound(NODES, WEIGHTS, loss=loss, lag=7, length=7)
    assert error > 1e3 * bound.sharp


def test_rates_in_the_loss():
    losses = np.array([1e-12, 1e-8])
    bound = extrapolation_bound(NODES, WEIGHTS, loss=losses, lag=12, length=9)
    assert bound.sharp[1] / bound.sharp[0] == pytest.approx(100)  # √δ
    ratio = bound.theorem[1] / bound.theorem[0]
    assert ratio == pytest.approx(1e4 ** (1 / 12), rel=1e-2)  # δ^{1/4d̂}
    assert np.all(bound.theorem > bound.sharp)
    zero = extrapolation_bound(NODES, WEIGHTS, loss=0.0, lag=12, length=9)
    assert zero == (0.0, 0.0)


def test_within_the_training_length_the_loss_bounds_each_lag():
    assert extrapolation_bound(NODES, WEIGHTS, loss=0.04, lag=3, length=7).sharp == 0.2


def test_normalised_moments_are_within_what_the_proof_says():
    # (C.36) and what follows it: |m_j − m̂_j|² ≤ δ (1 + τ^{k+1}(τ^{k−1} + 1))/(ĈB̂)².
    rng = np.random.default_rng(0)
    for _ in range(300):
        radius = rng.choice([1.0, 1.2])
        nodes = rng.uniform(-radius, radius, 8)
        weights = rng.uniform(0, 0.4, 8)
        here, there = response(nodes, weights, 7), response(NODES, WEIGHTS, 7)
        loss = np.sum((here - there) ** 2)
        gap = np.abs(here / here[0] - there / there[0])
        limit = loss * (1 + radius**8 * (radius**6 + 1)) / there[0] ** 2
        assert np.all(gap**2 <= limit * (1 + 1e-12))


def test_the_printed_step_from_wasserstein_distance_to_moments_fails():
    # (C.37): |m_q − m̂_q| ≤ W_q; for the points 1 and 1 − ε, W_q = ε and the left side is ≈ qε.
    q, step = 5, 1e-3
    assert abs(1 - (1 - step) ** q) > 4 * step
    assert abs(1 - (1 - step) ** q) <= q * step


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": [0.5, 0.5, 0.1]}, "nodes: received .*must be distinct"),
        ({"nodes": [0.5, 1.5, 0.1]}, r"in \[-1, 1\]"),
        ({"nodes": [0.5]}, "of one length"),
        ({"weights": [0.5, 0.0, 0.1]}, "weights: received .*must be positive"),
        ({"loss": -1.0}, "loss: received .*must not be negative"),
        ({"lag": -1}, "lag: received .*must be"),
        ({"length": 6}, "length: received .*must be an integer, at least 7"),
        ({"radius": 0.5}, "radius: received .*must be finite and reach"),
        ({"constant": 0.0}, "constant: received .*must be positive"),
    ],
)
def test_wrong_arguments(changes, words):
    good = {"nodes": NODES, "weights": WEIGHTS, "loss": 1e-3, "lag": 9, "length": 7}
    with pytest.raises(ValueError, match=words):
        extrapolation_bound(**(good | changes))


def test_the_theorems_bound_term_by_term():
    lag, length, tau, delta, rho = 12, 9, 1.2, 1e-3, 2.5
    bound = extrapolation_bound(
        NODES, WEIGHTS, loss=delta, lag=lag, length=length, radius=tau, constant=rho
    )
    gain = 1.2  # the sum of the weights
    spread = delta * (1 + tau**10 * (tau**8 + 1)) / gain**2
    expected = gain * lag * tau**11 * rho * spread ** (1 / 12) + tau**12 * np.sqrt(delta)
    assert bound.theorem == pytest.approx(expected, rel=1e-12)


def test_the_sharp_bound_is_the_largest_over_the_quotients_range():
    """x³ = (x + 1)(x − ½)² + ¾x − ¼: the quotient runs from 0 to 2 on [−1, 1]."""
    monic, rest = np.array([0.25, -1.0, 1.0]), np.array([-0.25, 0.75, 0.0])
    expected = max(np.linalg.norm(rest + g * monic) for g in (0.0, 2.0))
    found = extrapolation_bound([0.5], [1.0], loss=1.0, lag=3, length=3).sharp
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("polynomial", "ends"), [([0, 1], (-2, 2)), ([0, -1], (-2, 2)), ([1, 0, 1], (1, 5))]
)
def test_the_extremes_of_a_polynomial_lie_at_both_ends_and_between(polynomial, ends):
    assert _extremes([Fraction(c) for c in polynomial], 2.0) == pytest.approx(ends)
