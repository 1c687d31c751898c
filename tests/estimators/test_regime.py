"""`tacit.regime` on models whose regime is known by construction."""

import jax
import numpy as np
import pytest

import tacit
from tacit.models import Diagonal, DiagonalSSM, LinearRNN, LRURing, ScaledLinearRNN, SSMStack
from tacit.problems import CentredResponse, PopulationLoss, lazy_prediction, mode_response
from tacit.theory.regimes import kappa, lazy_fit, rated_kernel, ssm_kernel_parts

TEACHER = LinearRNN(Diagonal([0.9, 0.5, -0.6]), np.ones((3, 1)), np.ones((1, 3)))
PROBLEM = PopulationLoss.of(TEACHER, 6, longest=18)
ONLY_C = {"A": 0.0, "B": 0.0, "C": 1.0}


def layer(modes=8, scale=1.0, seed=0):
    return DiagonalSSM.random(LRURing(0.4, 0.99), modes, scale=scale, key=jax.random.key(seed))


def with_C_fitted(model, length=6):
    """The model after C alone is trained to the end: least squares of the least move."""
    lags = np.arange(length)[:, None]
    x = np.asarray(model.eigenvalues()) ** lags * np.asarray(model.input_map)[:, 0]
    features = np.concatenate([x.real, -x.imag], axis=1)
    gap = np.asarray(PROBLEM.target)[:length, 0, 0] - features @ np.asarray(model.C).ravel()
    C = np.asarray(model.C) + (np.linalg.pinv(features) @ gap).reshape(model.C.shape)
    return DiagonalSSM(model.spectrum, model.B, C)


def test_a_model_linear_in_what_it_trains_is_in_the_kernel_corner():
    """Only C moves: the kernel cannot change, and the prediction is what training gives."""
    start = layer()
    before = tacit.regime(start, PROBLEM, rates=ONLY_C)
    assert before.corner == "kernel"
    assert before.change == pytest.approx(0, abs=1e-12)
    end = with_C_fitted(start)
    after = tacit.regime(end, PROBLEM, rates=ONLY_C, start=start)
    assert after.corner == "kernel"
    assert after.rotation == pytest.approx(0, abs=1e-12)
    assert after.train_error < 1e-10
    assert after.kappa < 1e-8 < after.kappa_start
    assert after.kappa_start == pytest.approx(before.kappa)
    gap = (np.asarray(end.impulse_response(18)) - np.asarray(PROBLEM.target))[6:]
    error = np.linalg.norm(gap) / np.linalg.norm(np.asarray(PROBLEM.target)[6:])
    assert before.beyond == pytest.approx(error, rel=1e-6)
    assert "do not expect extrapolation" in before.expect
    small = tacit.regime(layer(scale=1e-3), PROBLEM, rates={"A": 0.0, "B": 1.0, "C": 1.0})
    assert small.change > 0.1  # B and C turn the kernel, and yet no mode moves
    assert small.corner == "kernel"
    assert "continued" in after.expect


def test_a_problem_without_later_lags_has_no_error_there():
    plain = tacit.regime(layer(), PopulationLoss.of(TEACHER, 6))
    longer = tacit.regime(layer(), PROBLEM)
    assert np.isnan(plain.beyond)
    assert plain.change == pytest.approx(longer.change, rel=1e-6)
    assert "predicted error" not in plain.expect
    assert plain.corner == longer.corner


def test_an_answer_that_overflows_is_still_refused():
    with pytest.raises(ValueError, match="no finite answer"):
        tacit.regime(layer(scale=1e160), PopulationLoss.of(TEACHER, 6))


def test_a_large_start_is_lazy_and_a_small_fast_one_is_rich():
    """C ~ 100 with its response taken off is the kernel corner; C ~ 0.001, A fast, the rich one."""
    target = np.asarray(TEACHER.impulse_response(18))
    big = layer(scale=100.0)
    with jax.enable_x64(True):
        above = jax.numpy.asarray(target + np.asarray(big.impulse_response(18)))
        shifted = PopulationLoss(above, PROBLEM.mask)
    lazy = tacit.regime(big, shifted)
    assert (lazy.corner, lazy.rotation) == ("kernel", 0)
    rich = tacit.regime(layer(scale=1e-3), PROBLEM, rates={"A": 100.0, "B": 1.0, "C": 1.0})
    assert rich.corner == "rich"
    assert rich.change > 1
    assert "twice that order" in rich.expect
    assert rich.kappa_start > 10 * lazy.kappa_start


