"""kernel/fig3 at its smallest preset."""

import numpy as np
import pytest
import xarray

from tacit.experiments.kernel.fig3 import Fig3
from tacit.reproduction import reproduce


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return reproduce("kernel/fig3", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_errors_are_there_and_the_figure_is_drawn(smoke):
    error = smoke.dataset["error"]
    assert error.notnull().all()
    assert (error > 0).all()
    # Delay hurts the scaled convolution.
    scaled = error.sel(model="scaled", step=40).mean("seed")
    assert float(scaled.sel(delay=8)) > 3 * float(scaled.sel(delay=0))
    assert (smoke.path / "figure.svg").exists()


def test_a_delay_shifts_the_targets_and_nothing_else():
    quiet = Fig3.from_preset("smoke", decibels=200.0)
    x, y, *_ = quiet.data(3, 0)
    x_late, y_late, *_ = quiet.data(3, 5)
    np.testing.assert_array_equal(x, x_late)
    np.testing.assert_allclose(y_late[:, 5:], y[:, :-5], atol=1e-8)
    np.testing.assert_allclose(y_late[:, :5], 0, atol=1e-8)


def test_the_crossing_is_interpolated():
    experiment = Fig3.from_preset("smoke", delay=[0, 2, 4])
    # By seed and delay: between 2 and 4 in the logarithm, from the start on, never.
    scaled = np.array([[0.1, 0.1, 10.0], [10.0, 1.0, 1.0], [0.1, 0.1, 0.1]])
    ones = np.ones((3, 3))
    runs = xarray.Dataset(
        {"error": (("model", "seed", "delay"), np.stack([ones, scaled, ones, ones]))},
        {"model": ["rnn", "scaled", "plain", "start"], "delay": [0, 2, 4]},
    ).expand_dims(step=[40])
    for seeds, expected in (([0], 3.0), ([1], 0.0), ([0, 1, 2], 3.0)):
        claims = {c.name: c for c in experiment.claims(runs.isel(seed=seeds))}
        assert claims["the curves cross by delay 6"].measured == pytest.approx(expected)
