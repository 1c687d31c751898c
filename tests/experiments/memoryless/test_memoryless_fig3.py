"""memoryless/fig3: descent by entries, spectra, the smallest preset, claims on known data."""

import numpy as np
import optax
import pytest
import xarray

from tacit.descent import Stop, descend
from tacit.experiments import UsageError
from tacit.experiments.memoryless.fig3 import Fig3, by_entries
from tacit.problems import half_population_loss, memoryless_teacher
from tacit.reproduction import reproduce
from tacit.theory.memoryless import spectrum


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("memoryless/fig3", preset="smoke", results=tmp_path_factory.mktemp("results"))


def gradients(A, B, C, k):
    """(5)-(7), on free entries, for w* = 1."""
    X = [np.linalg.matrix_power(A, j) @ B for j in range(k)]
    Y = [np.linalg.matrix_power(A.T, j) @ C.T for j in range(k)]
    r = [(C @ X[j])[0, 0] - (j == 0) for j in range(k)]
    by_A = sum(r[i] * Y[j] @ X[i - 1 - j].T for i in range(1, k) for j in range(i))
    return by_A, sum(r[j] * Y[j] for j in range(k)), sum(r[j] * X[j].T for j in range(k))


@pytest.mark.parametrize(("method", "rate"), [("gd", 0.05), ("adam", 1e-3)])
def test_symmetric_parameters_make_the_steps_of_free_entries(method, rate):
    student, k, steps = Fig3(width=6).student("symmetric", 0), 4, 100
    problem = half_population_loss(memoryless_teacher(1.0), k)
    step = by_entries(optax.sgd(1.0) if method == "gd" else optax.adam(1.0))
    end = descend(student, problem, step, stop=Stop(steps), rate=rate).model
    start, B = np.asarray(student.transition.matrix()), np.asarray(student.B)
    weights, first, second = [start, B, B.T], [0.0] * 3, [0.0] * 3
    for t in range(1, steps + 1):
        for place, g in enumerate(gradients(*weights, k)):
            first[place] = 0.9 * first[place] + 0.1 * g
            second[place] = 0.999 * second[place] + 0.001 * g**2
            if method == "adam":
                g = first[place] / (1 - 0.9**t)
                g = g / (np.sqrt(second[place] / (1 - 0.999**t)) + 1e-8)
            weights[place] = weights[place] - rate * g
    found = np.asarray(end.transition.matrix())
    np.testing.assert_allclose(found, weights[0], atol=1e-10)
    np.testing.assert_allclose(np.asarray(end.B), weights[1], atol=1e-10)
    np.testing.assert_allclose(weights[2], weights[1].T, atol=1e-10)
    assert np.max(np.abs(found - start)) > 0.01  # it moved


@pytest.mark.parametrize("symmetric", [True, False])
def test_spectra_give_the_response_back(symmetric):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 5)), rng.normal(size=(5, 1))
    A = (A + A.T) / 2 if symmetric else A
    value, projection = spectrum(A, B, symmetric=symmetric)
    assert np.all(np.diff(value) <= 1e-12)
    np.testing.assert_allclose(np.prod(value), abs(np.linalg.det(A)), rtol=1e-10)
    if symmetric:
        np.testing.assert_allclose(np.sum((value * projection) ** 2), np.sum((A @ B) ** 2))


def test_starts_are_what_they_are_called():
    identity, symmetric, literal = (
        Fig3(width=40).student(name, 1) for name in ("identity", "symmetric", "literal")
    )
    np.testing.assert_array_equal(np.asarray(identity.transition.matrix()), np.eye(40))
    assert symmetric.balanced
    assert not literal.balanced
    assert np.asarray(literal.transition.matrix()).std() * np.sqrt(40) == pytest.approx(1, abs=0.1)
    np.testing.assert_array_equal(np.asarray(identity.B), np.asarray(literal.B))


