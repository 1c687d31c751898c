"""Empirical losses against sums by hand, expectations and the population loss."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Averaged, Lanes, Stop, descend
from tacit.models import LSTM, Dense, LinearRNN
from tacit.problems import (
    EmpiricalLoss,
    FiniteResponse,
    PopulationLoss,
    ResponseLoss,
    SampledLoss,
    lying_teacher,
    outputs,
    response,
    step_weights,
)

KEY = jax.random.key(0)


def linear(width=3, *, inputs=1, outputs=1, seed=0, dtype=np.float64):
    key = jax.random.key(seed)
    return LinearRNN.random(
        Dense, width, inputs=inputs, outputs=outputs, scale=0.4, dtype=dtype, key=key
    )


def test_outputs_of_a_linear_model_are_those_of_its_simulation():
    model = linear(inputs=2, outputs=3)
    x = np.random.default_rng(0).normal(size=(4, 7, 2))
    with jax.enable_x64(True):
        found = outputs(model, jnp.asarray(x))
    for one, y in zip(x, np.asarray(found), strict=True):
        np.testing.assert_allclose(y, np.asarray(model.simulate(one)), rtol=1e-10, atol=1e-13)


def test_the_loss_is_the_mean_squared_error_of_the_last_output():
    teacher, student = linear(outputs=2, seed=1), linear(outputs=2, seed=2)
    data = SampledLoss.last(teacher, 4, longest=6, sequences=5).sample(key=KEY)
    inputs = np.asarray(data.inputs)
    errors = [
        np.asarray(student.simulate(x[:4]))[-1] - np.asarray(teacher.simulate(x[:4]))[-1]
        for x in inputs
    ]
    by_hand = 2 * np.mean(np.square(errors))  # summed over the two outputs
    assert float(data.loss(student)) == pytest.approx(by_hand, rel=1e-10)
    squares = np.asarray(data.residuals(student)) ** 2
    assert float(data.loss(student)) == pytest.approx(squares.sum(), rel=1e-12)
    zeros = [np.asarray(teacher.simulate(x[:4]))[-1] for x in inputs]
    assert float(data.zero_loss()) == pytest.approx(2 * np.mean(np.square(zeros)), rel=1e-10)
    steps = np.asarray(data.error_by_step(student))
    assert steps[3] == pytest.approx(float(data.loss(student)), rel=1e-12)


def test_its_expectation_is_the_population_loss():
    teacher, student = linear(seed=1), linear(seed=2)
    sampled = SampledLoss.last(teacher, 4, longest=6)
    found = float(sampled.sample(key=KEY, sequences=200_000).loss(student))
    exact = float(PopulationLoss.of(teacher, 4).loss(student))
    assert found == pytest.approx(exact, rel=0.02)  # √(2/N) = 0.3%, six times that
    assert float(sampled.zero_loss(key=KEY, sequences=200_000)) == pytest.approx(
        float(PopulationLoss.of(teacher, 4).zero_loss()), rel=0.02
    )


def test_what_comes_after_the_last_output_has_no_effect():
    teacher, student = linear(seed=1), linear(seed=2)
    data = SampledLoss.last(teacher, 3, longest=5, sequences=4).sample(key=KEY)
    with jax.enable_x64(True):
        other = eqx.tree_at(
            lambda d: (d.inputs, d.targets),
            data,
            (data.inputs.at[:, 3:].set(7.0), data.targets.at[:, 3:].set(jnp.inf)),
        )
    assert float(other.loss(student)) == float(data.loss(student))
    with jax.enable_x64(True):
        gradient = jax.grad(other.loss)(student)
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(gradient))


def test_fresh_data_differ_by_key_and_not_otherwise():
    problem = SampledLoss.last(linear(seed=1), 4)
    student = linear(seed=2)
    first, again = (float(problem.loss(student, key=KEY)) for _ in range(2))
    assert first == again
    assert first != float(problem.loss(student, key=jax.random.key(1)))


def test_random_labels_begin_where_they_are_asked_to():
    data = SampledLoss.last(linear(), 4, longest=6, sequences=5).sample(key=KEY)
    noisy = data.with_random_labels(after=3, key=KEY)
    same = np.asarray(noisy.targets == data.targets).all(axis=(0, 2))
    np.testing.assert_array_equal(same, [True, True, True, False, False, False])


def test_a_lying_teacher_is_the_teacher_on_short_sequences():
    teacher = linear(seed=1)
    liar = lying_teacher(teacher, 3, [5.0, -5.0])
    x = np.random.default_rng(0).normal(size=(6, 1))
    true, lied = np.asarray(teacher.simulate(x)), np.asarray(liar.simulate(x))
    np.testing.assert_allclose(lied[:3], true[:3], rtol=1e-10)
    assert np.abs(lied[3:] - true[3:]).min() > 0.1
    np.testing.assert_array_equal(np.asarray(liar.impulse_response(7))[3:, 0, 0], [5, -5, 0, 0])
    np.testing.assert_array_equal(np.asarray(liar.impulse_response(4))[3:, 0, 0], [5])


@pytest.mark.parametrize("kind", ["linear", "LSTM"])  # GRUs learn in lowdim/fig2a
def test_students_of_all_kinds_learn_at_several_lengths_in_one_program(kind):
    teacher = FiniteResponse(np.asarray([1.0, 0.5], np.float32))
    make = {
        "linear": lambda key: LinearRNN.random(Dense, 6, scale=0.3, dtype=np.float32, key=key),
        "LSTM": lambda key: LSTM.random(6, scale=0.3, dtype=np.float32, key=key),
    }[kind]
    students = Lanes.stack([make(jax.random.key(seed)) for seed in (0, 1)])
    problems = Lanes.stack(
        [SampledLoss.last(teacher, k, longest=3, sequences=32, dtype=np.float32) for k in (1, 3)]
    )
    result = descend(
        students,
        problems,
        Averaged(optax.adam(1e-2), steps=20),
        stop=Stop(300, loss=1e-3),
        key=KEY,
        progress=False,
    )
    zero = [float(problem.zero_loss(key=KEY)) for problem in problems]
    assert (result.loss < 0.3 * np.asarray(zero)).all()
    assert result.model.tree.__class__ is students.tree.__class__


def test_a_moving_average_is_what_the_loop_sees():
    """A loss that does not depend on the model: the average is known by hand."""

    class Clocked(eqx.Module):
        stochastic = True
        values: jax.Array

        def loss(self, model, *, key):
            return model["x"] * 0 + jax.random.normal(key, ())

    seen = []
    for steps in (1, 4):
        result = descend(
            {"x": jnp.ones(())},
            Clocked(jnp.zeros(1)),
            Averaged(optax.sgd(0.0), steps=steps),
            stop=Stop(5),
            key=KEY,
            progress=False,
        )
        seen.append(float(result.loss))
    lane = jax.random.fold_in(KEY, 0)
    draws = np.array([float(jax.random.normal(jax.random.fold_in(lane, t), ())) for t in range(6)])
    decay = 0.75 ** np.arange(6)[::-1]
    assert seen[0] == pytest.approx(draws[-1], rel=1e-5)
    assert seen[1] == pytest.approx(np.sum(decay * draws) / decay.sum(), rel=1e-5)
    with pytest.raises(ValueError, match="steps"):
        Averaged(optax.sgd(1.0), steps=0)


def test_following_a_response():
    model = linear(seed=1)
    target = np.asarray(model.impulse_response(5))[:, :, 0]
    with jax.enable_x64(True):
        problem = ResponseLoss(jnp.asarray(target))
    assert float(problem.loss(model)) == pytest.approx(0, abs=1e-20)
    assert float(problem.zero_loss()) == pytest.approx(np.mean(target**2))
    np.testing.assert_allclose(np.asarray(response(model, 5)), target, rtol=1e-12)


def test_weights_count_the_steps_that_are_asked_for():
    np.testing.assert_array_equal(step_weights(3, longest=5), [0, 0, 1, 0, 0])
    np.testing.assert_array_equal(step_weights(2, until=4, longest=5), [0, 1, 1, 1, 0])
    for bad in ((0, None, None), (3, 2, None), (3, 4, 3)):
        with pytest.raises(ValueError, match="longest"):
            step_weights(bad[0], until=bad[1], longest=bad[2])


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="sequences"):
        SampledLoss.last(linear(), 3, sequences=0)
    with pytest.raises(ValueError, match="simulate"):
        outputs(object(), jnp.ones((1, 2, 1)))
    with pytest.raises(ValueError, match="response"):
        FiniteResponse(np.ones((2, 2)))
    with pytest.raises(ValueError, match="inputs"):
        FiniteResponse([1.0]).simulate(np.ones((3, 2)))
    with pytest.raises(ValueError, match="wrong"):
        lying_teacher(linear(), 2, np.ones((1, 2, 1)))
    with pytest.raises(ValueError, match="length"):
        lying_teacher(linear(), 0, [1.0])


def test_data_have_the_precision_that_is_asked_for():
    for dtype in (np.float32, np.float64):
        data = SampledLoss.last(linear(dtype=dtype), 3, dtype=dtype).sample(key=KEY)
        assert isinstance(data, EmpiricalLoss)
        assert {leaf.dtype for leaf in jax.tree.leaves(data)} == {np.dtype(dtype)}
