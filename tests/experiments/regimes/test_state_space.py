"""State-space models on the map at their smallest presets, against computations by hand."""

import jax
import numpy as np
import pytest

from tacit.experiments.regimes.ssm_measured import SSMMeasured, fitted, from_rest, record
from tacit.experiments.regimes.ssm_practice import sequences
from tacit.experiments.regimes.state_space import STARTS, StateSpaceExperiment, teacher_response
from tacit.models import DiagonalSSM
from tacit.problems import RatedResponse, cut_record, lazy_prediction
from tacit.reproduction import find_experiment, load_reference, reproduce

FIGURES = ("ssm", "ssm-trial", "ssm-practice", "ssm-measured")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every experiment once, at smoke."""
    folder = tmp_path_factory.mktemp("results")
    return {name: reproduce(f"regimes/{name}", preset="smoke", results=folder) for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_it_runs_and_is_drawn(runs, name):
    run = runs[name]
    assert (run.path / "figure.png").stat().st_size > 10_000
    assert len(run.claims) >= 2
    assert np.isfinite(run.dataset["error"]).all()


def test_what_is_stored_of_the_map_is_the_kernels_prediction(runs):
    """A student's κ, predicted change and predicted error, made again from its seed."""
    data = runs["ssm"].dataset.sel({"start": "ring", "modes": 4, "length": 8, "output": "as it is"})
    one = data.sel({"scale": 1.0, "rate": 0.1, "seed": 101})
    key = jax.random.fold_in(jax.random.key(2026), 101)
    with jax.enable_x64(True):
        model = DiagonalSSM.random(STARTS["ring"], 4, key=key)
    rates = {"A": 0.1, "B": 1.0, "C": 1.0}
    found = lazy_prediction(model, teacher_response(36), length=8, rates=rates)
    np.testing.assert_allclose(one["kappa"], found.kappa, rtol=1e-6)
    np.testing.assert_allclose(one["change"], found.change, rtol=1e-6)
    response = np.asarray(found.response)[None, :, 0, 0]
    error = StateSpaceExperiment.tail_error(response, np.array([8]), 24)
    np.testing.assert_allclose(one["lazy_error"], error[0], rtol=1e-6)
    assert (data["outcome"] == "converged").all()


def test_the_flow_moves_groups_at_their_rates():
    """Euler's steps by differences of the loss end at the moves that the problem says."""
    with jax.enable_x64(True):
        model = DiagonalSSM.random(STARTS["ring"], 2, key=jax.random.key(0))
        rates = {"A": 0.25, "B": 1.0, "C": 4.0}
        problem = RatedResponse.of(model, teacher_response(4), length=3, rates=rates)
        moves = problem.unmoved()
        pull = jax.grad(problem.loss)(moves)
        step = jax.tree.map(lambda g: -1e-6 * g, pull)
        found = problem.model(step)

    def loss(which, where, size):
        parts = {"phase": np.array(model.spectrum.phase), "B": np.array(model.B)}
        parts["C"] = np.array(model.C)
        parts[which][where] += size
        lags = np.arange(3)[:, None]
        values = np.exp(-np.exp(np.asarray(model.spectrum.log_decay)) + 1j * parts["phase"])
        b = np.asarray(model.spectrum.input_factor()) * (parts["B"][0] + 1j * parts["B"][1])[:, 0]
        c = (parts["C"][0] + 1j * parts["C"][1])[0]
        return np.sum(((values**lags @ (c * b)).real - teacher_response(3)) ** 2)

    for which, where, rate, moved in (
        ("phase", (1,), 0.25, found.spectrum.phase[1] - model.spectrum.phase[1]),
        ("B", (0, 1, 0), 1.0, found.B[0, 1, 0] - model.B[0, 1, 0]),
        ("C", (1, 0, 0), 4.0, found.C[1, 0, 0] - model.C[1, 0, 0]),
    ):
        slope = (loss(which, where, 1e-5) - loss(which, where, -1e-5)) / 2e-5
        np.testing.assert_allclose(float(moved), -1e-6 * rate * slope, rtol=1e-5)


