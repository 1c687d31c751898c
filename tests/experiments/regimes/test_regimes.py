"""The figures of regimes at their smallest presets, and their analysis on data with known answers.

The presets share shapes, so that one program of descent and two of flow serve all five.
"""

import numpy as np
import pytest
import xarray

from tacit.experiments.regimes.map import Map
from tacit.experiments.regimes.regime import teacher_response
from tacit.experiments.regimes.rotation import Rotation
from tacit.experiments.regimes.width import Width
from tacit.reproduction import find_experiment, load_reference, reproduce
from tacit.theory.regimes import kappa, kernel_response

FIGURES = ("map", "width", "rotation", "control", "floor")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every experiment once, at smoke."""
    folder = tmp_path_factory.mktemp("results")
    return {name: reproduce(f"regimes/{name}", preset="smoke", results=folder) for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_it_runs_and_is_drawn(runs, name):
    run = runs[name]
    assert (run.path / "figure.png").stat().st_size > 10_000
    assert len(run.claims) >= 1
    data = run.dataset
    done = (data["outcome"] == "converged").values
    assert done.mean() > 0.5
    goal = 2e-3
    assert (data["train_error"].values[done] <= goal * (1 + 1e-6)).all()
    assert (data["rotation"] >= 0).all()
    assert (data["rotation"] <= 1).all()


def test_the_kernel_corner_of_the_map_is_the_kernels_filter(runs):
    """Small γ₀: the trained lags are learned, those after are left alone."""
    corner = runs["map"].dataset.sel({"gamma0": 0.03, "length": 8, "seed": 0})
    limit = kernel_response(teacher_response("modes", 38), np.inf, length=8, nu_w=0.5)
    learned = corner["response"].values
    np.testing.assert_allclose(learned[:8], limit[:8], atol=0.05)
    assert np.abs(learned[8:]).max() < 0.35  # at n = 32 off-diagonal entries of G leak a little
    assert corner["error"] > 0.8
    rich = runs["map"].dataset.sel({"gamma0": 3.0, "length": 10})
    assert float(rich["error"].median()) < 0.5
    assert float(rich["rank"].median()) < float(corner["rank"])


def test_kappa_is_stored_as_the_theory_has_it(runs):
    data = runs["map"].dataset
    target = teacher_response("modes", 38)
    for k in data["length"].values:
        expected = kappa(target, data["gamma0"].values, length=int(k), nu_w=0.5)
        found = data["kappa"].sel({"length": k, "seed": 1}).transpose("gamma0").values
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_flow_and_descent_end_at_the_same_student(runs):
    """Two methods, one path: rotation flows where the map descends, at k = 10 from one start."""
    place = {"length": 10, "gamma0": 0.3}
    by_descent = runs["map"].dataset.sel(place)["response"].transpose("seed", "lag").values
    by_flow = runs["rotation"].dataset.sel({"width": 32} | place)["response"]
    np.testing.assert_allclose(by_flow.transpose("seed", "lag").values, by_descent, atol=0.03)


def test_errors_and_ranks_of_known_responses():
    judge = Map().judge
    length = np.array([5, 9, 5])
    target = np.stack([teacher_response(name, 38) for name in ("modes", "modes", "delay")])
    filter_ = np.where(np.arange(38) < length[:, None], target, 0)
    found = judge(filter_, target, length)
    np.testing.assert_allclose(found["error"], [1, 1, np.inf])
    np.testing.assert_allclose(found["train_error"], 0)
    assert found["tail_error"][2] == 0
    assert found["rank"].tolist() == [5, 9, 4]
    exact = judge(target, target, length)
    assert exact["rank"][:2].tolist() == [3, 3]
    np.testing.assert_allclose(exact["error"][:2], 0)
    broken = judge(np.full((1, 38), np.nan), target[:1], length[:1])
    assert broken["error"].tolist() == [np.inf]
    assert broken["rank"].tolist() == [-1]


def made_up(experiment: Map, error, rank=3) -> xarray.Dataset:
    """A map in which the error is a function of (κ, k), the same for all seeds but a little."""
    dims = ("length", "gamma0", "seed")
    coords = {"length": list(experiment.length), "gamma0": list(experiment.gamma0)}
    coords["seed"] = list(experiment.seed)
    k, g, s = np.meshgrid(*(np.array(coords[d], float) for d in dims), indexing="ij")
    values = error(g, k) * (1 + 1e-3 * s)
    return xarray.Dataset(
        {
            "error": (dims, values),
            "kappa": (dims, g),  # κ = γ₀ here
            "rank": (dims, np.where(g >= 1, rank, k)),
            "outcome": (dims, np.full(values.shape, "converged")),
        },
        coords,
    )


def test_claims_see_what_is_needed():
    experiment = Map()

    def verdicts(error, rank=3):
        claims = experiment.claims(made_up(experiment, error, rank))
        return {claim.name: claim.verdict for claim in claims}

    both = verdicts(lambda g, k: np.where((g >= 1) & (k > 6), 0.05, 0.95))
    assert set(both.values()) == {"holds"}
    only_rich = verdicts(lambda g, k: np.where(g >= 1, 0.05, 0.95))
    assert only_rich["short: does not, at any γ₀"] == "fails"
    assert only_rich["long and rich: extrapolates"] == "holds"
    assert only_rich["rich: length helps"] == "fails"
    only_long = verdicts(lambda g, k: np.where(k > 6, 0.05, 0.95), rank=9)
    assert only_long["long but kernel: does not"] == "fails"
    assert only_long["rich: the teacher's order"] == "fails"


def test_the_crossing_is_interpolated():
    experiment = Map(gamma0=(0.1, 1.0, 10.0))
    data = made_up(experiment, lambda g, k: np.where(g < 0.5, 0.75, 0.25))
    found = experiment.thresholds(data)
    assert found["length"].values.tolist() == [7, 8, 10, 12]
    np.testing.assert_allclose(found.sel({"seed": 0}), np.sqrt(0.1), rtol=1e-12)
    never = experiment.thresholds(made_up(experiment, lambda g, k: np.ones_like(g)))
    assert never.isnull().all()


def test_cells_without_enough_converged_runs_have_no_median():
    experiment = Map(length=(4, 8), gamma0=(0.1, 1.0))
    data = made_up(experiment, lambda g, k: g)
    words = data["outcome"].values
    words[0, 0, :6] = "stopped"
    words[1, 1, :5] = "stopped"
    table = experiment.medians(data, "error", "length", "gamma0")
    assert np.isnan(table).tolist() == [[True, False], [False, False]]
    assert "11 of 40 runs did not converge" in experiment.unconverged(data)
    response = (("length", "gamma0", "seed", "lag"), np.zeros((2, 2, 10, 38)))
    figure = experiment.draw(data.assign(response=response))
    assert not figure.panels[0].heatmaps[0].has_value.all()
    assert "did not converge" in figure.caption


def test_pairs_of_one_gamma0():
    experiment = Width(width=(16, 64, 32), gamma=(1.0, 2.0, 8.0), seed=(0, 1))
    error = xarray.DataArray(
        np.arange(1.0, 19).reshape(3, 3, 2),
        {"width": [16, 64, 32], "gamma": [1.0, 2.0, 8.0], "seed": [0, 1]},
    )
    np.testing.assert_allclose(experiment.quadrupled(error), [9 / 1, 10 / 2])
    # Of more pairs a seed has their median; without any it has no number.
    more = Width(width=(16, 64, 256), gamma=(1.0, 2.0, 4.0), seed=(0, 1))
    values = np.array([[1.0, 1.0, 9.0], [9.0, 2.0, 8.0], [9.0, 9.0, 9.0]])
    error = xarray.DataArray(
        np.stack([values, 10 * values], axis=-1),
        {"width": [16, 64, 256], "gamma": [1.0, 2.0, 4.0], "seed": [0, 1]},
    )
    # (1 → 2) and (1 → 8) from n = 16, (9 → 9) and (2 → 9) from n = 64.
    np.testing.assert_allclose(more.quadrupled(error), [(2 + 4.5) / 2] * 2)
    assert Width(width=(16, 32)).quadrupled(error).isnull().all()


def test_slopes_of_the_rotation():
    gamma0 = np.array([0.01, 0.1, 1.0])
    shape = (1, 1, 2, 3)
    dims = ("width", "length", "seed", "gamma0")
    data = xarray.Dataset(
        {
            "rotation": (dims, np.broadcast_to(0.3 * gamma0**2, shape).copy()),
            "kappa": (dims, np.broadcast_to(gamma0, shape)),
            "outcome": (dims, np.full(shape, "converged")),
        },
        {"gamma0": gamma0},
    )
    data["rotation"][..., 2] = 0.9
    found = Rotation().slopes_below(data, 0.3)
    assert found.dims == ("seed",)
    np.testing.assert_allclose(found, [2, 2])
    assert Rotation().slopes_below(data, 0.05).isnull().all()  # one point has no slope


def test_a_teacher_by_another_name():
    with pytest.raises(
        ValueError, match="teacher: received 'none', it must be one of modes, delay"
    ):
        teacher_response("none", 3)


def test_the_verdicts_that_matter_are_decided():
    claims = load_reference(find_experiment("regimes/map"), "quick").claims
    found = {c.name: c.verdict for c in claims}
    for name in (
        "long and rich: extrapolates",
        "long but kernel: does not",
        "short: does not, at any γ₀",
        "rich: length helps",
        "kernel: length does not help",
    ):
        assert found[name] == "holds"
    claims = load_reference(find_experiment("regimes/width"), "paper").claims
    wide = {c.name: c.verdict for c in claims}
    assert wide["γ = 1, wide: does not"] == "holds"
    assert wide["γ = 1: widening makes it worse"] == "holds"
