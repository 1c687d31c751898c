"""memoryless/fig1, fig2 and fig5: teachers, students, errors, smallest presets, claims."""

import jax
import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError, reproduce
from tacit.experiments.memoryless._extrapolation import teacher_of, wrong_targets
from tacit.experiments.memoryless._lengths import ITERATES, LengthsConfig
from tacit.experiments.memoryless._responses import response_of
from tacit.experiments.memoryless._students import gated_student, linear_student
from tacit.experiments.memoryless.fig1 import Fig1
from tacit.experiments.memoryless.fig2 import Fig2, Fig2Config
from tacit.experiments.memoryless.fig5 import Fig5, Fig5Config, first_break
from tacit.store import DATA, GAIN, ITERATE, MODEL, ORDER, SEED, TIME


@pytest.fixture(scope="module", params=["fig1", "fig2", "fig5"])
def smoke(request, tmp_path_factory):
    """One run of each for all tests of this file."""
    folder = tmp_path_factory.mktemp("results")
    return reproduce(f"memoryless/{request.param}", preset="smoke", results=folder)


def test_students_start_at_xavier_times_a_gain():
    key = jax.random.key(0)
    linear = linear_student(60, gain=0.3, key=key)
    assert np.asarray(linear.transition.matrix()).std() * np.sqrt(60) == pytest.approx(0.3, rel=0.1)
    assert np.asarray(linear.B).std() == pytest.approx(0.3 * np.sqrt(2 / 61), rel=0.3)
    literal = linear_student(60, gain=1.0, key=key)
    np.testing.assert_allclose(np.asarray(linear.C), 0.3 * np.asarray(literal.C), rtol=1e-12)
    for model, blocks in (("gru", 3), ("lstm", 4)):
        student = gated_student(model, 60, gain=0.3, key=key)
        state = np.asarray(student.recurrent_weights)
        assert state.shape == (blocks * 60, 60)
        assert state.dtype == np.float32
        assert state.std() * np.sqrt(60) == pytest.approx(0.3, rel=0.05)
        assert not np.asarray(student.bias).any()


def test_the_adversary_is_right_below_lag_k_and_wrong_there():
    wrong = wrong_targets(np.array([[1.0] + 9 * [0.0], 10 * [0.5]]), 4)
    np.testing.assert_array_equal(wrong[0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0])  # the cyclic shift's
    np.testing.assert_array_equal(wrong[1] - 0.5, [0, 0, 0, 0, 1, 0, 0, 0, 1, 0])


def test_teachers_of_the_cells_and_their_responses():
    config = LengthsConfig(radius=0.7)
    np.testing.assert_array_equal(response_of(teacher_of(0, 3, config), 4), [1, 0, 0, 0])
    teacher = teacher_of(3, 5, config)
    np.testing.assert_allclose(
        response_of(teacher, 6), np.asarray(teacher.impulse_response(6))[:, 0, 0], rtol=1e-12
    )
    np.testing.assert_allclose(np.abs(teacher.transition.eigenvalues()), 0.7)


def test_the_smallest_presets_store_errors_that_fit(smoke):
    data, config = smoke.dataset, smoke.config
    linear = data.sel({MODEL: "linear", DATA: "plain"})
    at_k = linear["error"].sel({TIME: config.length, ITERATE: "last"})
    # The loss is half the error at length k; linear errors cannot fall with the length.
    np.testing.assert_allclose(
        at_k.transpose(*linear["final_loss"].dims).values,
        2 * linear["final_loss"].values,
        rtol=1e-9,
    )
    assert (linear["error"].diff(TIME) >= 0).all()
    assert (data["forgetful_error"].sel({TIME: config.length}) == 0).all()
    assert (data["zero_error"] <= 1 + 1e-9).all()
    assert np.isfinite(data["error"].values).all()
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    assert smoke.as_expected


def made_up(experiment, config, error):
    """A dataset as the store gives it: errors are `error(time, data, order)` times a little."""
    axes = {name: list(values) for name, values in config.axes().items()}
    times = np.arange(1, config.horizon + 1)
    rng = np.random.default_rng(0)
    found = np.empty((*(len(v) for v in axes.values()), len(ITERATES), times.size))
    for place in np.ndindex(found.shape[:-2]):
        cell = {name: values[i] for (name, values), i in zip(axes.items(), place, strict=True)}
        here = error(times, cell["data"], cell.get("order", 0))
        found[place] = here * rng.uniform(0.9, 1.1, (len(ITERATES), 1))
    dims = tuple(axes)
    forgetful = np.where(times > config.length, 0.2, 0.0)
    forgetful = np.broadcast_to(forgetful, (*found.shape[:-2], times.size))
    return xarray.Dataset(
        {
            "error": ((*dims, ITERATE, TIME), found),
            "forgetful_error": ((*dims, TIME), forgetful.copy()),
        },
        {**axes, ITERATE: list(ITERATES), TIME: times},
    )


def flat(times, data, order):
    return np.where((times > 5) & (data == "adversarial"), 1.0, 1e-4)


@pytest.mark.parametrize(("kind", "config"), [(Fig1, LengthsConfig()), (Fig2, Fig2Config())])
def test_claims_tell_flat_errors_from_rising_ones(kind, config):
    experiment = kind()
    verdicts = {c.name: c.verdict for c in experiment.claims(made_up(kind, config, flat), config)}
    assert set(verdicts.values()) == {"holds"}

    def rising(times, data, order):
        return np.where(times > 5, 0.5, 1e-4)

    found = experiment.claims(made_up(kind, config, rising), config)
    failed = {claim.name for claim in found if claim.verdict == "fails"}
    assert "GRU, gain 0.3: flat" in failed
    assert "LSTM, gain 1: adversary is worse" in failed
    assert ("linear RNN, gain 1: remembers" in failed) == (kind is Fig2)
    assert "linear RNN, gain 1: adversary fits" not in failed


def test_claims_about_orders_tell_both_hypotheses_apart():
    config = Fig5Config()

    def breaks_after(last):
        def error(times, data, order):
            return np.where((times > 5) & (order > last), 0.3, 1e-4)

        found = Fig5().claims(made_up(Fig5, config, error), config)
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
    assert first_break((4, 2, 1), table) == "4"
    assert first_break((4, 2), table[[1, 1]]) == "none"


def test_runs_that_did_not_learn_are_left_out():
    config = LengthsConfig()
    data = made_up(Fig1, config, lambda times, data, order: np.full(times.shape, 0.5))
    claims = {claim.name: claim for claim in Fig1().claims(data, config)}
    assert claims["GRU, gain 1: flat"].samples == 0
    assert claims["GRU, gain 1: adversary fits"].verdict == "fails"


@pytest.mark.parametrize("name", ["horizon", "adversarial_length"])
def test_lengths_beyond_k_are_needed(name):
    with pytest.raises(UsageError, match=name):
        LengthsConfig(length=9, **{"horizon": 20, "adversarial_length": 20, name: 9})


def test_axes_of_the_figure_are_those_of_the_config():
    assert set(Fig5Config().axes()) == {MODEL, DATA, GAIN, SEED, ORDER}
