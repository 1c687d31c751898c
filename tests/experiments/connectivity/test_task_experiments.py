"""The experiments on tasks at their smallest preset, and their cells against plain computations."""

import jax
import numpy as np
import pytest
import xarray

from tacit.experiments import Claims
from tacit.experiments.connectivity.chaos import Chaos
from tacit.experiments.connectivity.fig1 import Fig1
from tacit.experiments.connectivity.fig2 import NONE, PUBLISHED, Fig2
from tacit.experiments.connectivity.tasks import EPOCHS, NEEDED, smoothed_curve
from tacit.measures import largest_lyapunov_exponent
from tacit.models import RateRNN
from tacit.reproduction import reproduce


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One process for all five: they share their programs."""
    folder = tmp_path_factory.mktemp("results")
    return {
        name: reproduce(f"connectivity/{name}", preset="smoke", results=folder)
        for name in ("fig1", "fig2", "figs2", "figs1", "chaos")
    }


def test_smoke(runs):
    for run in runs.values():
        assert set(np.unique(run.dataset["outcome"].values)) <= {"converged", "stopped"}
        assert (run.path / "figure.png").stat().st_size > 10_000
    published = {name: run for name, run in runs.items() if run.experiment.in_paper()}
    panels = {name: len(run.paper_figure().panels) for name, run in published.items()}
    assert panels == {"fig1": 4, "fig2": 4, "figs1": 4, "figs2": len(runs["figs2"].figure().panels)}
    # The same networks in all four: a cell's result is its own.
    first, second, sizes = (runs[name].dataset for name in ("fig1", "fig2", "figs1"))
    np.testing.assert_array_equal(first["change_norm"], second["change_norm"])
    np.testing.assert_array_equal(first["change_norm"], sizes["change_norm"].sel(width=24))
    names = [claim.name for claim in runs["figs1"].claims]
    assert names == []  # 40 epochs are fewer than twice the published ones


def test_chaos_has_the_networks_of_figs1_and_their_exponents(runs):
    found, sizes = (runs[name].dataset for name in ("chaos", "figs1"))
    both = {"g": [0.0, 0.9]}
    np.testing.assert_array_equal(found["epochs_raw"].sel(both), sizes["epochs_raw"].sel(both))
    # Without connectivity every state decays by 1 − dt in a step.
    np.testing.assert_allclose(found["exponent"].sel(g=0.0), np.log(0.5) / 0.5)
    start = RateRNN.random(
        24, inputs=2, outputs=2, g=1.8, key=jax.random.split(jax.random.key(1), 4)[0]
    )
    expected = largest_lyapunov_exponent(np.asarray(start.W))
    assert found["exponent"].sel(width=24, g=1.8, seed=1).item() == expected


def test_the_fastest_strength_is_found_seed_by_seed():
    chaos = Chaos.from_preset("smoke")
    needed = np.array([[50.0, 20.0, 90.0], [60.0, np.nan, 30.0], [np.nan] * 3])
    runs = xarray.Dataset(
        {"epochs_raw": (("seed", "g"), needed),
         "outcome": (("seed", "g"), np.where(np.isnan(needed), "stopped", "converged"))},
        {"g": [0.0, 0.9, 1.8], "seed": [0, 1, 2]},
    )  # fmt: skip
    strengths = xarray.ones_like(runs["epochs_raw"]) * runs["g"]
    np.testing.assert_array_equal(chaos.fastest(runs, strengths), [0.9, 1.8, np.nan])


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


def stored(epochs, iterates, *, task="flip-flop", g=0.0, ranks=2, norms=1.9, values=None):
    """A dataset of networks that learned a task."""
    count = len(epochs)
    singular = np.tile([1.4, 1.35, 0.3, 0.2] if values is None else values, (count, 1))
    data = xarray.Dataset(
        {
            "outcome": ("seed", np.full(count, "converged")),
            "iterate": ("seed", np.array(iterates)),
            "epochs_raw": ("seed", np.array(epochs, float)),
            "change_norm": ("seed", np.full(count, norms)),
            "rank_code": ("seed", np.full(count, float(ranks))),
            "change_singular": (("seed", "singular_value"), singular),
        },
        coords={"singular_value": 1 + np.arange(singular.shape[1])},
    )
    return data.expand_dims({"task": [task], "g": [g]})


def verdicts(claims):
    return {claim.name: claim.verdict for claim in claims}


def test_what_the_text_counts_without_connectivity():
    good = stored([80] * 7, ["last"] * 7)
    assert set(verdicts(Fig1()._without(good, "flip-flop")).values()) == {"holds"}
    bad = stored([80] * 7, ["last"] * 7, ranks=4, values=[1.4, 1.35, 0.9, 0.2])
    assert set(verdicts(Fig1()._without(bad, "flip-flop")).values()) == {"fails"}


def test_published_numbers():
    fig2 = Fig2()
    good = stored([110] * 7, ["last"] * 7)
    assert set(verdicts(fig2._as_published(good, "flip-flop", 0.0)).values()) == {"holds"}
    bad = stored([30] * 7, ["last"] * 7, norms=2.7)
    failed = {name for name, verdict in verdicts(fig2._as_published(bad, "flip-flop", 0.0)).items()
              if verdict == "fails"}  # fmt: skip
    assert failed == {
        "flip-flop, g = 0: 105 epochs: not less", "flip-flop, g = 0: norm 1.89 to 1.9: not more",
    }  # fmt: skip
    # Two published figures disagree on Romo: anything between them is as published.
    between = stored([2000] * 7, ["last"] * 7, task="romo", norms=4.0)
    assert set(verdicts(fig2._as_published(between, "romo", 0.0)).values()) == {"holds"}


def test_the_side_of_the_published_numbers_is_claimed():
    fig2 = Fig2(task="flip-flop", g=0.0)
    for epochs, norms, expected in ((70, 2.2, "holds"), (160, 1.5, "fails")):
        claim = Claims("here")
        fig2._claim_published(
            claim, stored([epochs] * 8, ["last"] * 8, norms=norms), [("flip-flop", 0.0)]
        )
        assert claim["fewer epochs than published"].verdict == expected
        assert claim["a larger change than published"].verdict == expected
        assert f"{epochs / 105:.2f} times the published epochs" in claim[0].because


def test_the_epochs_read_off_the_figures_agree():
    for (task, g), epochs in NEEDED.items():
        place = PUBLISHED[task]["epochs_raw"][round(g / 0.3)]
        assert place == epochs or (place is NONE and task == "romo")


def test_claims_are_silent_where_training_is_short():
    assert Fig1().long_enough("romo", 0.0)
    assert EPOCHS["romo"] == Fig1().epochs("romo")
    assert not Fig1(effort=0.25).long_enough("romo", 0.0)
    assert not Fig1().long_enough("flip-flop", 0.3)  # nothing published to compare with


def test_networks_that_lost_their_task_are_counted():
    data = stored([70] * 3, ["last", "best", "best"])
    assert "2 of the 3 networks" in Fig1().lost_again(data)
    assert Fig1().lost_again(data.isel(seed=[0])) == ""


def test_epoch_ratios_count_those_that_never_learned():
    needed = np.array([[[80.0, 80.0, np.inf, np.inf]], [[20.0, np.inf, 20.0, np.inf]]])
    learned = np.where(np.isfinite(needed), "converged", "stopped")
    # A lucky batch of a network that did not learn does not count.
    data = xarray.Dataset(
        {
            "epochs_raw": (("g", "task", "seed"), np.where(np.isfinite(needed), needed, 7.0)),
            "outcome": (("g", "task", "seed"), learned),
        },
        coords={"g": [0.0, 0.9], "task": ["romo"], "seed": range(4)},
    )
    found = Fig1().epoch_ratios(data, "romo", 0.0, 0.9)
    assert found.values.tolist() == [0.25, np.inf, 0.0, np.inf]


def test_the_trial_shown_tells_what_a_trial_is(runs):
    inputs = runs["fig1"].dataset["trial_inputs"].isel(g=0, task=0, channel=slice(2))
    for seed in range(2):
        trial = inputs.isel(seed=seed)
        assert float(trial["time"][-1]) == 99.5
        # Pulses of both signs on both channels.
        assert np.all(trial.max("time") == 1)
        assert np.all(trial.min("time") == -1)
    fig1 = Fig1.from_preset("smoke")
    model = RateRNN.random(8, inputs=4, outputs=1, g=0.5, key=jax.random.key(0))
    trials = fig1.problem("mante").sample(jax.random.key(1), 64)
    mante = fig1.one_trial(model, trials)["trial_inputs"]
    signals = mante[10:40, 2:].mean(axis=0)
    assert signals[0] * signals[1] < -0.2  # the context matters


def test_the_papers_epochs_come_first(runs):
    data = runs["fig1"].dataset
    assert np.all(data["epochs_raw"] <= data["epochs_needed"])


@pytest.mark.parametrize(("option", "value"), [("method", "sgd"), ("trained", "W"), ("dt", 1.0)])
def test_options_of_the_text(runs, tmp_path, option, value):
    run = reproduce("connectivity/fig1", preset="smoke", results=tmp_path, g=0.9, seeds=1,
                    **{option: value})  # fmt: skip
    here, there = (each.dataset.sel(g=0.9, seed=0)["change_norm"] for each in (run, runs["fig1"]))
    assert np.isfinite(here).all()
    assert not np.allclose(here, there)
