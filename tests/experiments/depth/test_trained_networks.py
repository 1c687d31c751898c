"""Figures 18 to 30: networks that learn images, at their smallest and without CIFAR."""

import warnings

import numpy as np
import pytest
import xarray

from tacit.experiments import Claims
from tacit.experiments.depth.fig18to29 import OF_CODE, RANK, Fig18To29, control_ranks
from tacit.experiments.depth.fig30 import Fig30
from tacit.models import _vgg as vgg
from tacit.reproduction import reproduce


def trained(tmp_path_factory, name, **options):
    with warnings.catch_warnings():
        # The type checker's functions, which no other process has, belong to no checkpoint.
        warnings.filterwarnings("ignore", "checkpoint: ", UserWarning)
        folder = tmp_path_factory.mktemp("results")
        return reproduce(name, preset="smoke", results=folder, **options)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """Compiling is all that takes time: one and two convolutions stand for eight and ten."""
    with pytest.MonkeyPatch.context() as patch:
        for depth, counts in ((11, (1, 0, 0, 0, 0)), (13, (1, 1, 0, 0, 0))):
            patch.setitem(vgg.COUNTS, depth, counts)
        return trained(tmp_path_factory, "depth/fig18-29")


@pytest.fixture(scope="module")
def perceptrons(tmp_path_factory):
    return trained(tmp_path_factory, "depth/fig30", depth=(2,))


def test_networks_have_ranks_and_accuracies(networks):
    data = networks.dataset
    assert networks.outcomes == {"stopped": 4}
    assert (data["rank"] > 0).all()
    assert (data["share"] <= 1 + 1e-9).all()
    assert (data["rank"].sel(state="trained") != data["rank"].sel(state="untrained")).any()
    np.testing.assert_allclose(data["epoch"].isel(seed=0, network=0).values.ravel(), [0, 0.2, 0.5])
    names = [claim.name for claim in networks.claims]
    assert "vgg, waves, sgd: mean effective rank" in names
    assert not any("linear control" in name for name in names)  # no run is in it
    assert len(networks.figure().panels) == 6
    assert "0.5 of 200 epochs, 200 of 50,000 images, 2 of 5 runs" in networks.figure().caption
    assert len(networks.paper_figure().panels) == 3


@pytest.mark.parametrize("depths", [(11, 13, 16, 19), (18, 34, 50, 101)])
def test_the_linear_control_falls_as_a_product_only(depths):
    """Theorem 3.3: from each depth to the next the product's rank falls, its factors' rises."""
    product, factors = control_ranks(depths).values()
    assert (np.diff(product) <= 0).all()
    assert product[-1] < product[0] < 1.01
    assert (np.diff(factors) > 0).all()


def test_perceptrons_have_ranks_at_both_starts(perceptrons):
    data = perceptrons.dataset
    start = data["rank"].sel(measure="stable", matrix="inputs", state="untrained")
    assert (start.sel(start="identity") > start.sel(start="gaussian")).all()
    assert len(perceptrons.figure().panels) == 4
    assert len(perceptrons.claims) == 0  # of one depth


def test_perceptrons_are_compared_along_depth_and_between_starts(perceptrons):
    """Of runs with known ranks: Gaussian ones fall by a half, identity ones rise by as much."""
    both = Fig30.from_preset("smoke")
    factors = xarray.DataArray([[1, 0.5], [1, 1.5]], {"start": list(both.start), "depth": [2, 3]})
    deep = perceptrons.dataset.assign_coords(depth=[3])
    runs = xarray.concat([perceptrons.dataset, deep], "depth")
    ranks = runs["rank"].copy(data=np.full(runs["rank"].shape, 10.0)) * factors
    claims = both.claims(runs.assign(rank=ranks))
    found = {claim.name: round(claim.measured, 3) for claim in claims}
    assert found["trained: Gaussian over identity"] == 1
    assert found["trained: mean stable rank, Gaussian"] == 0.5
    assert found["1 / trained: mean stable rank, identity"] == round(1 / 1.5, 3)
    assert found["share that training leaves, Gaussian"] == 1


def test_falling_numbers_are_told_from_rising_ones():
    experiment, claims = Fig30.from_preset("smoke"), []

    class Heard:
        def median(self, name, values, **terms):
            claims.append(values.values.tolist())

    values = xarray.DataArray([[4.0, 2.0, 3.0], [3.0, 2.0, 1.0]], dims=("seed", "depth"),
                              coords={"depth": [2, 3, 5]})  # fmt: skip
    experiment.never_rises(Heard(), "rank", values, "depth")
    np.testing.assert_allclose(claims, [[1.5, 2 / 3]])


def test_one_run_is_claimed_as_one_run():
    values = xarray.DataArray([[4.0, 2.0, 3.0]], dims=("seed", "depth"),
                              coords={"depth": [2, 3, 5]})  # fmt: skip
    claims = Claims()
    Fig30.from_preset("smoke").replace(seed=(3,)).never_rises(claims, "rank", values, "depth")
    assert [(claim.name, claim.measured, claim.verdict) for claim in claims] == [
        ("rank, one run", 1.5, "fails")
    ]
    assert claims[0].statement.endswith("Of one run.")


def test_a_single_network_is_drawn_but_says_nothing_of_depth(networks):
    alone = networks.experiment.replace(network=("vgg11",))
    runs = networks.dataset.sel(network=["vgg11"])
    assert len(alone.claims(runs)) == 0
    assert len(alone.draw(runs).panels) == 6


def test_expectations_follow_what_was_measured():
    gpu, whole = Fig18To29.from_preset("gpu"), Fig18To29.from_preset("paper")
    assert gpu.because(RANK, "vgg, cifar10, sgd")
    assert not whole.because(RANK, "vgg, cifar10, sgd")
    assert whole.because(f"untrained {RANK}", "vgg, cifar10, sgd")
    assert not gpu.because(OF_CODE, "vgg, cifar10, sgd")
    assert gpu.because(OF_CODE, "resnet, cifar10, sgd")


def test_figures_by_family_data_and_optimiser():
    whole = Fig18To29.from_preset("paper")
    assert len(whole.grid()) == 8 * 2 * 3 * 5
    assert whole.grid().batch_count() == len(whole.grid())  # a wide network is alone
    narrow = whole.replace(width=0.25)
    assert narrow.grid().batch_count() == 8 * 2 * 3
    cells = {"data": list(whole.data), "seed": [0], "network": list(whole.network),
             "optimiser": list(whole.optimiser)}  # fmt: skip
    runs = xarray.Dataset({"outcome": (tuple(cells), np.full((2, 1, 8, 3), "stopped"))}, cells)
    at = {"matrix": ["inputs", "outputs"], "measure": ["effective", "effective of squares"]}
    ranks = xarray.DataArray(np.arange(4.0).reshape(2, 2), at, tuple(at))
    runs = runs.assign(rank=ranks, share=ranks)
    places = {words: place for words, _, place in whole.figures(runs)}
    assert places["resnet, cifar10, sgd"] == "Figure 18"
    assert places["vgg, cifar100, sgd"] == "Figure 21"
    assert places["vgg, cifar10, rmsprop"] == "Figure 28"
    assert len(places) == 12
    part = whole.figures(runs)[0][1]["rank"].isel(network=0, seed=0)
    assert part.sel(definition="p ∝ σ") == 0  # the text's: rows are inputs, σ as it is
    assert part.sel(definition="p ∝ σ²") == 3


def test_data_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert "cifar10 is not at hand" in Fig18To29.from_preset("gpu").missing()
    assert Fig18To29.from_preset("smoke").missing() is None
