"""kernel/fig3 at its smallest preset."""

import numpy as np
import pytest

from tacit.experiments import find_experiment, load_reference, reproduce
from tacit.experiments.kernel._delay import _data
from tacit.experiments.kernel.fig3 import crossing


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
    config = find_experiment("kernel/fig3").presets["smoke"]
    loud = config.with_overrides({"decibels": 200.0})
    x, y, *_ = _data(3, 0, loud)
    x_late, y_late, *_ = _data(3, 5, loud)
    np.testing.assert_array_equal(x, x_late)
    np.testing.assert_allclose(y_late[:, 5:], y[:, :-5], atol=1e-8)
    np.testing.assert_allclose(y_late[:, :5], 0, atol=1e-8)


def test_the_crossing_is_interpolated(smoke):
    import xarray

    config = find_experiment("kernel/fig3").presets["smoke"].with_overrides({"delay": [0, 2, 4]})
    ratio = np.array([[0.1, 0.1, 10.0], [10.0, 1.0, 1.0], [0.1, 0.1, 0.1]])
    error = xarray.DataArray(
        np.stack([ratio, np.ones((3, 3))]),
        dims=("model", "seed", "delay"),
        coords={"model": ["scaled", "plain"], "delay": [0, 2, 4]},
    )
    np.testing.assert_allclose(crossing(error, config), [3.0, 0.0, np.inf])


def test_the_committed_reference_is_as_expected():
    claims = load_reference(find_experiment("kernel/fig3"), "quick")
    assert claims is not None
    assert all(claim.as_expected for claim in claims)
