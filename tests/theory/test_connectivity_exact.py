"""The exact learning curves against independent integrations of the full dynamics."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from tacit.theory.connectivity import (
    LearningCurve,
    change_series,
    conserved,
    conserved_drift,
    exact_g0,
    large_n,
    learning_curve,
    output_series,
    singular_value_series,
)

TARGETS = (0.5, 1.0, 2.0, 5.0, 20.0)


def reduced_system(target: float, times: np.ndarray) -> np.ndarray:
    """(68)–(70) of the paper: A(τ) of ΔW = [w m] A [w m]ᵀ, integrated directly."""

    def motion(_: float, flat: np.ndarray) -> np.ndarray:
        A = flat.reshape(2, 2)
        inverse = np.linalg.inv(np.eye(2) - A).T  # I + Cᵀ with C = A(I − A)⁻¹
        z = inverse[1, 0]
        return ((target - z) * np.outer(inverse[:, 0], inverse[1])).ravel()

    found = solve_ivp(
        motion, (0, times[-1]), np.zeros(4), method="DOP853", t_eval=times, rtol=3e-14, atol=1e-15
    )
    return found.y.T.reshape(-1, 2, 2)


def network(size: int, g: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    W0 = rng.normal(size=(size, size)) * g / np.sqrt(size)
    return W0, rng.normal(size=size) / np.sqrt(size), rng.normal(size=size) / np.sqrt(size)


def dense_flow(W0, w, m, target: float, times: np.ndarray) -> np.ndarray:
    """(6) integrated as it stands, N² numbers and a solve a step."""
    size = len(W0)

    def motion(_: float, flat: np.ndarray) -> np.ndarray:
        A = np.eye(size) - flat.reshape(size, size)
        x, y = np.linalg.solve(A, m), np.linalg.solve(A.T, w)
        return ((target - w @ x) * np.outer(y, x)).ravel()

    found = solve_ivp(
        motion, (0, times[-1]), W0.ravel(), method="DOP853", t_eval=times, rtol=1e-10, atol=1e-13
    )
    return found.y.T.reshape(-1, size, size)


@functools.cache
def small_network_curve() -> LearningCurve:
    return learning_curve(*network(40, 0.6, 3), targets=(0.5, 2.0, -1.0))


@pytest.mark.parametrize("target", [*TARGETS, -1.5])
def test_closed_form_solves_the_reduced_system(target):
    curve = exact_g0(target)
    times = np.linspace(0, 2.0, 21) * curve.learning_time()
    expected = reduced_system(target, times)
    np.testing.assert_allclose(curve.change(times), expected, atol=1e-10)
    z = np.linalg.inv(np.eye(2) - expected)[:, 0, 1]
    np.testing.assert_allclose(curve.output(times), z, atol=1e-10 * max(1, abs(target)))
    singular = np.linalg.svd(expected, compute_uv=False)
    np.testing.assert_allclose(curve.singular_values(times), singular, atol=1e-10)
    np.testing.assert_allclose(singular.sum(axis=1), np.abs(curve.arc_length(times)), atol=1e-10)


def test_the_papers_targets_take_the_trials_times():
    # 5% of the initial loss at g = 0: 1.18, 0.76 and 0.37.
    found = [exact_g0(target).learning_time() for target in (0.5, 1.0, 2.0)]
    np.testing.assert_allclose(found, [1.18, 0.76, 0.37], atol=5e-3)
    arc = exact_g0(1.0).divergence
    np.testing.assert_allclose(arc * np.tanh(arc), 1.0, rtol=1e-14)


@pytest.mark.parametrize("target", [0.5, 2.0])
def test_flow_is_the_dense_integration(target):
    W0, w, m = network(100, 0.6, 0)
    curve = learning_curve(W0, w, m, targets=(0.5, 2.0))
    times = np.linspace(0, 1.5, 4) * curve.learning_time(target)
    expected = dense_flow(W0, w, m, target, times)
    change = curve.change(times, target=target)
    np.testing.assert_allclose(change, expected - W0, atol=1e-7)
    z = [w @ np.linalg.solve(np.eye(100) - W, m) for W in expected]
    np.testing.assert_allclose(curve.output(times, target=target), z, atol=1e-7)
    singular = np.linalg.svd(expected - W0, compute_uv=False)[:, :5]
    found = curve.singular_values(times, target=target, count=5)
    np.testing.assert_allclose(found, singular, atol=1e-7)


@pytest.mark.parametrize("target", [2.0, -1.0])
def test_flow_keeps_the_conservation_laws_and_gives_its_own_output(target):
    W0, w, m = network(40, 0.6, 3)
    curve = small_network_curve()
    times = np.array([0.3, 1.0, 10.0]) * curve.learning_time(target)
    for tau, change in zip(times, curve.change(times, target=target), strict=True):
        W = W0 + change
        assert conserved_drift(W0, W, w, m) < 1e-9
        z = w @ np.linalg.solve(np.eye(40) - W, m)
        np.testing.assert_allclose(curve.output(tau, target=target), z, atol=1e-9)
    # The laws are not empty: another change of the same size breaks them.
    assert conserved_drift(W0, W0 + change.T, w, m) > 1e-3
    left, right = conserved(W0, w, m)
    np.testing.assert_allclose([np.abs(left @ w).max(), np.abs(right @ m).max()], 0, atol=1e-13)


@settings(max_examples=15, deadline=None)
@given(
    target=st.sampled_from([0.5, 2.0, -1.0]),
    fraction=st.floats(1e-8, 0.99),
)
def test_learning_time_is_when_the_loss_has_fallen(target, fraction):
    curve = small_network_curve()
    tau = curve.learning_time(target, fraction)
    start = curve.loss(0.0, target=target)
    np.testing.assert_allclose(curve.loss(tau, target=target), fraction * start, rtol=1e-9)
    error = target - curve.output(tau, target=target)
    np.testing.assert_allclose(error**2 / 2, fraction * start, rtol=1e-6)


def test_gradient_norm_is_that_of_the_gradient():
    W0, w, m = network(40, 0.6, 3)
    curve = small_network_curve()
    W = W0 + curve.change(0.2, target=2.0)
    A = np.eye(40) - W
    x, y = np.linalg.solve(A, m), np.linalg.solve(A.T, w)
    expected = abs(2.0 - w @ x) * np.linalg.norm(x) * np.linalg.norm(y)
    np.testing.assert_allclose(curve.gradient_norm(0.2, target=2.0), expected, rtol=1e-9)


@pytest.mark.parametrize("target", [0.5, 20.0])
def test_large_n_without_connectivity_is_the_closed_form(target):
    curve, exact = large_n(0.0, targets=target), exact_g0(target)
    times = np.linspace(0, 3, 16) * exact.learning_time()
    np.testing.assert_allclose(curve.output(times), exact.output(times), atol=1e-10)
    np.testing.assert_allclose(
        curve.singular_values(times), exact.singular_values(times), atol=1e-10
    )
    np.testing.assert_allclose(curve.divergence, exact.divergence, rtol=1e-11)
    np.testing.assert_allclose(
        curve.radius_of_convergence(), exact.radius_of_convergence(), rtol=1e-10
    )


def test_large_n_is_where_networks_go():
    limit = large_n(0.5, targets=1.0)
    assert abs(limit.initial_output) < 1e-15
    sizes, gaps = (50, 300), []
    for size in sizes:
        times = [
            learning_curve(*network(size, 0.5, seed), targets=1.0).learning_time()
            for seed in range(8)
        ]
        gaps.append(np.sqrt(np.mean((np.array(times) / limit.learning_time() - 1) ** 2)))
    assert gaps[1] < 0.15  # 1/√N: about 0.3 and 0.1
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("g", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("target", [0.5, 2.0])
def test_exact_curves_begin_as_the_series_say(g, target):
    curve = exact_g0(target) if g == 0 else large_n(g, targets=target)
    reach = 0.15 * curve.radius_of_convergence()
    nodes = np.polynomial.chebyshev.chebpts1(14)
    times = reach * (1 + nodes) / 2
    unit = times / reach

    def thirds(values: np.ndarray) -> np.ndarray:
        return np.polynomial.polynomial.polyfit(unit, values, 13)[:4]

    def compare(found: np.ndarray, series: np.ndarray) -> None:
        expected = np.polynomial.polynomial.polyfit(unit, series, 3)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(thirds(found) / scale, expected / scale, atol=2e-8)

    compare(curve.output(times), output_series(times, target, g))
    singular, series = curve.singular_values(times), singular_value_series(times, target, g)
    compare(singular[:, 0], series[:, 0])
    # s₂ begins at third order: its coefficient by itself.
    third = np.polynomial.polynomial.polyfit(unit, singular[:, 1] / unit**3, 8)[0]
    np.testing.assert_allclose(third, series[-1, 1] / unit[-1] ** 3, rtol=1e-4)
    if g == 0:
        entries, expected = curve.change(times), change_series(times, target)
        for row, column in np.ndindex(2, 2):
            compare(entries[:, row, column], expected[:, row, column])


@pytest.mark.parametrize("target", [0.5, 2.0])
def test_radius_of_convergence_is_that_of_the_taylor_coefficients(target):
    radius = exact_g0(target).radius_of_convergence()
    coefficients = np.abs(arc_coefficients(target, radius, 400))
    # A branch point (τ_b − τ)^{1/4} at the radius: |a_k| ~ k^{−5/4}, in units of the radius.
    growth = np.log(coefficients[399] / coefficients[199]) + 1.25 * np.log(399 / 199)
    np.testing.assert_allclose(np.exp(-growth / 200), 1.0, atol=1e-3)
    # The series cannot reach the end of learning.
    assert radius < exact_g0(target).learning_time()


def arc_coefficients(target: float, unit: float, order: int) -> np.ndarray:
    """Taylor coefficients of σ(τ) in τ/unit, from D³σ' = ẑD − tanh σ by power-series arithmetic."""
    arc, tanh, square, speed = (np.zeros(order + 1) for _ in range(4))
    one = np.eye(1, order + 1)[0]
    D, D2, D3 = one.copy(), one.copy(), one.copy()

    def product(a: np.ndarray, b: np.ndarray, k: int) -> float:
        return float(a[: k + 1] @ b[k::-1]) if k else float(a[0] * b[0])

    for k in range(order):
        speed[k] = target * D[k] - tanh[k] - product(speed, D3, k)
        arc[k + 1] = speed[k] * unit / (k + 1)
        tanh[k + 1] = product(one - square, speed, k) * unit / (k + 1)
        D[k + 1] = -product(arc, tanh, k + 1)
        square[k + 1] = product(tanh, tanh, k + 1)
        D2[k + 1] = product(D, D, k + 1)
        D3[k + 1] = product(D2, D, k + 1)
    return arc


