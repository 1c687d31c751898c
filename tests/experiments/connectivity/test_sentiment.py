"""connectivity/fig5 and figs6: on a made-up language always, on SST-2 where it is at hand."""

import os

import jax
import numpy as np
import pytest
import xarray

from tacit.data import SST2, Reviews, word_vectors_missing
from tacit.experiments import UsageError
from tacit.experiments.connectivity import sentiment
from tacit.experiments.connectivity.fig5 import Fig5
from tacit.experiments.connectivity.figs6 import EPOCHS, PASSES, PUBLISHED, FigS6
from tacit.experiments.connectivity.lstm_truncation import MATRICES, spectra_and_truncations
from tacit.experiments.connectivity.sentiment import LEARNED
from tacit.models import StackedLSTM
from tacit.problems import Sentences
from tacit.reproduction import find_experiment, reproduce

NAMES = ["connectivity/fig5", "connectivity/figs6"]


@pytest.fixture(scope="module")
def made_up():
    """A language of nine words; a sentence is liked if its words' first numbers sum to more than 0.

    With what two networks made of it.
    """
    rng = np.random.default_rng(0)
    vectors = np.concatenate([np.zeros((1, 6)), rng.normal(size=(9, 6))]).astype(np.float32)
    words, labels = {}, {}
    for split, count in (("train", 120), ("dev", 40)):
        rows = [rng.integers(1, 10, size=rng.integers(2, 6)) for _ in range(count)]
        words[split] = [*rows, np.ones(9, np.int32)]  # the last is too long
        labels[split] = np.array([vectors[row, 0].sum() > 0 for row in words[split]], int)
    values = {"rate": 0.2, "seed": (0, 5), "epochs": 40.0, "batch": 32, "watched": 40, "points": 4}
    values["dropout"] = 0.1
    cells = [(0.2, 0), (0.2, 5)]
    found = Fig5.from_preset("smoke", **values).networks(Reviews(words, labels, vectors), cells)
    return values, found


def test_a_cell_trains_the_seeds_that_are_asked_for(monkeypatch):
    """Those that the store lacks, not all of the experiment."""
    monkeypatch.setattr(sentiment, "_trained", lambda experiment, cells: cells)
    fig5 = Fig5.from_preset("smoke", rate=(0.1, 0.2), seed=range(2))
    (batch,) = fig5.grid().batches()
    assert fig5.cell(batch.only([1, 2])) == ((0.1, 1), (0.2, 0))


def test_networks_learn_a_made_up_language(made_up):
    values, found = made_up
    assert list(found["outcome"]) == ["converged", "converged"]
    assert np.all(found["final_loss"][:, 0] < LEARNED * found["loss"][:, 0, 0])
    assert np.all(found["final_accuracy"] > 0.75)
    np.testing.assert_allclose(found["epoch"][:, -1], values["epochs"], rtol=0.02)
    # All 40 sentences of dev that are short enough are watched and judged: the same numbers.
    np.testing.assert_allclose(found["accuracy"][:, 1, -1], found["final_accuracy"][:, 1])
    np.testing.assert_allclose(found["loss"][:, 1, -1], found["final_loss"][:, 1], rtol=1e-4)


def test_a_truncation_at_full_rank_is_none(made_up):
    values, found = made_up
    whole = found["final_accuracy"][:, :, None]
    np.testing.assert_allclose(
        found["truncated_accuracy"][..., -1], np.broadcast_to(whole, (2, 2, 2)), atol=0.026
    )  # one sentence of forty may lie on the edge
    assert Fig5.from_preset("smoke", **values).ranks == tuple(range(9))
    # Rank 0 of W leaves nothing of the words on their way to the second layer.
    assert np.all(found["truncated_accuracy"][:, 1, 1, 0] < found["final_accuracy"][:, 1])


def test_spectra_belong_together(made_up):
    _, found = made_up
    for name in ("initial_singular", "final_singular", "change_singular"):
        values = found[name]
        assert values.shape == (2, len(MATRICES), 100)
        # Six inputs and eight units: so many singular values.
        there = np.isfinite(values).sum(axis=2)
        assert there.tolist() == [[6, 8, 8, 8]] * 2
        assert np.all(np.diff(np.nan_to_num(values), axis=2) <= 0)
    # Weyl: no singular value moves by more than the change's largest.
    moved = np.abs(found["final_singular"] - found["initial_singular"])
    assert np.all(np.nanmax(moved, axis=2) <= found["change_singular"][:, :, 0] * (1 + 1e-6))


def test_claims_and_figures_of_a_made_up_dataset(made_up):
    values, found = made_up
    for name in NAMES:
        experiment = find_experiment(name).from_preset("smoke", **values)
        variables, coords = experiment.stored(), experiment.coordinates()
        dataset = xarray.Dataset(
            {key: (("seed", *variables[key].dims), value) for key, value in found.items()},
            coords={**{key: list(each) for key, each in coords.items()}, "seed": [0, 5]},
        ).expand_dims(rate=[0.2])
        assert set(dataset.data_vars) == set(variables)
        claims = experiment.claims(dataset)
        assert all(claim.verdict == "undecided" for claim in claims)  # of two networks
        figure = experiment.draw(dataset)
        assert "2 of 2 networks learned" in figure.caption
        assert not any(panel.empty for panel in figure.panels)
        shown = figure.published()
        assert len(shown.panels) == {"connectivity/fig5": 2, "connectivity/figs6": 6}[name]
        assert not any(panel.empty for panel in shown.panels)


