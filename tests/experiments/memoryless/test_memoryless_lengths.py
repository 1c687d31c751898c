"""memoryless/fig1, fig2 and fig5: teachers, students, errors, smallest presets, claims."""

import jax
import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.memoryless.fig1 import Fig1
from tacit.experiments.memoryless.fig2 import Fig2
from tacit.experiments.memoryless.fig5 import Fig5, first_break
from tacit.experiments.memoryless.lengths import adversarial_response, linear_responses
from tacit.reproduction import reproduce


@pytest.fixture(scope="module", params=["fig1", "fig2", "fig5"])
def smoke(request, tmp_path_factory):
    """One run of each for all tests of this file."""
    folder = tmp_path_factory.mktemp("results")
    return reproduce(f"memoryless/{request.param}", preset="smoke", results=folder)


def test_the_adversary_is_right_below_lag_k_and_wrong_there():
    wrong = adversarial_response(np.array([[1.0] + 9 * [0.0], 10 * [0.5]]), 4)
    np.testing.assert_array_equal(wrong[0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0])  # the cyclic shift's
    np.testing.assert_array_equal(wrong[1] - 0.5, [0, 0, 0, 0, 1, 0, 0, 0, 1, 0])


def test_teachers_of_one_seed_differ_in_the_radius_alone():
    slow, fast = linear_responses(3, [0.8, 0.4], 5, 9)
    np.testing.assert_allclose(fast / fast[0], slow / slow[0] * 0.5 ** np.arange(9), rtol=1e-9)
    (other,) = linear_responses(4, 0.8, [5], 9)
    assert np.abs(other - slow).max() > 0.01


def test_the_smallest_presets_store_errors_that_fit(smoke):
    data, k = smoke.dataset, smoke.experiment.length
    linear = data.sel(model="linear", data="plain")
    # Linear errors cannot fall with the length.
    assert (linear["error"].diff("time") >= 0).all()
    assert (data["forgetful_error"].sel(time=k) == 0).all()
    assert (data["zero_error"] <= 1 + 1e-9).all()
    assert np.isfinite(data["error"].values).all()
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    assert smoke.as_expected is not False


def test_the_population_loss_is_half_the_error_at_length_k(tmp_path):
    options = {
        "model": "linear",
        "data": "plain",
        "loss": "population",
        "seed": range(1),
        "results": tmp_path,
    }
    data = reproduce("memoryless/fig1", preset="smoke", **options).dataset
    at_k = data["error"].sel(time=5, iterate="last").transpose(*data["final_loss"].dims)
    np.testing.assert_allclose(at_k.values, 2 * data["final_loss"].values, rtol=1e-9)


def test_random_labels_begin_after_length_k():
    experiment = Fig1(model="gru", data="labels", seed=3, labelled=500)
    (batch,) = experiment.grid().batches()
    problem = experiment.problem(batch, np.eye(1, 15)[0], jax.random.key(0))
    inputs, targets = np.asarray(problem.inputs)[..., 0], np.asarray(problem.targets)[..., 0]
    np.testing.assert_allclose(targets[:, :5], inputs[:, :5], rtol=1e-6)
    later = targets[:, 5:]
    assert later.shape == (500, 5)
    assert abs(later.std() - 1) < 0.05
    assert abs(np.mean(later * inputs[:, 5:])) < 0.1
    np.testing.assert_allclose(np.asarray(problem.weights)[4:], 0.5 / 6)


def made_up(experiment, error):
    """A dataset as the store gives it: errors are `error(time, data, order)` times a little.

    The errors of the map are those of `error` at each order.
    """
    axes = {name: list(values) for name, values in experiment.axes().items()}
    coordinates = {name: list(v) for name, v in experiment.coordinates().items()}
    iterates, times = coordinates["iterate"], np.array(coordinates["time"])
    rng = np.random.default_rng(0)
    found = np.empty((*(len(v) for v in axes.values()), len(iterates), times.size))
    for place in np.ndindex(found.shape[:-2]):
        cell = {name: values[i] for (name, values), i in zip(axes.items(), place, strict=True)}
        here = error(times, cell["data"], cell.get("order", 0))
        found[place] = here * rng.uniform(0.9, 1.1, (len(iterates), 1))
    dims = tuple(axes)
    forgetful = np.where(times > experiment.length, 0.2, 0.0)
    forgetful = np.broadcast_to(forgetful, (*found.shape[:-2], times.size))
    arrays = {
        "error": ((*dims, "iterate", "time"), found),
        "forgetful_error": ((*dims, "time"), forgetful.copy()),
    }
    if "teacher_order" in coordinates:
        by_order = [error(times, "plain", order)[-1] for order in coordinates["teacher_order"]]
        shape = (*found.shape[:-2], len(by_order))
        arrays["order_error"] = (*dims, "teacher_order"), np.broadcast_to(by_order, shape)
    return xarray.Dataset(arrays, {**axes, **coordinates})


def flat(times, data, order):
    return np.where((times > 5) & (data == "adversarial"), 1.0, 1e-4)


@pytest.mark.parametrize("kind", [Fig1, Fig2])
def test_claims_tell_flat_errors_from_rising_ones(kind):
    experiment = kind()
    case = ", radius 0.9" if kind is Fig2 else ""

    def verdicts(error):
        found = {c.name: c.verdict for c in experiment.claims(made_up(experiment, error))}
        return {name: found[name] for name in found if "where the claim" not in name}

    assert set(verdicts(flat).values()) == {"holds"}

    def rising(times, data, order):
        return np.where(times > 5, 0.7, 1e-4)

    found = verdicts(rising)
    assert found[f"GRU, small{case}: flat"] == "fails"
    assert found["linear RNN, xavier: adversary is wrong"] == "holds"

    def better(times, data, order):  # the adversary extrapolates, plain training does not
        return np.where((times > 5) & (data == "plain"), 0.5, 1e-4)

    found = verdicts(better)
    assert found["LSTM, xavier: adversary is worse"] == "fails"
    assert found["linear RNN, xavier: adversary is wrong"] == "fails"