def test_the_smallest_preset_stores_what_its_spectra_say(smoke):
    data = smoke.dataset
    largest = (data["eigenvalue"] * data["projection"]).max("mode")
    np.testing.assert_allclose(data["slackness"].values, largest.values, rtol=1e-12)
    symmetric = data.sel(start=["symmetric"])
    norm = np.sqrt(((symmetric["eigenvalue"] * symmetric["projection"]) ** 2).sum("mode"))
    np.testing.assert_allclose(symmetric["image_norm"].isel(step=-1).values, norm.values)
    np.testing.assert_allclose(
        symmetric["transition_norm"].values,
        np.sqrt((symmetric["eigenvalue"] ** 2).sum("mode")).values,
        rtol=1e-12,
    )
    assert (data["loss"].isel(step=-1) < data["loss"].isel(step=0)).all()
    assert {claim.verdict for claim in smoke.claims} == {"undecided"}
    assert (smoke.path / "figure.png").stat().st_size > 10_000


def made_up(experiment, slackness):
    """Runs with |λ_1| = |u_1| = 1 in every start, and the slackness given for each."""
    steps = experiment.coordinates()["step"]
    shape = len(experiment.start), len(experiment.method), len(experiment.seed)
    dims = "start", "method", "seed"

    def same(values, *more):
        return (*dims, *more), np.broadcast_to(values, (*shape, *np.shape(values)))

    tail = np.array([[1e-9, 9.0], [1e-4, 1e-3], [0.9, 0.9]])  # of each start and method
    per_start = np.broadcast_to(np.reshape(slackness, (-1, 1, 1)), shape).copy()
    return xarray.Dataset(
        {
            "final_loss": (dims, np.full(shape, 1e-9)),
            "slackness": (dims, per_start),
            "tail": (dims, np.broadcast_to(tail[..., None], shape)),
            "transition_norm": same(3.0),
            "eigenvalue": same(np.array([1.0, 0.0]), "mode"),
            "projection": same(np.array([1.0, 0.0]), "mode"),
            "image_norm": same((steps + 1.0) ** -0.5, "step"),
        },
        {
            "start": list(experiment.start),
            "method": list(experiment.method),
            "seed": list(experiment.seed),
            "step": steps,
        },
    )


def test_claims_tell_slackness_from_its_absence():
    experiment = Fig3()
    data = made_up(experiment, [1e-14, 0.02, 0.8])
    claims = experiment.claims(data)
    assert len(claims) == 6 * 3 + 2 + 2
    assert [claim.verdict == claim.expected for claim in claims] == [True] * len(claims)
    other = {
        claim.name: claim.verdict
        for claim in experiment.claims(made_up(experiment, [0.1, 1e-14, 0.8]))
    }
    assert other["identity, gd: complementary slackness"] == "fails"
    assert other["identity, adam: complementary slackness"] == "fails"
    assert other["symmetric, gd: exact slackness"] == "holds"
    assert other["identity, gd: extrapolates"] == "holds"
    assert other["identity, adam: extrapolates"] == "fails"
    np.testing.assert_allclose(experiment.decay_exponents(data), -0.5, atol=0.01)


def test_how_large_a_transition_must_stay_follows_the_width():
    wide = Fig3(width=100)
    found = {claim.name: claim for claim in wide.claims(made_up(wide, [1e-14, 0.02, 0.8]))}
    assert found["identity, gd: A is far from zero"].bound == 5
    assert found["identity, gd: A is far from zero"].verdict == "fails"


def test_runs_that_did_not_train_are_left_out():
    experiment = Fig3()
    data = made_up(experiment, [1e-14, 0.02, 0.8])
    data["final_loss"][..., :4] = 0.1
    assert {claim.samples for claim in experiment.claims(data)} == {6}


def test_a_horizon_within_the_length_is_refused():
    with pytest.raises(UsageError, match="horizon"):
        Fig3(length=10, horizon=10)


def test_the_same_seed_is_the_same_start():
    first, second = (np.asarray(Fig3(width=5).student("literal", 2).B) for _ in range(2))
    np.testing.assert_array_equal(first, second)
