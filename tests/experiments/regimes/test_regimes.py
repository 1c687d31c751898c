"""The figures of regimes at their smallest presets, and their analysis on data with known answers.

The presets share shapes (twelve lanes), so that two programs of flow serve all six.
"""

from pathlib import Path

import numpy as np
import pytest
import xarray

from tacit.experiments.regimes.border import Border
from tacit.experiments.regimes.map import Map
from tacit.experiments.regimes.regime import ORDERS, border
from tacit.experiments.regimes.rotation import Rotation
from tacit.experiments.regimes.width import Width
from tacit.measures import hankel, numerical_rank
from tacit.problems import mode_response
from tacit.reproduction import find_experiment, load_reference, reproduce
from tacit.theory.regimes import extrapolation_scale, kappa, kernel_response, wide_error

FIGURES = ("map", "border", "width", "rotation", "control", "floor")


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
    corner = runs["map"].dataset.sel({"gamma0": 0.03, "length": 8, "seed": 100})
    limit = kernel_response(mode_response("modes", 38), np.inf, length=8, nu_w=0.5)
    learned = corner["response"].values
    np.testing.assert_allclose(learned[:8], limit[:8], atol=0.05)
    assert np.abs(learned[8:]).max() < 0.35  # at n = 32 off-diagonal entries of G leak a little
    assert corner["error"] > 0.8
    rich = runs["map"].dataset.sel({"gamma0": 3.0, "length": 8})
    assert float(rich["error"].median()) < 0.5
    assert float(rich["rank"].median()) < float(corner["rank"])


def test_kappa_is_stored_as_the_theory_has_it(runs):
    data = runs["map"].dataset
    target = mode_response("modes", 38)
    for k in data["length"].values:
        expected = kappa(target, data["gamma0"].values, length=int(k), nu_w=0.5)
        found = data["kappa"].sel({"length": k, "seed": 101}).transpose("gamma0").values
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_limit_is_stored_as_the_theory_has_it(runs):
    data = runs["map"].dataset.sel({"length": 8, "gamma0": 0.3, "seed": 100})
    given = {"length": 8, "nu_w": 0.5}
    target = mode_response("modes", 32)
    np.testing.assert_allclose(data["wide_error"], wide_error(target, 0.3, **given), rtol=1e-12)
    np.testing.assert_allclose(data["chi"], 0.3 / extrapolation_scale(target, **given), rtol=1e-12)
    # Errors differ by no more than the responses do.
    assert abs(data["error"] - data["wide_error"]) <= data["distance"] + 1e-12
    others = runs["border"].dataset.sel({"width": 32, "seed": 200})
    np.testing.assert_allclose(others["wide_error"].sel({"chi": 1.0}), 0.5, atol=0.01)


def test_the_flow_is_that_of_all_parameters(runs):
    """Euler's steps from the same start, in NumPy, end at the same response."""
    W, F, C = Map().start(32, 100, 0.5)
    M, f, c, gamma0 = W / np.sqrt(32), F[:, 0] / np.sqrt(32), C[0] / np.sqrt(32), 0.3

    def states(matrix, vector, lags=8):
        rows = [vector]
        for _ in range(lags - 1):
            rows.append(matrix @ rows[-1])
        return np.array(rows)

    start, target = states(M, f, 38) @ c, mode_response("modes", 8)
    later = np.add.outer(np.arange(8), np.arange(8)) + 1
    for _ in range(3000):
        q, p = states(M, f), states(M.T, c)
        error = 0.02 * gamma0 * ((q @ c - start[:8]) / gamma0 - target)
        M = M - p.T @ np.append(error, np.zeros(8))[later] @ q
        f, c = f - error @ p, c - error @ q
    expected = (states(M, f, 38) @ c - start) / gamma0
    found = runs["map"].dataset.sel({"length": 8, "gamma0": 0.3, "seed": 100})["response"]
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_teachers_have_the_order_they_are_said_to_have():
    for name, order in ORDERS.items():
        response = mode_response(name, 40)
        assert numerical_rank(hankel(response), tolerance=1e-6) == order
        assert 0.99 < response[0] < 1.01