def test_where_fig2_is_expected_to_hold_follows_radius_order_and_length():
    experiment = Fig2(radius=(0.5, 0.9))

    def expected(experiment):
        found = experiment.claims(made_up(experiment, flat))
        return {c.name: c.expected for c in found if c.name.startswith("GRU, small")}

    assert expected(experiment)["GRU, small, radius 0.5: flat"] == "holds"
    assert expected(experiment)["GRU, small, radius 0.9: flat"] == "fails"
    xavier = [c for c in experiment.claims(made_up(experiment, flat)) if "xavier, radius" in c.name]
    hold = [claim.name for claim in xavier if claim.expected == "holds"]
    assert hold == ["GRU, xavier, radius 0.5: flat"]
    assert expected(experiment.replace(order=2))["GRU, small, radius 0.9: flat"] == "holds"
    longer = experiment.replace(length=40, horizon=60, adversarial_length=60)
    assert expected(longer)["GRU, small, radius 0.9: flat"] == "holds"


@pytest.mark.parametrize("kind", [Fig2, Fig5])
def test_students_that_still_learn_have_no_claims_of_extrapolation(kind):
    experiment = kind(gated_steps=1_000)
    found = [claim.name for claim in experiment.claims(made_up(experiment, flat))]
    says_so = [name for name in found if name.endswith((": flat", "d* ≤ k", "d* < k"))]
    assert says_so
    assert all(name.startswith("linear") for name in says_so)


def test_the_region_of_the_map_is_claimed():
    experiment = Fig2(radius=(0.5, 0.9), orders=(1, 2, 3, 4))
    data = made_up(experiment, flat)
    data["order_error"] = data["order_error"].copy()

    def verdict():
        return experiment.claims(data)[-1].verdict

    assert verdict() == "fails"  # errors are small everywhere: 6 of 8 teachers agree
    data["order_error"].loc[{"radius": 0.9, "teacher_order": [3, 4]}] = 0.3
    assert verdict() == "holds"


def test_claims_about_orders_tell_both_hypotheses_apart():
    experiment = Fig5()

    def breaks_after(last):
        def error(times, data, order):
            return np.where((times > 5) & (order > last), 0.3, 1e-4)

        found = experiment.claims(made_up(experiment, error))
        return {claim.name: claim.verdict for claim in found}

    early, late, never = breaks_after(2), breaks_after(5), breaks_after(9)
    name, cases = "GRU, small, radius 0.9: ", ("2d* ≤ k", "d* < k", "rises beyond d* = k")
    assert [early[name + case] for case in cases] == ["holds", "fails", "holds"]
    assert [late[name + case] for case in cases] == ["holds"] * 3
    assert [never[name + case] for case in cases] == ["holds", "holds", "fails"]  # flat
    faded = "GRU, small, radius 0.5: d* > k"
    assert (late[faded], never[faded]) == ("fails", "holds")
    assert name + "d* > k" not in late


def test_a_wide_linear_student_from_xavier_is_expected_to_forget():
    def expected(radius, **options):
        experiment = Fig5(radius=radius, **options)
        found = experiment.claims(made_up(experiment, flat))
        return {c.name: c.expected for c in found}[
            f"linear RNN, xavier, radius {radius:g}: 2d* ≤ k"
        ]

    assert expected(0.9) == "fails"
    assert expected(0.5) == "holds"  # little to forget, and nothing to be seen of the start
    assert expected(0.5, width=30) == "fails"  # the start rings


def test_the_order_at_which_it_breaks_is_named():
    table = np.array([[0.5, 0.6, np.nan], [1e-3, 2e-3, 0.1], [np.nan] * 3])
    errors = xarray.DataArray(table, {"order": [4, 2, 1]}, ("order", "seed"))
    assert first_break(errors) == "4"
    assert first_break(errors.sel(order=[2, 1])) == "none"


def test_runs_that_did_not_learn_are_left_out():
    experiment = Fig1()
    data = made_up(experiment, lambda times, data, order: np.full(times.shape, 0.5))
    claims = {claim.name: claim for claim in experiment.claims(data)}
    assert claims["GRU, xavier: flat"].samples == 0
    assert claims["GRU, xavier: adversary is worse"].samples == 0
    assert claims["GRU, xavier: adversary is wrong"].samples == 0


@pytest.mark.parametrize("name", ["horizon", "adversarial_length"])
def test_lengths_beyond_k_are_needed(name):
    with pytest.raises(UsageError, match=name):
        Fig1(length=9, **{"horizon": 20, "adversarial_length": 20, name: 9})


def test_a_kind_of_data_that_is_not_there_has_no_claims():
    experiment = Fig2(data="plain")
    found = [claim.name for claim in experiment.claims(made_up(experiment, flat))]
    assert "GRU, xavier, radius 0.9: flat" in found
    assert not [name for name in found if "adversary" in name]
    only = Fig1(data=("labels",))
    found = only.claims(made_up(only, flat))
    assert found[0].name == "linear RNN, xavier: label adversary is wrong"
    assert {claim.expected for claim in found} == {"fails"}
    assert len(found) == 6
