"""The kernel paper's models: their maps, and training through the impulse response."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Stop, descend
from tacit.models import ScaledConv, ScaledLinearRNN
from tacit.problems import SequenceBatches, SequenceLoss
from tacit.theory.kernel import lag_weights, learning_curve


def student(width=12, inputs=1, outputs=1, seed=0, **options):
    return ScaledLinearRNN.random(
        width, inputs=inputs, outputs=outputs, nu_w=0.5, key=jax.random.key(seed), **options
    )


def sequences(count, time, inputs, outputs, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, time, inputs)), rng.normal(size=(count, time, outputs))


def through_time(model, x, y):
    """½ Σ (ŷ − y)² by the recursion (1) itself, every sequence step by step."""
    W, F, C = model
    root = np.sqrt(W.shape[0])

    def outputs(one):
        def step(h, x_t):
            h = W @ h / root + F @ x_t
            return h, C @ h / root

        return jax.lax.scan(step, jnp.zeros(W.shape[0]), one)[1]

    return jnp.sum((jax.vmap(outputs)(x) - y) ** 2) / 2


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 2)])
def test_gradients_are_those_of_back_propagation_through_time(inputs, outputs):
    model, (x, y) = student(12, inputs, outputs), sequences(7, 6, inputs, outputs)
    problem = SequenceLoss.of(x, y)
    with jax.enable_x64(True):
        loss, ours = jax.jit(jax.value_and_grad(problem.loss))(model)
        backwards = jax.jit(jax.value_and_grad(through_time))
        whole, theirs = backwards((model.W, model.F, model.C), x, y)
        np.testing.assert_allclose(loss, whole, rtol=1e-12)
        for mine, other in zip((ours.W, ours.F, ours.C), theirs, strict=True):
            scale = float(jnp.abs(other).max())
            np.testing.assert_allclose(mine, other, atol=1e-11 * scale)
    # The update of W has the rank of the shorter chain of states.
    rank = np.linalg.matrix_rank(np.asarray(ours.W), tol=1e-9)
    assert rank <= 5 * min(inputs, outputs)


def test_training_is_training_through_time():
    model, (x, y) = student(20), sequences(10, 5, 1, 1)
    rate, steps = 1e-3, 40
    result = descend(model, SequenceLoss.of(x, y), optax.sgd(rate), stop=Stop(steps))
    with jax.enable_x64(True):
        parameters = (model.W, model.F, model.C)
        gradient = jax.jit(jax.grad(through_time))
        for _ in range(steps):
            parts = zip(parameters, gradient(parameters, x, y), strict=True)
            parameters = tuple(p - rate * g for p, g in parts)
    np.testing.assert_allclose(np.asarray(result.model.W), parameters[0], atol=1e-12)
    np.testing.assert_allclose(np.asarray(result.model.C), parameters[2], atol=1e-12)


def test_a_scaled_convolution_descends_along_its_closed_form():
    x, y = sequences(8, 6, 2, 1)
    rho = lag_weights(6, nu_w=0.4)
    start = np.random.default_rng(2).normal(size=(6, 1, 2))
    model = ScaledConv.from_impulse_response(start, rho)
    np.testing.assert_allclose(np.asarray(model.impulse_response()), start, atol=1e-14)
    result = descend(model, SequenceLoss.of(x, y), optax.sgd(2e-3), stop=Stop(50))
    curve = learning_curve(rho, x, y, rate=2e-3, steps=50, start=start)
    ours = np.asarray(result.model.impulse_response())
    np.testing.assert_allclose(ours, curve.response[0], atol=1e-12)
    assert result.model.rho == tuple(rho)  # no parameter


@pytest.mark.parametrize(("length", "outputs", "inputs"), [(4, 1, 1), (3, 2, 3), (3, 3, 2)])
def test_any_coefficients_are_those_of_an_rnn(length, outputs, inputs):
    """Proposition 2.1(b), and its converse (a): the same map as the convolution."""
    target = np.random.default_rng(0).normal(size=(length, outputs, inputs))
    model = ScaledLinearRNN.from_impulse_response(target)
    assert model.width == length * min(inputs, outputs)
    response = np.asarray(model.impulse_response(length + 2))
    np.testing.assert_allclose(response[:length], target, atol=1e-12)
    np.testing.assert_allclose(response[length:], 0, atol=1e-12)


def test_simulation_is_convolution_with_the_response():
    model, (x, _) = student(9, 2, 3), sequences(1, 7, 2, 3)
    conv = ScaledConv(np.asarray(model.impulse_response(7)), np.ones(7))
    W, F, C = (np.asarray(part) for part in (model.W, model.F, model.C))
    ours, state = np.asarray(model.simulate(x[0])), np.zeros(9)
    for t in range(7):
        state = W @ state / 3 + F @ x[0, t]
        np.testing.assert_allclose(ours[t], C @ state / 3, atol=1e-13)
    np.testing.assert_allclose(np.asarray(conv.simulate(x[0])), ours, atol=1e-13)
    padded = np.asarray(conv.impulse_response(9))
    assert padded.shape == (9, 3, 2)
    assert (padded[7:] == 0).all()


def test_variances_of_the_start_and_of_the_response():
    """Theorem 3.3(a): the lags are independent N(0, ν_C ν_F ν_W^j) at large width."""
    model = ScaledLinearRNN.random(
        400, inputs=40, outputs=40, nu_w=0.5, nu_f=2.0, nu_c=3.0, key=jax.random.key(0)
    )
    for part, nu in ((model.W, 0.5), (model.F, 2.0), (model.C, 3.0)):
        np.testing.assert_allclose(np.asarray(part).var(), nu, rtol=0.05)
    response = np.asarray(model.impulse_response(4))
    variances = 6.0 * 0.5 ** np.arange(4)
    np.testing.assert_allclose(response.var(axis=(1, 2)), variances, rtol=0.15)
    correlations = np.corrcoef(response.reshape(4, -1)) - np.eye(4)
    assert np.abs(correlations).max() < 4 / 40


def test_batches_hold_all_sequences_in_the_mean():
    model, (x, y) = student(6, 2, 3), sequences(9, 4, 2, 3)
    batches = SequenceBatches.of(x, y, size=3)
    whole = SequenceLoss.of(x, y)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 300)
        drawn = [float(loss) for loss in map(jax.jit(lambda k: batches.loss(model, key=k)), keys)]
        np.testing.assert_allclose(np.mean(drawn), float(whole.loss(model)) / 3, rtol=0.1)
        assert len(set(drawn)) > 40  # of the 84 batches that there are
        everything = SequenceBatches.of(x, y, size=100)
        np.testing.assert_allclose(
            float(everything.loss(model, key=keys[0])), float(whole.loss(model)), rtol=1e-12
        )


def test_a_batch_holds_no_sequence_twice():
    """Sequence i has the loss 2^i, so that the bits of a batch's loss say what it holds."""

    class Silent:
        def impulse_response(self, length):
            return jnp.zeros((length, 1, 1))

    y = np.sqrt(2.0 ** np.arange(1, 9)).reshape(8, 1, 1)
    batches = SequenceBatches.of(np.ones((8, 1, 1)), y, size=6)
    with jax.enable_x64(True):
        for seed in range(4):
            held = round(float(batches.loss(Silent(), key=jax.random.key(seed))))
            assert held.bit_count() == 6
            assert held < 2**8