def test_a_curve_beyond_its_end_stays_at_its_target():
    curve = exact_g0(2.0)
    np.testing.assert_allclose(curve.output([1e3, 1e6]), 2.0, rtol=1e-15)
    assert np.all(curve.loss([1.0, 2.0]) > 0)  # by its own exponent, not by a difference
    assert curve.output(np.zeros((2, 3))).shape == (2, 3)


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (lambda: exact_g0(np.nan), "target: received .*must be a finite number"),
        (lambda: exact_g0(0.0).output(1.0), "nothing to learn"),
        (lambda: exact_g0(1.0).output([-1.0]), "times: received .*must be numbers from 0 on"),
        (
            lambda: exact_g0(1.0).learning_time(fraction=1.5),
            "fraction: received .*must lie between",
        ),
        (
            lambda: exact_g0(1.0).singular_values(1.0, count=0),
            "count: received .*must be an integer",
        ),
        (lambda: large_n(1.0, targets=1.0), r"g: received .*must lie in \[0, 1\)"),
        (lambda: large_n(0.5, targets=[]), "one target or more"),
        (lambda: large_n(0.0, targets=1.0).change(1.0), "no matrix in the limit"),
        (lambda: large_n(0.0, targets=1.0).output(1.0, target=1e6), "name it among the targets"),
        (lambda: large_n(0.0, targets=(1.0, 2.0)).output(1.0), "say which one"),
        (lambda: learning_curve(np.eye(3), np.ones(3), np.ones(3), targets=1), "eigenvalue of one"),
        (
            lambda: learning_curve(np.zeros((3, 2)), np.ones(3), np.ones(3), targets=1),
            "square matrix",
        ),
        (
            lambda: learning_curve(np.zeros((3, 3)), np.ones(2), np.ones(3), targets=1),
            "w: received 2 entries.*must have 3",
        ),
        (
            lambda: learning_curve(np.zeros((3, 3)), np.zeros(3), np.ones(3), targets=1),
            "received zero",
        ),
    ],
)
def test_bad_input(door, words):
    with pytest.raises(ValueError, match=words):
        door()