def test_the_rank_that_is_enough_is_enough_from_there_on():
    ranks = [0, 1, 2, 4]
    after = np.array([[0.5, 0.8, 0.7, 0.8], [0.5, 0.795, 0.8, 0.79], [0.5, 0.5, 0.5, 0.5]])
    runs = xarray.Dataset(
        {
            "truncated_accuracy": (("seed", "split", "kept", "rank"), after[:, None, None]),
            "final_accuracy": (("seed", "split"), np.full((3, 1), 0.8)),
            "outcome": ("seed", ["converged"] * 3),
        },
        coords={"rank": ranks, "split": ["dev"], "kept": ["change"], "seed": [0, 1, 2]},
    )
    assert Fig5(margin=0.01).sufficient_ranks(runs, "change").values.tolist() == [4, 1, np.inf]
    runs["outcome"][2] = "stopped"  # such a network does not count
    found = Fig5(margin=0.2).sufficient_ranks(runs, "change").values
    np.testing.assert_array_equal(found, [1, 1, np.nan])


def test_shares_and_ratios_of_spectra():
    runs = xarray.Dataset(
        {
            "change_singular": (
                ("seed", "matrix", "singular_value"),
                np.array([[[3.0, 4.0, np.nan]]]),
            ),
            "initial_singular": (
                ("seed", "matrix", "singular_value"),
                np.array([[[6.0, 8.0, np.nan]]]),
            ),
            "outcome": ("seed", ["converged"]),
        },
        coords={"matrix": ["input 1"], "seed": [0], "singular_value": [1, 2, 3]},
    )
    fig5 = Fig5(width=8)
    assert fig5.few == 1
    assert fig5.leading_share(runs, "input 1").values == pytest.approx([9 / 25])
    assert fig5.relative_change(runs, "input 1").values == pytest.approx([0.5])


def as_published(*, slower=1.0, rises=1.0):
    """Eight networks at two rates, whose curves are the published one at the smaller of them."""
    step = np.arange(101)
    epoch = 5.0 * step
    start = [0, PASSES, *EPOCHS]
    curves = {
        (name, split): np.interp(epoch / slower, start, (*ends, *PUBLISHED[name, split]))
        for name, ends in (("loss", (0.69, 0.65)), ("accuracy", (0.5, 0.6)))
        for split in ("train", "dev")
    }
    curves["loss", "dev"][-1] *= rises
    dims = ("rate", "seed", "split", "step")
    whole = {
        name: (dims, np.tile([[[curves[name, split] for split in ("train", "dev")]]], (2, 8, 1, 1)))
        for name in ("loss", "accuracy")
    }
    spectra = ("rate", "seed", "matrix", "singular_value")
    return xarray.Dataset(
        {
            **whole,
            "epoch": (("rate", "seed", "step"), np.tile(epoch, (2, 8, 1))),
            "final_accuracy": (dims[:-1], np.ones((2, 8, 2))),
            "outcome": (dims[:2], np.full((2, 8), "converged")),
            "change_singular": (spectra, np.ones((2, 8, 4, 1))),
            "initial_singular": (spectra, np.ones((2, 8, 4, 1))),
        },
        coords={"rate": [0.01, 0.001], "seed": range(8), "split": ["train", "dev"],
                "step": step, "matrix": list(MATRICES)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, set()),
        ({"slower": 0.1}, {"starts", "training accuracy", "validation accuracy"}),
        ({"slower": 1.3}, {"training accuracy"}),
        ({"rises": 1.2}, {"validation loss"}),
    ],
)
def test_the_published_curve_is_told_from_others(change, missed):
    every = FigS6().claims(as_published(**change))
    assert every["starts as published, larger rate"].expected == "fails"
    claims = {claim.name: claim.verdict for claim in every if "larger rate" not in claim.name}
    about = [name for name in claims if "published" in name or "does not rise" in name]
    assert len(about) == 4
    failed = {name for name in about if claims[name] != "holds"}
    assert {name for name in about if any(name.startswith(word) for word in missed)} == failed
    # Of other networks nothing was published.
    quick = {claim.name for claim in FigS6(width=128).claims(as_published())}
    assert not quick & set(about)


def test_a_model_that_is_not_finite_has_no_numbers():
    start = StackedLSTM.random(2, inputs=3, key=jax.random.key(0))
    lost = jax.tree.map(lambda W: W * np.inf, start)
    judged = {"dev": Sentences.of([np.array([0, 1])], [1], np.ones((2, 3)))}
    found = spectra_and_truncations(start, lost, judged, (0, 2), 0)
    assert found["truncated_accuracy"].shape == (1, 2, 2)
    assert all(np.isnan(value).all() for value in found.values())


def test_the_public_code_s_words_are_cased(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    assert "sst2_cased is not at hand" in Fig5().missing()
    assert "sst2 is not at hand" in Fig5(words="lower").missing()


@pytest.mark.parametrize("name", NAMES)
def test_without_the_data_there_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(UsageError, match=f"{name}: the data set sst2 is not at hand"):
        reproduce(name, preset="smoke", results=tmp_path)
    assert not list(tmp_path.iterdir())  # nothing was begun


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_smoke_on_sst2(tmp_path):
    if (sentence := SST2.missing() or word_vectors_missing()) is not None:
        pytest.skip(sentence)
    runs = [reproduce(name, preset="smoke", results=tmp_path) for name in NAMES]
    for run in runs:
        assert (run.path / "figure.png").stat().st_size > 10_000
    loss = runs[0].dataset["loss"].sel({"split": "train"})
    assert np.all(loss.isel(step=-1).values < loss.isel(step=0).values)
    # One training serves both.
    np.testing.assert_array_equal(loss, runs[1].dataset["loss"].sel({"split": "train"}))
    assert isinstance(runs[0].claims[0].measured, float)