def test_float32_stays_float32():
    model = student(5, dtype=np.float32)
    x, y = (part.astype(np.float32) for part in sequences(3, 4, 1, 1))
    assert SequenceLoss.of(x, y).loss(model).dtype == np.float32
    assert student(5).as_linear_rnn().C.dtype == np.float64


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ScaledLinearRNN(np.eye(3), np.ones((2, 1)), np.ones((1, 3))), r"must be \(n, n\)"),
        (
            lambda: ScaledLinearRNN(np.eye(3), np.ones((3, 1), np.float32), np.ones((1, 3))),
            "one dtype",
        ),
        (lambda: student(0), "width: received .*must be a positive"),
        (
            lambda: ScaledLinearRNN.random(3, nu_w=-1.0, key=jax.random.key(0)),
            "nu_w: received .*a variance is",
        ),
        (lambda: ScaledConv(np.ones((3, 1, 1)), np.ones(2)), "one number for each of the 3 lags"),
        (lambda: ScaledConv(np.ones((3, 1, 1)), np.zeros(3)), "positive and finite"),
        (lambda: ScaledConv(np.ones((3, 1, 1)), np.ones(3)).simulate(np.ones((4, 2))), "columns"),
        (
            lambda: SequenceLoss.of(np.ones((2, 3)), np.ones((2, 3, 1))),
            "x: received .*must be floating",
        ),
        (lambda: SequenceLoss.of(np.ones((2, 3, 1)), np.ones((2, 4, 1))), "as many sequences"),
        (lambda: SequenceLoss.white(np.ones(3)), "response: received .*must be floating"),
        (
            lambda: SequenceBatches.of(np.ones((2, 3, 1)), np.ones((2, 3, 1)), size=0),
            "size: received 0, it must",
        ),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()
