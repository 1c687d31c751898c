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


def made(scaled, rnn, start, experiment):
    """A dataset with these errors by delay, the plain convolution's all one, for two seeds."""
    rows = [rnn, scaled, np.ones(len(scaled)), start]
    error = np.broadcast_to(rows, (2, 4, len(scaled)))
    axes = {"model": ["rnn", "scaled", "plain", "start"], "delay": list(experiment.delay)}
    axes["seed"] = [0, 1]
    runs = xarray.Dataset({"error": (("seed", "model", "delay"), error)}, axes)
    return runs.expand_dims(step=[1000])


def test_the_gap_is_shared_out_where_it_is_largest():
    fig3 = Fig3(delay=[0, 2, 4], epochs=1000, shown=1000)
    # At delay 2 the gap is a factor of 8: of 4 between network and kernel, of 2 from there on.
    runs = made([1.0, 8.0, 2.0], [1.0, 1.0, 1.0], [1.0, 4.0, 1.0], fig3)
    names = {claim.name: claim for claim in fig3.claims(runs)}
    share = names["1,000 epochs: the kernel's movement makes the gap"]
    assert share.measured == pytest.approx(2 / 3)
    apart = names["1,000 epochs: RNN and scaled convolution match at every delay"]
    assert apart.measured == pytest.approx(np.log(8))
    assert names["1,000 epochs: delay costs the RNN more than the plain one"].measured == 1
    cost = names["1,000 epochs: delay costs the scaled convolution more than the plain one"]
    assert cost.measured == 2


def test_the_plain_convolution_is_asked_for_its_squared_error():
    fig3 = Fig3(delay=[0, 10], epochs=1000, shown=1000, seed=range(2))
    runs = made([1.0, 1.0], [1.0, 1.0], [1.0, 1.0], fig3).assign_coords(seed=[0, 1])
    power = [np.mean(fig3.data(seed, 10)[3] ** 2) / np.mean(fig3.data(seed, 0)[3] ** 2)
             for seed in (0, 1)]  # fmt: skip
    assert max(power) < 0.8  # half of the outputs carry no signal
    found = {claim.name: claim.measured for claim in fig3.claims(runs)}
    for words in ("best", "worst"):
        name = f"the plain convolution's squared error stays almost the same, at {words}"
        assert found[name] == pytest.approx(np.mean(power))


def test_where_the_rnn_was_not_trained_nothing_is_claimed_of_it():
    fig3 = Fig3(delay=[0, 2], epochs=1000, shown=1000, rnn_epochs=500)
    names = [claim.name for claim in fig3.claims(made([1.0, 2.0], [np.nan] * 2, [1.0, 2.0], fig3))]
    assert not any("RNN" in name or "movement" in name for name in names)
    assert "1,000 epochs: delay costs the scaled convolution more than the plain one" in names


def test_the_crossing_is_interpolated():
    experiment = Fig3.from_preset("smoke", delay=[0, 2, 4])
    # By seed and delay: between 2 and 4 in the logarithm, from the start on, never.
    scaled = np.array([[0.1, 0.1, 10.0], [10.0, 1.0, 1.0], [0.1, 0.1, 0.1]])
    ones = np.ones((3, 3))
    runs = xarray.Dataset(
        {"error": (("model", "seed", "delay"), np.stack([ones, scaled, ones, ones]))},
        {"model": ["rnn", "scaled", "plain", "start"], "delay": [0, 2, 4], "seed": [0, 1, 2]},
    ).expand_dims(step=[40])
    for seeds, expected in (([0], 3.0), ([1], 0.0), ([0, 1, 2], 3.0)):
        claims = {c.name: c for c in experiment.claims(runs.isel(seed=seeds))}
        assert claims["the curves cross once, by delay 6"].measured == pytest.approx(expected)
