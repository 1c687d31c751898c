"""First order, traces and the limit spectrum against large random matrices and shuffled ones."""

import numpy as np
import pytest

from tacit.theory.connectivity import (
    change_norm,
    gradient_norm,
    large_n,
    learning_curve,
    learning_time,
    limit_spectrum,
    output_series,
    series_end,
    shuffled_loss,
    shuffled_output_series,
    traces,
)


@pytest.mark.parametrize("g", [0.3, 0.5])
def test_traces_are_those_of_a_large_matrix(g):
    rng = np.random.default_rng(0)
    size, found = 400, []
    for _ in range(3):
        B = np.linalg.inv(np.eye(size) - rng.normal(size=(size, size)) * g / np.sqrt(size))
        products = (B, B @ B.T, B @ B @ B.T, B @ B.T @ B @ B.T)
        found.append([np.trace(product) / size for product in products])
    np.testing.assert_allclose(np.mean(found, axis=0), traces(g), rtol=0.06)


@pytest.mark.parametrize("g", [0.05, 0.5, 0.9])
def test_limit_spectrum_has_the_moments_of_the_cubic(g):
    spectrum, beta = limit_spectrum(g), 1 / (1 - g**2)
    expected = [
        1,
        beta,
        beta**4,
        beta**6 * (3 * beta - 2),
        beta**8 * (2 * beta - 1) * (6 * beta - 5),
    ]
    found = [np.sum(spectrum.weights * spectrum.nodes**-k) for k in range(5)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.sum(spectrum.weights * spectrum.nodes) == pytest.approx(1 + g**2, rel=1e-12)


def test_limit_spectrum_is_that_of_a_large_matrix():
    g, size = 0.6, 600
    W0 = np.random.default_rng(1).normal(size=(size, size)) * g / np.sqrt(size)
    squares = np.linalg.svd(np.eye(size) - W0, compute_uv=False) ** 2
    nodes, weights = limit_spectrum(g)
    order = np.argsort(nodes)
    shares = np.interp(squares[::-1], nodes[order], np.cumsum(weights[order]))
    assert np.abs(shares - (np.arange(size) + 0.5) / size).max() < 0.02


@pytest.mark.parametrize("g", [0.2, 0.6])
def test_first_order_is_the_beginning_of_the_exact_curve(g):
    curve = large_n(g, targets=1.5)
    np.testing.assert_allclose(curve.gradient_norm(0.0), gradient_norm(g, 1.5), rtol=1e-10)
    small = 1e-4 * learning_time(g)
    np.testing.assert_allclose(curve.output(small), 1.5 * small / learning_time(g), rtol=1e-3)
    # Norm at τ₁*: rate times time.
    assert change_norm(g, 1.5) == pytest.approx(gradient_norm(g, 1.5) * learning_time(g))
    shuffled = shuffled_output_series(small, 1.5, g) / output_series(small, 1.5, g)
    np.testing.assert_allclose(shuffled, learning_time(g), rtol=1e-3)


@pytest.mark.parametrize("g", [0.5])
def test_shuffling_leaves_what_the_series_says(g):
    """(91), whose third order differs from (15)'s, on trained and shuffled networks."""
    target, size, outputs = 1.0, 200, []
    tau = 0.3 * learning_time(g)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        W0 = rng.normal(size=(size, size)) * g / np.sqrt(size)
        w, m = np.linalg.qr(rng.normal(size=(size, 2)))[0].T
        change = learning_curve(W0, w, m, targets=target).change(tau)
        shuffled = rng.permutation(W0.ravel()).reshape(size, size)
        plain = w @ np.linalg.solve(np.eye(size) - shuffled, m)
        outputs.append(w @ np.linalg.solve(np.eye(size) - shuffled - change, m) - plain)
    expected = shuffled_output_series(tau, target, g)
    spread = np.std(outputs) / np.sqrt(len(outputs))
    assert abs(np.mean(outputs) - expected) < 4 * spread + 0.3**4  # the next order
    assert expected < 0.8 * output_series(tau, target, g)


@pytest.mark.parametrize(("target", "g"), [(0.5, 0.0), (2.0, 0.6), (-1.0, 0.9)])
def test_the_series_ends_where_it_first_reaches_its_target(target, g):
    end = series_end(target, g)
    assert output_series(end, target, g) == pytest.approx(target)
    assert (np.abs(output_series(np.linspace(0, 0.999 * end, 500), target, g)) < abs(target)).all()


def test_shuffled_loss_is_that_of_the_shuffled_output():
    assert shuffled_loss(0.0) == 0
    assert shuffled_loss(0.5) == pytest.approx((1 - learning_time(0.5)) ** 2)


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (lambda: traces(-0.1), r"g: received .*must lie in \[0, 1\)"),
        (lambda: shuffled_loss(1.0), r"g: received .*must lie in \[0, 1\)"),
        (lambda: limit_spectrum(0.5, nodes=0), "nodes: received .*must be an integer"),
        (lambda: change_norm(0.5, np.inf), "target: received .*must be a finite number"),
        (lambda: output_series([-1.0], 1.0), "times: received .*must be numbers"),
    ],
)
def test_bad_input(door, words):
    with pytest.raises(ValueError, match=words):
        door()
