"""The experiments on tasks at their smallest preset, and their cells against plain computations."""

import jax
import numpy as np
import pytest
import xarray

from tacit.experiments import reproduce
from tacit.experiments.connectivity.fig1 import Fig1
from tacit.experiments.connectivity.tasks import smoothed_curve
from tacit.models import RateRNN


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One process for all four: they share their programs."""
    folder = tmp_path_factory.mktemp("results")
    return {
        name: reproduce(f"connectivity/{name}", preset="smoke", results=folder)
        for name in ("fig1", "fig2", "figs2", "figs1")
    }


def test_smoke(runs):
    for run in runs.values():
        assert set(np.unique(run.dataset["outcome"].values)) <= {"converged", "stopped"}
        assert (run.path / "figure.png").stat().st_size > 10_000
    # The same networks in all four: a cell's result is its own.
    first, second, sizes = (runs[name].dataset for name in ("fig1", "fig2", "figs1"))
    np.testing.assert_array_equal(first["change_norm"], second["change_norm"])
    np.testing.assert_array_equal(first["change_norm"], sizes["change_norm"].sel(width=24))
    names = [claim.name for claim in runs["figs1"].claims]
    assert "norm of W, flip-flop, g = 0.9" in names
    assert "epochs to learn, flip-flop, g = 0: not more" in names


def test_stored_quantities_belong_together(runs):
    data = runs["fig1"].dataset
    values = data["change_singular"].values
    assert np.all(np.diff(values, axis=-1) <= 0)
    # Eight of 24 singular values cannot exceed the norm; the loss at rank 0 is not the trained one.
    assert np.all(np.sqrt((values**2).sum(axis=-1)) <= data["change_norm"].values * (1 + 1e-6))
    assert np.all(data["final_loss"].values < 1)
    # What has not been learned by the end is looked at where it was best.
    np.testing.assert_array_equal(data["iterate"] == "last", data["final_loss"] <= 0.05)
    assert np.all(data["loss"].isel(step=-1).values < data["loss"].isel(step=0).values)
    # Without initial connectivity there is nothing to shuffle, and W is ΔW.
    zero = data.sel({"g": 0.0})
    np.testing.assert_allclose(zero["shuffled_loss"], zero["looked_loss"], rtol=1e-5)
    np.testing.assert_allclose(zero["change_norm"], zero["weight_norm"], rtol=1e-6)


def test_curves_are_smoothed_and_relative():
    found = smoothed_curve(np.full(50, 3.0))
    np.testing.assert_allclose(found["loss"], 1.0)
    assert found["epoch"][-1] == 49


def test_the_initial_loss_is_that_of_the_drawn_network(runs):
    fig1 = Fig1.from_preset("smoke")
    keys = jax.random.split(jax.random.key(1), 4)
    model = RateRNN.random(24, inputs=2, outputs=2, g=0.9, key=keys[0])
    trials = fig1.problem("flip-flop").sample(keys[2], fig1.trials)
    expected = float(trials.loss(model.run(trials.inputs)))
    stored = runs["fig1"].dataset["initial_loss"].sel({"task": "flip-flop", "g": 0.9, "seed": 1})
    assert float(stored) == pytest.approx(expected, rel=1e-5)


def stored(epochs, norms, ranks, iterates, first=None):
    """A dataset of networks that learned the flip-flop with g = 0."""
    count = len(epochs)
    values = np.tile([1.4, 1.35, 0.3, 0.2], (count, 1))
    data = xarray.Dataset(
        {
            "outcome": ("seed", np.full(count, "converged")),
            "iterate": ("seed", np.array(iterates)),
            "epochs_needed": ("seed", np.array(epochs, float)),
            "epochs_first": ("seed", np.array(first or epochs, float)),
            "change_norm": ("seed", np.array(norms, float)),
            "rank_text": ("seed", np.array(ranks, float)),
            "change_singular": (("seed", "singular_value"), values),
        }
    )
    return data.expand_dims({"task": ["flip-flop"], "g": [0.0]})


def test_the_numbers_of_an_earlier_implementation():
    fig1 = Fig1()
    good = stored([72, 89, 86, 70, 75, 80, 81], [2.0] * 7, [2] * 7, ["last"] * 7)
    assert {claim.verdict for claim in fig1.as_before(good, "flip-flop", 0.0)} == {"holds"}
    bad = stored([20, 21, 22, 23, 24, 25, 26], [4.0] * 7, [9] * 7, ["last"] * 7)
    verdicts = {c.name: c.verdict for c in fig1.as_before(bad, "flip-flop", 0.0)}
    assert verdicts["flip-flop, g = 0: at least 60 epochs"] == "fails"
    assert verdicts["flip-flop, g = 0: norm of ΔW"] == "fails"
    assert verdicts["flip-flop, g = 0: functional rank as before"] == "fails"
    assert verdicts["flip-flop, g = 0: leading singular value"] == "holds"
    assert len(fig1.as_before(good, "flip-flop", 0.3)) == 0
    thrown_back = stored([200] * 7, [2.0] * 7, [2] * 7, ["last"] * 7, first=[70] * 7)
    verdicts = {c.name: c.verdict for c in fig1.as_before(thrown_back, "flip-flop", 0.0)}
    assert verdicts["flip-flop, g = 0: at most 90 epochs"] == "fails"
    assert verdicts["flip-flop, g = 0: first below within 90 epochs"] == "holds"


def test_networks_that_lost_their_task_are_counted():
    data = stored([70] * 3, [2.0] * 3, [2] * 3, ["last", "best", "best"])
    assert "2 of the 3 networks" in Fig1().lost_again(data)
    assert Fig1().lost_again(data.isel(seed=[0])) == ""


def test_epoch_ratios_count_those_that_never_learned():
    needed = np.array([[[80.0, 80.0, np.inf, np.inf]], [[20.0, np.inf, 20.0, np.inf]]])
    data = xarray.Dataset(
        {"epochs_needed": (("g", "task", "seed"), needed)},
        coords={"g": [0.0, 0.9], "task": ["romo"], "seed": range(4)},
    )
    found = Fig1().epoch_ratios(data, "romo", 0.0, 0.9)
    assert found.values.tolist() == [0.25, np.inf, 0.0, np.inf]
