"""State-space models on the map at their smallest presets, against computations by hand."""

import jax
import numpy as np
import pytest

from tacit.experiments.regimes.ssm_practice import answers
from tacit.experiments.regimes.state_space import STARTS, StateSpaceExperiment, teacher_response
from tacit.models import DiagonalSSM
from tacit.problems import RatedResponse, lazy_prediction
from tacit.reproduction import find_experiment, load_reference, reproduce

FIGURES = ("ssm", "ssm-trial", "ssm-practice")


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


def test_answers_of_the_practice_are_what_they_are_said_to_be():
    u = np.random.default_rng(0).normal(size=(2, 40))
    np.testing.assert_array_equal(answers("copy", u)[:, 5:], u[:, :-5])
    np.testing.assert_array_equal(answers("copy", u)[:, :5], 0)
    weights = np.sqrt(1 - 0.97**2) * 0.97 ** np.arange(40)
    expected = np.tanh([np.convolve(row, weights)[:40] for row in u])
    np.testing.assert_allclose(answers("average", u), expected, atol=1e-12)


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
