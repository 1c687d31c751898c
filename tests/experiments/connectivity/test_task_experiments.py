"""The experiments on tasks at their smallest preset, and their cells against plain computations."""

import jax
import numpy as np
import pytest

from tacit.experiments import reproduce
from tacit.experiments.connectivity._task_runs import _curve, the_task
from tacit.experiments.connectivity._tasks import TaskConfig
from tacit.experiments.connectivity.fig1 import Fig1
from tacit.models import RateRNN


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One process for all three: they share their programs."""
    folder = tmp_path_factory.mktemp("results")
    return {
        name: reproduce(f"connectivity/{name}", preset="smoke", results=folder)
        for name in ("fig1", "fig2", "figs2")
    }


def test_smoke(runs):
    for run in runs.values():
        assert set(np.unique(run.dataset["outcome"].values)) <= {"converged", "stopped"}
        assert (run.path / "figure.png").stat().st_size > 10_000
    # The same networks in all three: a cell's result is its own.
    first, second = (runs[name].dataset for name in ("fig1", "fig2"))
    np.testing.assert_array_equal(first["change_norm"], second["change_norm"])


def test_stored_quantities_belong_together(runs):
    data = runs["fig1"].dataset
    values = data["change_singular"].values
    assert np.all(np.diff(values, axis=-1) <= 0)
    # Eight of 24 singular values cannot exceed the norm; the loss at rank 0 is not the trained one.
    assert np.all(np.sqrt((values**2).sum(axis=-1)) <= data["change_norm"].values * (1 + 1e-6))
    assert np.all(data["final_loss"].values < 1)
    assert np.all(data["loss"].isel(step=-1).values < data["loss"].isel(step=0).values)
    # Without initial connectivity there is nothing to shuffle, and W is ΔW.
    zero = data.sel({"g": 0.0})
    np.testing.assert_allclose(zero["shuffled_loss"], zero["final_loss"], rtol=1e-5)
    np.testing.assert_allclose(zero["change_norm"], zero["weight_norm"], rtol=1e-6)


def test_curves_are_smoothed_and_relative():
    found = _curve(np.full(50, 3.0))
    np.testing.assert_allclose(found["loss"], 1.0)
    assert found["epoch"][-1] == 49


def test_the_initial_loss_is_that_of_the_drawn_network(runs):
    config = Fig1.presets["smoke"]
    assert isinstance(config, TaskConfig)
    task = the_task("flip-flop", config)
    keys = jax.random.split(jax.random.key(1), 4)
    model = RateRNN.random(24, inputs=2, outputs=2, g=0.9, key=keys[0])
    trials = task.sample(keys[2], config.trials)
    expected = float(trials.loss(model.run(trials.inputs)))
    stored = runs["fig1"].dataset["initial_loss"].sel({"task": "flip-flop", "g": 0.9, "seed": 1})
    assert float(stored) == pytest.approx(expected, rel=1e-5)
