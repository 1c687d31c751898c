"""The figures of linear students at their smallest preset: what is stored agrees with itself."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.lowdim.fig1b import Fig1b
from tacit.experiments.lowdim.fig3a import Fig3a
from tacit.experiments.lowdim.fig3b import Fig3b
from tacit.experiments.lowdim.fig4 import Fig4
from tacit.experiments.lowdim.fig5 import Fig5
from tacit.reproduction import reproduce

LENGTHS = ("fig1b", "fig3a", "fig3b", "fig4", "fig6")
FRESH = ("fig1b", "fig6")  # learn from new sequences at each step


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
    if name not in FRESH:  # there the best iterate is the best by the loss of its batches
        loss = data["train_loss"]
        assert (loss.sel(iterate="best") <= loss.sel(iterate="last")).all()


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
    run = reproduce("lowdim/fig1b", preset="smoke", results=tmp_path, **kept)
    assert run.experiment.loss == ("empirical",)  # as in the paper
    data = run.dataset
    # What is stored is the population loss, of a student that never saw it.
    seen = (data["response"] - data["target"]).isel(lag=slice(0, 4))
    exact = (seen**2).sum("lag").transpose(*data["train_loss"].dims)
    np.testing.assert_allclose(data["train_loss"].values, exact.values, rtol=1e-6)
    assert (data["train_loss"].sel(iterate="last") < 1e-4 * data["zero_loss"]).all()


def test_fig1b_on_the_population_loss_is_an_option(tmp_path):
    kept = {"length": (4,), "seed": (0, 1), "order": 2, "width": 6, "gain": 1.0, "steps": 300}
    run = reproduce("lowdim/fig1b", preset="smoke", results=tmp_path, loss="population", **kept)
    loss = run.dataset["train_loss"]
    assert (loss.sel(iterate="best") <= loss.sel(iterate="last")).all()
    assert (loss.sel(iterate="last") < run.dataset["zero_loss"]).all()


def test_fig1b_claims_that_most_runs_stop_early():
    experiment = Fig1b.from_preset("quick", length=(18, 20, 21, 22), seed=range(12))
    axes = {name: list(values) for name, values in experiment.axes().items()}
    dims, shape = tuple(axes), tuple(map(len, axes.values()))
    taken = np.full(shape, 9_999)
    taken[..., 1:, :6] = 10_000  # three of four lengths, in half of the seeds
    of = {"iterate": ["last", "best"], "horizon": list(experiment.horizons)}
    errors = np.ones((*shape, 2, 3))
    dataset = xarray.Dataset(
        {
            "outcome": (dims, np.full(shape, "converged")),
            "steps_taken": (dims, taken),
            "train_loss": ((*dims, "iterate"), np.zeros((*shape, 2))),
            "zero_loss": (dims, np.ones(shape)),
            "error": ((*dims, "iterate", "horizon"), errors),
        },
        axes | of,
    )
    claims = {claim.name: claim for claim in experiment.claims(dataset)}
    claim = claims["most stop before 10,000 steps"]
    assert (claim.satisfied, claim.samples) == (6, 12)
    assert claims["d = 50: high below, low above"].verdict == "fails"


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


def made_up(experiment, error, **more):
    """A dataset as the store gives it: errors (by axes, or broadcast to them) and other arrays."""
    axes = {name: list(values) for name, values in experiment.axes().items()}
    dims, shape = tuple(axes), tuple(map(len, axes.values()))
    iterates = list(experiment.iterates)
    errors = np.broadcast_to(error, shape)[..., None, None].repeat(len(iterates), axis=-2)
    data = {
        "error": ((*dims, "iterate", "horizon"), errors),
        "relative_error": ((*dims, "iterate", "horizon"), errors),
        "train_loss": ((*dims, "iterate"), np.zeros((*shape, len(iterates)))),
        "zero_loss": (dims, np.ones(shape)),
    }
    for name, (extra, values) in more.items():
        full = np.broadcast_to(values, (*shape, *np.shape(values)))
        data[name] = ((*dims, *extra), full)
    return xarray.Dataset(data, axes | {"iterate": iterates, "horizon": [experiment.horizons[0]]})


def test_fig4_asks_for_growth_from_each_scale_to_the_next():
    experiment = Fig4(teacher="even", method="adam", horizons=(40,))
    scale = np.array(experiment.scale)[:, None, None]  # before lengths and seeds
    name = "even, adam: larger start, larger error"
    grows = {claim.name: claim for claim in experiment.claims(made_up(experiment, scale))}
    assert grows[name].verdict == "holds"
    assert grows[name].measured == pytest.approx(10)  # the smallest of its steps
    assert grows["even, adam: tenfold from the smallest to the largest start"].verdict == "holds"
    once_less = np.where(scale == 1e-2, 1e-6, scale)
    falls = {claim.name: claim for claim in experiment.claims(made_up(experiment, once_less))}
    assert falls[name].verdict == "fails"


def test_fig5_follows_the_papers_sentence_on_ten_lags():
    experiment, lags = Fig5(horizons=(40,)), np.arange(40)
    target = np.ones(40)

    def verdicts(response):
        of = ("iterate", "lag"), np.stack([response] * 3)
        dataset = made_up(experiment, 0.5, target=(("lag",), target), response=of)
        dataset = dataset.assign_coords(lag=lags)
        return {claim.name: claim.verdict for claim in experiment.claims(dataset)}

    several, decays = "even: k = 10 tracks several lags more", "even: k = 10 then decays to zero"
    as_told = verdicts(np.where(lags < 13, 1.0, 0.5 ** (lags - 12)))
    assert (as_told[several], as_told[decays]) == ("holds", "holds")
    at_once = verdicts(np.where(lags < 12, 1.0, 0.5))
    assert (at_once[several], at_once[decays]) == ("fails", "fails")
    assert verdicts(target)[several] == "holds"  # never leaves


@pytest.mark.parametrize("kind", [Fig1b, Fig3a, Fig3b, Fig4])
def test_horizons_must_leave_a_tail(kind):
    with pytest.raises(UsageError, match="horizons"):
        kind(horizons=(12,), length=(12,))