@pytest.mark.parametrize("nu_w", [0.3, 0.5, 0.8])
def test_the_borders_on_the_page_are_those_of_the_theory(nu_w):
    page = (Path(__file__).parents[3] / "docs" / "regimes.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {nu_w} | modes |"))
    _, _, _, order, k, wide, scale, narrow, norm, _ = (cell.strip() for cell in row.split("|"))
    assert (int(order), int(k)) == (ORDERS["modes"], 2 * ORDERS["modes"] + 2)
    found = border("modes", int(k), nu_w, 24, 2e-3)
    np.testing.assert_allclose(found, float(scale), rtol=0.03)
    target = mode_response("modes", int(k) + 24)
    for level, cell in ((0.75, wide), (0.25, narrow)):
        other = extrapolation_scale(target, length=int(k), nu_w=nu_w, level=level)
        np.testing.assert_allclose(other, float(cell), rtol=0.03)
    there = kappa(mode_response("modes", int(k)), found, length=int(k), nu_w=nu_w)
    np.testing.assert_allclose(there, float(norm), rtol=0.05)


def test_errors_and_ranks_of_known_responses():
    judge = Map().judge
    length = np.array([5, 9, 5])
    target = np.stack([mode_response(name, 38) for name in ("modes", "modes", "delay")])
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
    """A map in which the error is a function of (χ, k), the same for all seeds but a little."""
    dims = ("length", "gamma0", "seed")
    coords = {"length": list(experiment.length), "gamma0": list(experiment.gamma0)}
    coords["seed"] = list(range(10))
    k, g, s = np.meshgrid(*(np.array(coords[d], float) for d in dims), indexing="ij")
    values = error(g, k) * (1 + 1e-3 * s)
    return xarray.Dataset(
        {
            "error": (dims, values),
            "chi": (dims, g),  # χ = γ₀ here
            "distance": (dims, np.abs(values - error(g, np.full_like(k, 12.0)))),
            "wide_error": (dims, values),
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
    assert both.pop("k = 2d̂: follows the limit") == "holds"  # in the median over γ₀
    assert set(both.values()) == {"holds"}
    only_rich = verdicts(lambda g, k: np.where(g >= 1, 0.05, 0.95))
    assert only_rich["short: does not, at any γ₀"] == "fails"
    assert only_rich["long and rich: extrapolates"] == "holds"
    assert only_rich["rich: length helps"] == "fails"
    only_long = verdicts(lambda g, k: np.where(k > 6, 0.05, 0.95), rank=9)
    assert only_long["long but kernel: does not"] == "fails"
    assert only_long["rich: the teacher's order"] == "fails"
    assert only_long["k = 2d̂: follows the limit"] == "fails"


def test_the_crossing_is_interpolated():
    experiment = Map(gamma0=(0.1, 1.0, 10.0))
    data = made_up(experiment, lambda g, k: np.where(g < 0.5, 0.75, 0.25))
    found = experiment.thresholds(data)
    assert found["length"].values.tolist() == [7, 8, 10, 12]
    np.testing.assert_allclose(found.sel({"seed": 0}), np.sqrt(0.1), rtol=1e-12)
    never = experiment.thresholds(made_up(experiment, lambda g, k: np.ones_like(g)))
    assert never.isnull().all()


def settings_made_up(experiment: Border, error, distance) -> xarray.Dataset:
    """Students of several settings: the error from (χ, ν_W), the distance from (ν_W, n)."""
    axes = {"teacher": experiment.teacher, "nu_w": experiment.nu_w, "width": experiment.width}
    axes |= {"chi": experiment.chi, "seed": tuple(range(10))}
    grid = xarray.Dataset(coords={name: list(values) for name, values in axes.items()})
    shape = xarray.zeros_like(sum(grid[d] for d in ("nu_w", "width", "chi", "seed")), float)
    shape = shape.expand_dims(teacher=list(experiment.teacher))
    noise = 1 + 1e-3 * grid["seed"]
    edge = xarray.DataArray([1.0, 3.0, 9.0], {"nu_w": [0.3, 0.5, 0.8]}).sel(nu_w=grid["nu_w"])
    order = xarray.DataArray([1.0, 2.0, 3.0, 4.0], {"teacher": list(experiment.teacher)})
    gamma0 = shape + grid["chi"] * edge
    return xarray.Dataset(
        {
            "error": shape + error(grid["chi"], grid["nu_w"]) * noise,
            "distance": shape + distance(edge, grid["width"]) * noise,
            "wide_error": shape + 1 / (1 + grid["chi"]),
            "gamma0": gamma0,
            "kappa": gamma0 * order,
            "outcome": shape.astype(str).copy(data=np.full(shape.shape, "converged")),
        }
    )


def test_the_border_is_told_from_a_border_in_kappa():
    experiment = Border()

    def claims(error, distance=lambda edge, n: 0.1 * edge / np.sqrt(n / 100)):
        made = experiment.claims(settings_made_up(experiment, error, distance))
        return {claim.name: claim for claim in made}

    def fall(chi, nu_w):
        return xarray.where(nu_w < 0.8, 1 / (1 + chi), 0.9)

    found = claims(fall)
    wrong = [name for name, claim in found.items() if claim.as_expected is not True]
    assert wrong == []
    np.testing.assert_allclose(found["the border in χ: not less"].measured, 1, rtol=0.02)
    np.testing.assert_allclose(found["no one border in κ"].measured, 12, rtol=0.02)
    np.testing.assert_allclose(found["chance: in proportion to γ₀*: not less"].measured, 1)
    np.testing.assert_allclose(found["chance: less of it with n"].measured, 2)
    far = claims(
        lambda chi, nu_w: 1 / (1 + chi / 16) + 0 * nu_w, lambda edge, n: 0.1 + 0 * edge * n
    )
    assert far["ν_W = 0.3, two: beyond the border"].verdict == "fails"
    assert far["ν_W = 0.3: errors are the limit's"].verdict == "fails"
    assert far["chance: in proportion to γ₀*: not less"].verdict == "fails"
    assert far["chance: less of it with n"].verdict == "fails"
    like = claims(lambda chi, nu_w: 1 / (1 + chi) + 0 * nu_w)
    assert like["ν_W = 0.8: errors are the limit's"].verdict == "holds"  # unexpected
    early = claims(lambda chi, nu_w: 1 / (1 + 3 * chi) + 0 * nu_w)
    assert early["the border in χ: not less"].verdict == "fails"


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


def test_what_is_chance_in_the_rotation():
    experiment = Rotation(width=(32, 96), length=(8, 12), gamma0=(0.001, 0.01, 0.3, 1.0))
    axes = {"width": [32, 96], "length": [8, 12], "gamma0": list(experiment.gamma0)}
    grid = xarray.Dataset(coords=axes | {"seed": list(range(10))})
    limit = grid["gamma0"] ** 4 + 0 * grid["length"]

    def verdicts(chance):
        turned = limit + chance * (1 + 0.01 * grid["seed"])
        data = xarray.Dataset({"rotation": turned, "wide_rotation": limit + 0 * turned})
        data["outcome"] = turned.astype(str).copy(data=np.full(turned.shape, "converged"))
        return {claim.name: claim.verdict for claim in experiment.claims(data)}

    chance = 0.1 * grid["gamma0"] ** 2 / grid["width"]
    assert set(verdicts(chance).values()) == {"holds"}
    none = verdicts(0 * chance)
    assert none["small γ₀: slope 2: not more"] == "fails"
    same = verdicts(grid["gamma0"] ** 2 + grid["width"] ** 2 * chance)
    assert same["small γ₀: by chance, less with n"] == "fails"
    assert same["from γ₀ = 0.3: that of the limit: not more"] == "fails"


def test_a_teacher_by_another_name():
    with pytest.raises(ValueError, match="teacher: received 'none', it must be one of modes, two"):
        mode_response("none", 3)


def test_the_verdicts_that_matter_are_decided():
    claims = load_reference(find_experiment("regimes/map"), "quick").claims
    found = {c.name: c.verdict for c in claims}
    for name in (
        "long and rich: extrapolates",
        "long but kernel: does not",
        "short: does not, at any γ₀",
        "all k: follows the limit",
        "kernel: length does not help",
    ):
        assert found[name] == "holds"
    claims = load_reference(find_experiment("regimes/border"), "quick").claims
    sides = {c.name: c.verdict for c in claims}
    assert sides["no one border in κ"] == "holds"
    for side in ("below", "beyond"):
        for nu_w in (0.3, 0.5):
            for teacher in ("two", "close", "five"):
                assert sides[f"ν_W = {nu_w}, {teacher}: {side} the border"] == "holds"
    claims = load_reference(find_experiment("regimes/width"), "paper").claims
    wide = {c.name: c.verdict for c in claims}
    assert wide["γ = 1, wide: does not"] == "holds"
    assert wide["γ = 1: widening makes it worse"] == "holds"
