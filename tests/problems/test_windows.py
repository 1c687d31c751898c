"""Known answers, windows of a record and the loss of a stack on windows."""

import jax
import numpy as np
import pytest

from tacit.models import LRURing, SSMStack
from tacit.problems import (
    RatedWindows,
    cut_record,
    delayed_copy,
    induction,
    leaky_average,
)

RNG = np.random.default_rng(0)
U = RNG.normal(size=(2, 40, 1))


def test_a_copy_and_an_average_are_what_they_are_said_to_be():
    np.testing.assert_array_equal(delayed_copy(U, 5)[:, 5:], U[:, :-5, 0])
    np.testing.assert_array_equal(delayed_copy(U, 5)[:, :5], 0)
    np.testing.assert_array_equal(delayed_copy(U, 50), 0)
    weights = np.sqrt(1 - 0.97**2) * 0.97 ** np.arange(40)
    expected = np.tanh([np.convolve(row[:, 0], weights)[:40] for row in U])
    np.testing.assert_allclose(leaky_average(U, 0.97), expected, atol=1e-12)


def test_an_induction_says_what_followed_the_mark_a_lag_ago():
    values = np.arange(1.0, 9.0)
    marks = np.array([0, 1, 0, 0, 1, 0, 0, 1])
    found = induction(np.stack([values, marks], axis=1)[None], 3)
    # marks at 4 and 7 have one three steps before, at 1 and 4; what followed were 3 and 6
    np.testing.assert_array_equal(found, [[0, 0, 0, 0, 3, 0, 0, 6]])


def test_an_induction_at_the_smallest_lag_is_the_present_value():
    x = np.stack([np.arange(1.0, 5.0), np.ones(4)], axis=1)[None]
    np.testing.assert_array_equal(induction(x, 1), [[0, 2, 3, 4]])


def record(time=200):
    inputs = 3 + np.arange(time, dtype=float)[:, None]  # a place in the record is its input
    return inputs, -2 * inputs[:, 0]


def cut(seed=0, **given):
    options = {"window": 5, "windows": 30, "horizon": 20, "tests": 4, **given}
    return cut_record(*record(), rng=np.random.default_rng(seed), **options)


def test_windows_and_tests_share_no_sample():
    for seed in range(5):
        made = cut(seed)
        assert made.inputs.shape == (30, 5, 1)
        assert made.test_inputs.shape == (4, 20, 1)
        trained = np.concatenate([u[:, 0] for u, _ in made.pieces])
        assert len(trained) == 150
        assert np.isin(made.inputs, trained).all()
        assert not np.isin(made.test_inputs, trained).any()


def test_windows_are_stretches_of_the_record_and_inputs_go_with_outputs():
    made = cut()
    steps = np.diff(made.inputs[..., 0], axis=1)
    np.testing.assert_allclose(steps, steps[0, 0], rtol=1e-9)
    np.testing.assert_allclose(made.outputs, -made.inputs[..., 0], atol=1e-12)
    np.testing.assert_allclose(made.test_outputs, -made.test_inputs[..., 0], atol=1e-12)


def test_what_is_trained_on_has_mean_zero_and_variance_one():
    for parts in zip(*cut().pieces, strict=True):
        whole = np.concatenate(parts)
        np.testing.assert_allclose([whole.mean(), whole.std()], [0, 1], atol=1e-12)


def stack(**given):
    start = LRURing(0.4, 0.9)
    return SSMStack.random(start, 1, features=3, modes=4, key=jax.random.key(0), **given)


def test_the_loss_is_the_mean_squared_error_of_what_is_predicted():
    y = RNG.normal(size=(2, 40))
    problem = RatedWindows.of(stack(), U, y, rate=0.1)
    expected = np.mean((np.asarray(problem.predicted(problem.start, U)) - y) ** 2)
    with jax.enable_x64(True):
        np.testing.assert_allclose(problem.loss(problem.start), expected, rtol=1e-12)
    one = np.asarray(problem.start.simulate(U[1]))[:, 0]
    np.testing.assert_allclose(problem.predicted(problem.start, U)[1], one, rtol=1e-10)


def test_spectra_move_at_their_rate_and_the_rest_at_one():
    problem = RatedWindows.of(stack(), U, U[..., 0], rate=0.25)
    with jax.enable_x64(True):
        moved = jax.tree.map(lambda leaf: leaf + 1.0, problem.start)
        found = problem.model(moved)
    was, now = problem.start.blocks[0], found.blocks[0]
    shift = np.asarray(now.ssm.spectrum.phase - was.ssm.spectrum.phase)
    np.testing.assert_allclose(shift, 0.25, rtol=1e-12)
    np.testing.assert_allclose(now.ssm.C - was.ssm.C, 1.0, rtol=1e-12)


def test_the_loss_is_in_the_dtype_of_the_stack():
    problem = RatedWindows.of(stack(dtype=np.float32), U, U[..., 0])
    assert problem.inputs.dtype == problem.loss(problem.start).dtype == np.float32


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: delayed_copy(np.ones((1, 4, 2)), 1), r"x: .*must be \(sequences, time, 1\)"),
        (lambda: induction(U, 2), r"x: .*must be \(sequences, time, 2\)"),
        (lambda: induction(np.full((1, 4, 2), 0.5), 2), "x: received marks other than 0 and 1"),
        (lambda: leaky_average(U, 1.0), "decay: received 1.0"),
        (lambda: cut(horizon=195), "horizon: received 195, which leaves 5 of 200"),
        (lambda: cut_record(np.ones((50, 1)), np.ones(50), window=2, windows=2, horizon=4, tests=1,
                            rng=np.random.default_rng(0)), "inputs: received a constant"),
        (lambda: cut_record(np.ones((50, 1)), np.ones(40), window=2, windows=2, horizon=4, tests=1,
                            rng=np.random.default_rng(0)), "outputs: received 40 samples"),
        (lambda: RatedWindows.of(stack(), U, np.ones((2, 39))), "outputs: received the shape"),
    ],
)  # fmt: skip
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()
