"""figs4: fates of networks, leading eigenvalues, and the experiment at its smallest preset."""

import numpy as np
import pytest

from tacit.experiments import reproduce
from tacit.experiments.connectivity._explosion_runs import fate_of, leading_real_parts
from tacit.experiments.connectivity._linear_training import (
    Network,
    Training,
    drawn_network,
    in_time,
)


def trained(losses, *, diverged=False) -> Training:
    nothing = np.zeros((1, 0))
    return Training(np.asarray(losses, float), np.ones(len(losses)), nothing, nothing, diverged)


def test_fates():
    smooth = 0.9 ** np.arange(80)
    jumped = smooth.copy()
    jumped[40] = 0.5
    assert fate_of(trained(smooth), 0.05) == "smooth"
    assert fate_of(trained(jumped), 0.05) == "recovered"
    assert fate_of(trained(np.maximum(smooth, 0.06)), 0.05) == "stuck"
    assert fate_of(trained(smooth, diverged=True), 0.05) == "diverged"


@pytest.mark.parametrize("strength", [0.0, 0.9])
def test_leading_real_parts_are_those_of_all_eigenvalues(strength):
    network = drawn_network(80, 0.8, 4)
    W = network.W0 + strength * np.outer(network.w, network.w)
    every = np.sort(np.linalg.eigvals(W).real)[::-1]
    np.testing.assert_allclose(leading_real_parts(W, 5), every[:5], atol=2e-3)


def test_single_precision_follows_double_before_the_crossing():
    double = drawn_network(40, 0.5, 5)
    single = Network(*(part.astype(np.float32) for part in double))
    seen = []
    runs = [
        in_time(network, 1.0, 0.01, 10, steps=100, watch=lambda W: seen.append(W.dtype))
        for network in (double, single)
    ]
    assert seen == 11 * [np.dtype(np.float64)] + 11 * [np.dtype(np.float32)]
    np.testing.assert_allclose(runs[1].losses, runs[0].losses, rtol=1e-4)
    np.testing.assert_allclose(runs[1].gradients, runs[0].gradients, rtol=1e-4)


def test_an_eigenvalue_beyond_one_makes_the_gradient_explode():
    network = drawn_network(40, 0.0, 6)
    gradients = []
    for size in (0.9, 1.1):
        unstable = network._replace(W0=size * np.outer(network.m, network.m))
        gradients.append(in_time(unstable, 4.0, 0.0, 0, steps=402, lost=np.inf).gradients[0])
    assert gradients[1] > 1e6 * gradients[0]


def test_smoke(tmp_path):
    run = reproduce("connectivity/figs4", preset="smoke", results=tmp_path)
    data = run.dataset
    assert set(np.unique(data["fate"].values)) <= {"smooth", "recovered", "stuck", "diverged"}
    np.testing.assert_array_equal(data["loss"].isel(step=0), 1.0)
    # Without initial connectivity all eigenvalues but one are small, and none is there at first.
    zero = data["real_parts"].sel({"g": 0.0})
    np.testing.assert_allclose(zero.isel(step=0), 0, atol=1e-6)
    np.testing.assert_allclose(zero.isel(mode=slice(2, None)), 0, atol=1e-3)
    crossed = np.isfinite(data["crossing"].values)
    highest = data["real_parts"].isel(mode=0).max("step").values
    np.testing.assert_array_equal(crossed, highest > 1)
    assert (run.path / "figure.png").stat().st_size > 10_000