def test_between_the_corners_the_knobs_are_told():
    found = tacit.regime(layer(), PROBLEM, rates={"A": 1.0, "B": 1.0, "C": 1.0})
    assert found.corner == "between", found
    assert set(found.knobs) == {
        "C ten times smaller at the start",
        "the rate of A ten times larger",
        "half as many modes",
        "training lags half as many again",
    }
    assert found.knobs["the rate of A ten times larger"] > found.change
    assert found.expect in str(found)
    assert "between regime at k = 6" in str(found)


def test_linear_rnns_have_the_kappa_of_the_map():
    n, gamma0 = 300, 0.2
    model = ScaledLinearRNN.random(n, nu_w=0.5, key=jax.random.key(1))
    target = mode_response("modes", 12)
    start = np.asarray(model.impulse_response(12))[:, 0, 0]
    problem = CentredResponse.of(target, start, length=6, gamma=gamma0 * np.sqrt(n))
    found = tacit.regime(model, problem)
    expected = kappa(target, gamma0, length=6, nu_w=0.5)
    assert found.kappa_start == pytest.approx(expected, rel=0.15)
    assert found.train_error == pytest.approx(1)
    dense = tacit.regime(TEACHER, PROBLEM)
    assert dense.kappa < 1e-10
    assert dense.rank == 3


def test_the_prediction_is_that_of_the_closed_form():
    rates, model, T = {"A": 0.3, "B": 2.0, "C": 1.0}, layer(), np.asarray(PROBLEM.target)
    found = lazy_prediction(model, T, length=6, rates=rates)
    by_eigenvalue, by_factor = model.spectrum.slopes()
    B, C = np.asarray(model.B), np.asarray(model.C)
    parts = ssm_kernel_parts(
        model.eigenvalues(), B[0] + 1j * B[1], C[0] + 1j * C[1], 18,
        factor=model.spectrum.input_factor(), by_eigenvalue=by_eigenvalue, by_factor=by_factor,
    )  # fmt: skip
    kernel = rated_kernel(parts, rates)
    np.testing.assert_allclose(found.kernel[:6, :6], kernel[:6, :6], rtol=1e-10)
    before = np.asarray(model.impulse_response(18)).ravel()
    fit = lazy_fit(parts, rates, (T.ravel() - before)[:6])
    np.testing.assert_allclose(np.asarray(found.response).ravel(), before + fit.response, atol=1e-8)
    np.testing.assert_allclose(found.by_group[1], fit.moves["B"] / np.linalg.norm(B), rtol=1e-8)
    np.testing.assert_allclose(found.by_group[2], fit.moves["C"] / np.linalg.norm(C), rtol=1e-8)


STACK = SSMStack.random(LRURing(), 1, features=2, modes=2, key=jax.random.key(0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tacit.regime(STACK, PROBLEM), r"model: .*give one layer, stack.blocks\[0\].ssm"),
        (lambda: tacit.regime(layer(), TEACHER), "problem: received .*PopulationLoss or RatedResp"),
        (lambda: tacit.regime(layer(), PROBLEM, rates={"A": 1.0}), "rates: .*for each of A, B and"),
        (
            lambda: tacit.regime(layer(), PROBLEM, rates={"A": -1.0, "B": 1.0, "C": 1.0}),
            r"rates\['A'\]: received -1.0, it must not be negative",
        ),
        (
            lambda: tacit.regime(layer(), PROBLEM, rates=dict.fromkeys("ABC", 0.0)),
            "rates: .*nothing moves",
        ),
        (lambda: tacit.regime(layer(), PROBLEM, start=TEACHER), "start: .*must be a DiagonalSSM"),
        (lambda: tacit.regime(layer(8), PROBLEM, start=layer(4)), "start: .*those of model"),
        (lambda: lazy_prediction(layer(), np.ones(5), length=6), "length: received 6"),
        (lambda: lazy_prediction(layer(), np.ones((5, 2, 1)), length=2), "target: received the sh"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("scale", "corner"), [(1.0, "between"), (0.1, "rich")])
def test_the_corner_of_a_start_is_that_of_its_predicted_change(scale, corner):
    found = tacit.regime(layer(scale=scale), PROBLEM)
    assert found.corner == corner
    assert (0.1 < found.change < 1) == (corner == "between")
