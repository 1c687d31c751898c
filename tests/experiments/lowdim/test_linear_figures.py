"""The figures of linear students at their smallest preset: what is stored agrees with itself."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.lowdim.fig1b import Fig1b
from tacit.experiments.lowdim.fig3a import Fig3a
from tacit.experiments.lowdim.fig3b import Fig3b
from tacit.experiments.lowdim.fig4 import Fig4
from tacit.reproduction import reproduce

LENGTHS = ("fig1b", "fig3a", "fig3b", "fig4", "fig6")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Each experiment runs once for all tests of this file."""
    results, done = tmp_path_factory.mktemp("results"), {}

    def run(name):
        if name not in done:
            done[name] = reproduce(f"lowdim/{name}", preset="smoke", results=results)
        return done[name]

    return run


@pytest.mark.parametrize("name", LENGTHS)
def test_stored_numbers_are_those_of_the_stored_responses(runs, name):
    run = runs(name)
    data = run.dataset
    assert run.as_expected is not False
    assert (run.path / "figure.png").stat().st_size > 10_000
    gap = np.abs(data["response"] - data["target"])
    for length in run.experiment.length:
        cut = data.sel(length=length)
        seen = gap.sel(length=length).isel(lag=slice(0, length))
        loss = (seen**2).sum("lag").transpose(*cut["train_loss"].dims)
        np.testing.assert_allclose(cut["train_loss"].values, loss.values, rtol=1e-6, atol=1e-26)
        for horizon in run.experiment.horizons:
            tail = gap.sel(length=length).isel(lag=slice(length, horizon)).max("lag")
            error = cut["error"].sel(horizon=horizon)
            np.testing.assert_allclose(error.values, tail.transpose(*error.dims).values, rtol=1e-12)
    assert (data["train_loss"].sel(iterate="best") <= data["train_loss"].sel(iterate="last")).all()


def test_the_delay_line_is_the_target_and_short_lengths_are_trivial(runs):
    data = runs("fig1b").dataset
    target = data["target"].isel(width=0, loss=0, length=0, seed=0).values
    np.testing.assert_array_equal(np.flatnonzero(target), [9])
    trivial = data.sel(length=9)
    np.testing.assert_array_equal(trivial["zero_loss"].values, 0)
    assert set(trivial["outcome"].values.ravel()) == {"converged"}
    # A student that has learned zeros misses the teacher's one answer.
    np.testing.assert_allclose(trivial["error"].values, 1.0, atol=1e-3)


def test_a_zero_target_is_compared_with_the_whole_one():
    dataset = xarray.Dataset(
        {
            "target": (("seed", "lag"), [[0.0, 2.0], [1.0, 2.0]]),
            "zero_loss": ("seed", [0.0, 1.0]),
            "train_loss": ("seed", [0.03, 0.03]),
        }
    )
    np.testing.assert_array_equal(Fig1b(gate=0.01).counts(dataset).values, [True, False])


def test_fig1b_on_fresh_batches_descends_too(tmp_path):
    kept = {"length": (4,), "seed": (0, 1), "order": 2, "width": 6, "gain": 1.0, "steps": 1500}
    run = reproduce("lowdim/fig1b", preset="smoke", results=tmp_path, loss="empirical", **kept)
    data = run.dataset
    # What is stored is the population loss, of a student that never saw it.
    seen = (data["response"] - data["target"]).isel(lag=slice(0, 4))
    exact = (seen**2).sum("lag").transpose(*data["train_loss"].dims)
    np.testing.assert_allclose(data["train_loss"].values, exact.values, rtol=1e-6)
    assert (data["train_loss"].sel(iterate="last") < 1e-4 * data["zero_loss"]).all()


def test_fig1a_on_fixed_sequences_reaches_the_solution_of_the_population_loss(tmp_path):
    kept = {
        "teacher": "well-conditioned", "method": "adam", "length": (4,), "seed": (0, 1),
        "order": 2, "width": 8, "sequences": 50, "steps": 500, "polish_steps": 100,
    }  # fmt: skip
    run = reproduce("lowdim/fig1a", preset="smoke", results=tmp_path, loss="empirical", **kept)
    polished = run.dataset.sel(iterate="polished")
    assert (polished["train_loss"] < 1e-12).all()
    seen = (polished["response"] - polished["target"]).isel(lag=slice(0, 4))
    assert float(np.abs(seen).max()) < 1e-5  # fifty sequences determine four lags


def test_fig5_is_fig1a_at_two_lengths(runs):
    run = runs("fig5")
    assert run.as_expected is not False
    assert list(run.dataset["length"].values) == [10, 20]
    assert "typical seed" in run.figure().panels[0].title


@pytest.mark.parametrize("kind", [Fig1b, Fig3a, Fig3b, Fig4])
def test_horizons_must_leave_a_tail(kind):
    with pytest.raises(UsageError, match="horizons"):
        kind(horizons=(12,), length=(12,))