@pytest.mark.parametrize(("task", "inputs", "size"), [("average", 1, 0), ("copy", 1, 1),
                                                      ("induction", 2, 0.25)])  # fmt: skip
def test_sequences_of_the_practice(task, inputs, size):
    x, y = sequences(task, np.random.default_rng(0), 50, 200)
    assert x.shape == (50, 200, inputs)
    assert y.shape == (50, 200)
    if size:  # of white noise of variance one, at all steps or at every fourth
        np.testing.assert_allclose(np.mean(y[:, 5:] ** 2), size, rtol=0.05)


def test_a_run_without_a_predicted_change_is_counted_and_left_out(runs):
    run = runs["ssm"]
    assert run.experiment.unpredicted(run.dataset) == ""
    lost = run.dataset.copy(deep=True)
    lost["change"][{"scale": 0, "rate": 0, "seed": 1}] = np.nan
    words = "1 of 18 runs, whose kernel would change beyond double precision, are left out"
    assert run.experiment.unpredicted(lost) == words
    claims = {claim.name: claim for claim in run.experiment.claims(lost)}
    assert claims["rich: no longer"].because == words
    assert claims["the change orders the settings"].because.endswith(words)
    assert run.experiment.draw(lost).caption.endswith(f"In the last, {words}.")


def test_a_filter_by_least_squares_finds_the_synthetic_system():
    inputs, outputs = record("synthetic", np.random.default_rng(0))
    taps = fitted(inputs.T, outputs[None], 40)
    lags = np.arange(38)
    response = np.concatenate([np.zeros(2), 0.8**lags - 0.6**lags])
    np.testing.assert_allclose(taps, response, atol=0.05)
    white = np.random.default_rng(1).normal(size=(200, 6))
    known = np.array([0.5, -1.0, 2.0])
    seen = np.stack([np.convolve(row, known)[:6] for row in white])
    np.testing.assert_allclose(fitted(white, seen, 3), known, atol=1e-12)


def test_from_rest_all_parts_are_of_one_system_in_one_unit():
    rng = np.random.default_rng(3)
    sizes = {"window": 8, "windows": 200, "horizon": 128, "tests": 8}
    made = from_rest(cut_record(*record("rest", rng), **sizes, rng=rng), rng)
    np.testing.assert_allclose(made.test_outputs.std(), 1)
    parts = [(u.T, y[None]) for u, y in made.pieces if len(y) > 100]
    parts.append((made.test_inputs[..., 0], made.test_outputs))
    gains = [np.sum(fitted(u, y, 32)) for u, y in parts]
    np.testing.assert_allclose(gains, gains[-1], rtol=0.05)


def test_the_longest_window_leaves_room_for_both_filters():
    longest = SSMMeasured.parameter_named("window").high
    experiment = SSMMeasured.from_preset("smoke", window=longest)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = {"window": longest, "windows": 8, "horizon": 16 * longest, "tests": 2}
        made = from_rest(cut_record(*record("rest", rng), **sizes, rng=rng), rng)
        assert len(experiment._long(made)) == 4 * longest


def test_filters_of_the_measured_systems_know_their_place(runs):
    """A filter of four windows explains the synthetic record; one of a window does not."""
    last = runs["ssm-measured"].dataset.sel(times=16).median("seed")
    assert (last["long_error"] < 0.05).all()
    assert (last["short_error"] > 0.1).all()


@pytest.mark.parametrize("name", FIGURES)
def test_the_reference_is_of_this_version(name):
    kind = find_experiment(f"regimes/{name}")
    assert load_reference(kind, "quick") is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": np.ones((4, 2, 1))}, "target: received the shape"),
        ({"length": 9}, r"length: received 9, it must lie in \[1, lags = 4\]"),
        ({"rates": {"A": 1.0}}, "rates: .*for each of A, B and C"),
        ({"rates": {"A": -1.0, "B": 1.0, "C": 1.0}}, r"rates\['A'\]: received -1.0"),
    ],
)
def test_bad_input(change, words):
    model = DiagonalSSM.random(STARTS["ring"], 2, key=jax.random.key(0))
    given = {"target": np.ones(4), "length": 3, **change}
    with pytest.raises(ValueError, match=words):
        RatedResponse.of(model, **given)
