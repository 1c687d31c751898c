"""memoryless/fig1, fig2 and fig5: teachers, students, errors, smallest presets, claims."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.memoryless.fig1 import Fig1
from tacit.experiments.memoryless.fig2 import Fig2
from tacit.experiments.memoryless.fig5 import Fig5, first_break
from tacit.experiments.memoryless.lengths import adversarial_response
from tacit.reproduction import reproduce
from tacit.theory.memoryless import impulse_responses


@pytest.fixture(scope="module", params=["fig1", "fig2", "fig5"])
def smoke(request, tmp_path_factory):
    """One run of each for all tests of this file."""
    folder = tmp_path_factory.mktemp("results")
    return reproduce(f"memoryless/{request.param}", preset="smoke", results=folder)


def test_the_adversary_is_right_below_lag_k_and_wrong_there():
    wrong = adversarial_response(np.array([[1.0] + 9 * [0.0], 10 * [0.5]]), 4)
    np.testing.assert_array_equal(wrong[0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0])  # the cyclic shift's
    np.testing.assert_array_equal(wrong[1] - 0.5, [0, 0, 0, 0, 1, 0, 0, 0, 1, 0])


def test_teachers_of_the_cells_and_their_responses():
    experiment = Fig2(radius=0.7)
    nothing, teacher = experiment.teacher(0, 3), experiment.teacher(3, 5)
    found = impulse_responses(nothing.transition.matrix(), nothing.B, nothing.C, 4)
    np.testing.assert_array_equal(found, [1, 0, 0, 0])
    np.testing.assert_allclose(
        impulse_responses(teacher.transition.matrix(), teacher.B, teacher.C, 6),
        np.asarray(teacher.impulse_response(6))[:, 0, 0],
        rtol=1e-12,
    )
    np.testing.assert_allclose(np.abs(teacher.transition.eigenvalues()), 0.7)


def test_the_smallest_presets_store_errors_that_fit(smoke):
    data, k = smoke.dataset, smoke.experiment.length
    linear = data.sel(model="linear", data="plain")
    at_k = linear["error"].sel(time=k, iterate="last")
    # The loss is half the error at length k; linear errors cannot fall with the length.
    np.testing.assert_allclose(
        at_k.transpose(*linear["final_loss"].dims).values,
        2 * linear["final_loss"].values,
        rtol=1e-9,
    )
    assert (linear["error"].diff("time") >= 0).all()
    assert (data["forgetful_error"].sel(time=k) == 0).all()
    assert (data["zero_error"] <= 1 + 1e-9).all()
    assert np.isfinite(data["error"].values).all()
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    assert smoke.as_expected is not False


def made_up(experiment, error):
    """A dataset as the store gives it: errors are `error(time, data, order)` times a little."""
    axes = {name: list(values) for name, values in experiment.axes().items()}
    iterates, times = experiment.coordinates().values()
    rng = np.random.default_rng(0)
    found = np.empty((*(len(v) for v in axes.values()), len(iterates), times.size))
    for place in np.ndindex(found.shape[:-2]):
        cell = {name: values[i] for (name, values), i in zip(axes.items(), place, strict=True)}
        here = error(times, cell["data"], cell.get("order", 0))
        found[place] = here * rng.uniform(0.9, 1.1, (len(iterates), 1))
    dims = tuple(axes)
    forgetful = np.where(times > experiment.length, 0.2, 0.0)
    forgetful = np.broadcast_to(forgetful, (*found.shape[:-2], times.size))
    return xarray.Dataset(
        {
            "error": ((*dims, "iterate", "time"), found),
            "forgetful_error": ((*dims, "time"), forgetful.copy()),
        },
        {**axes, "iterate": list(iterates), "time": times},
    )


def flat(times, data, order):
    return np.where((times > 5) & (data == "adversarial"), 1.0, 1e-4)


@pytest.mark.parametrize("kind", [Fig1, Fig2])
def test_claims_tell_flat_errors_from_rising_ones(kind):
    experiment = kind()
    verdicts = {c.name: c.verdict for c in experiment.claims(made_up(experiment, flat))}
    assert set(verdicts.values()) == {"holds"}

    def rising(times, data, order):
        return np.where(times > 5, 0.5, 1e-4)

    found = experiment.claims(made_up(experiment, rising))
    failed = {claim.name for claim in found if claim.verdict == "fails"}
    assert "GRU, gain 0.3: flat" in failed
    assert "linear RNN, gain 1: adversary leaves" not in failed

    def better(times, data, order):  # the adversary extrapolates, plain training does not
        return np.where((times > 5) & (data == "plain"), 0.5, 1e-4)

    found = experiment.claims(made_up(experiment, better))
    failed = {claim.name for claim in found if claim.verdict == "fails"}
    assert "LSTM, gain 1: adversary is worse" in failed
    assert "linear RNN, gain 1: adversary leaves" in failed


def test_claims_about_orders_tell_both_hypotheses_apart():
    experiment = Fig5()

    def breaks_after(last):
        def error(times, data, order):
            return np.where((times > 5) & (order > last), 0.3, 1e-4)

        found = experiment.claims(made_up(experiment, error))
        return {claim.name: claim.verdict for claim in found}

    early, late, never = breaks_after(2), breaks_after(5), breaks_after(9)
    name = "GRU, gain 0.3: "
    assert [early[name + case] for case in ("2d* ≤ k", "d* < k", "d* > k")] == [
        "holds",
        "fails",
        "holds",
    ]
    assert [late[name + case] for case in ("2d* ≤ k", "d* < k", "d* > k")] == ["holds"] * 3
    assert never[name + "d* > k"] == "fails"


def test_the_order_at_which_it_breaks_is_named():
    table = np.array([[0.5, 0.6, np.nan], [1e-3, 2e-3, 0.1], [np.nan] * 3])
    errors = xarray.DataArray(table, {"order": [4, 2, 1]}, ("order", "seed"))
    assert first_break(errors) == "4"
    assert first_break(errors.sel(order=[2, 1])) == "none"


def test_runs_that_did_not_learn_are_left_out():
    experiment = Fig1()
    data = made_up(experiment, lambda times, data, order: np.full(times.shape, 0.5))
    claims = {claim.name: claim for claim in experiment.claims(data)}
    assert claims["GRU, gain 1: flat"].samples == 0
    assert claims["GRU, gain 1: adversary is worse"].samples == 0
    assert claims["GRU, gain 1: adversary leaves"].verdict == "fails"


@pytest.mark.parametrize("name", ["horizon", "adversarial_length"])
def test_lengths_beyond_k_are_needed(name):
    with pytest.raises(UsageError, match=name):
        Fig1(length=9, **{"horizon": 20, "adversarial_length": 20, name: 9})


def test_the_order_is_an_axis_of_fig5_alone():
    assert set(Fig5().axes()) == {"model", "data", "gain", "seed", "order"}
    assert set(Fig2().axes()) == {"model", "data", "gain", "seed"}
    assert "order" in Fig2().constants()
    assert "order" not in Fig1().constants()


def test_a_kind_of_data_that_is_not_there_leaves_its_claims_undecided():
    experiment = Fig2(data="plain")
    found = {c.name: c for c in experiment.claims(made_up(experiment, flat))}
    assert found["GRU, gain 1: flat"].verdict == "holds"
    for name in ("adversary leaves", "adversary is worse"):
        assert found[f"GRU, gain 1: {name}"].samples == 0
