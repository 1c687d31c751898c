"""The rate network's adjoint against automatic differentiation of a plain loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import BY_MAPS, BY_VECTORS, RateRNN, identity
from tacit.problems import FlipFlop, Mante, Simple, Task, TaskLoss


def plain_outputs(W, W_in, W_out, inputs, dt, phi):
    """The definition as a plain loop over steps, for autodiff to differentiate."""

    def step(x, u):
        x = (1 - dt) * x + dt * (phi(x) @ W.T + u @ W_in.T)
        return x, phi(x) @ W_out.T

    start = jnp.zeros((inputs.shape[0], W.shape[0]), W.dtype)
    return jnp.swapaxes(jax.lax.scan(step, start, jnp.swapaxes(inputs, 0, 1))[1], 0, 1)


def relative(a, b) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)) / np.linalg.norm(np.asarray(b)))


@pytest.mark.parametrize(
    ("task", "phi"),
    [
        (FlipFlop(duration=25.0), jnp.tanh),
        (Mante(dt=1.0, stimulus=8.0, response=8.0), jax.nn.softplus),
    ],
)
def test_loss_and_gradients_are_those_of_autodiff(task: Task, phi):
    key = jax.random.key(0)
    model = RateRNN.random(
        40,
        inputs=task.inputs,
        outputs=task.outputs,
        g=0.9,
        dt=task.dt,
        nonlinearity=phi,
        key=key,
    )
    trials = task.sample(jax.random.key(1), 6)

    def by_hand(model):
        return trials.loss(model.run(trials.inputs))

    @jax.jit
    def by_autodiff(W, W_in, W_out):
        return jax.value_and_grad(
            lambda *maps: trials.loss(plain_outputs(*maps, trials.inputs, task.dt, phi)),
            argnums=(0, 1, 2),
        )(W, W_in, W_out)

    loss, gradient = jax.jit(jax.value_and_grad(by_hand))(model)
    maps = model.W, model.inputs, model.outputs
    expected, parts = by_autodiff(*maps)
    assert loss.dtype == jnp.float32
    assert relative(loss, expected) < 1e-5
    for found, part in zip((gradient.W, gradient.inputs, gradient.outputs), parts, strict=True):
        assert relative(found, part) < 1e-5


@pytest.mark.parametrize(
    ("phi", "inputs", "outputs"),
    [
        (jnp.tanh, 1, 2),
        (jnp.tanh, 9, 3),
        (jnp.tanh, 2, 11),
        (jax.nn.softplus, 9, 3),
        (identity, 2, 11),
    ],
)
def test_few_and_many_channels_have_the_derivatives_of_autodiff(inputs, outputs, phi):
    """By W, the maps and the inputs, of outputs and of rates; channels in the loop or beside it."""
    model = RateRNN.random(
        12, inputs=inputs, outputs=outputs, g=0.7, nonlinearity=phi, key=jax.random.key(0)
    )
    drive, seen = (
        np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        for seed, shape in enumerate([(4, 7, inputs), (4, 7, max(outputs, 12))])
    )

    def by_hand(model, drive):
        outs, rates = model.run(drive), model.rates(drive)
        return jnp.sum(outs * seen[..., :outputs]) + jnp.sum(rates**2 * seen[..., :12])

    def plain(maps, drive):
        outs, rates = (
            plain_outputs(maps[0], maps[1], out, drive, model.dt, phi)
            for out in (maps[2], jnp.eye(12))
        )
        return jnp.sum(outs * seen[..., :outputs]) + jnp.sum(rates**2 * seen[..., :12])

    found = jax.jit(jax.grad(by_hand, argnums=(0, 1)))(model, drive)
    maps = model.W, model.inputs, model.outputs
    expected = jax.jit(jax.grad(plain, argnums=(0, 1)))(maps, drive)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert relative(one, other) < 1e-5


def test_parametrisations_are_one_network_with_other_gradients():
    key, scale = jax.random.key(3), np.sqrt(30)
    models = [
        RateRNN.random(30, inputs=2, outputs=2, g=0.5, parametrisation=kind, key=key)
        for kind in (BY_MAPS, BY_VECTORS)
    ]
    trials = FlipFlop(duration=15.0).sample(jax.random.key(4), 3)
    outputs = [model.run(trials.inputs) for model in models]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(models[0].inputs, axis=0), scale, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(models[1].outputs, axis=1), 1, rtol=1e-5)
    slope = jax.jit(jax.grad(lambda m: trials.loss(m.run(trials.inputs))))
    maps, vectors = (slope(model) for model in models)
    np.testing.assert_allclose(vectors.inputs, maps.inputs * scale, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(vectors.outputs, maps.outputs / scale, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(vectors.W, maps.W, rtol=1e-3, atol=1e-6)


def test_one_trial_is_a_batch_of_one_and_initial_statistics_are_the_papers():
    model = RateRNN.random(200, g=0.8, key=jax.random.key(5))
    inputs = np.random.default_rng(0).normal(size=(7, 1)).astype(np.float32)
    np.testing.assert_allclose(model(inputs), model.run(inputs[None])[0], rtol=1e-6)
    assert np.std(np.asarray(model.W)) * np.sqrt(200) == pytest.approx(0.8, rel=0.02)
    assert model.rates(inputs[None]).shape == (1, 7, 200)


def test_linear_network_ends_at_its_fixed_point_with_the_gradient_of_the_flow():
    """The Simple task by simulation in time against z = wᵀ(I − W)⁻¹m and dL/dW of (6)."""
    size, target = 30, 2.0
    with jax.enable_x64(True):
        model = RateRNN.random(
            size, g=0.5, nonlinearity=identity, dtype=np.float64, key=jax.random.key(6)
        )
        problem = TaskLoss(Simple(target=target), batch=1, train_maps=False)
        run = jax.jit(lambda model, key: problem.loss_and_gradient(model, key=key))
        loss, gradient = run(model, jax.random.key(0))
        W = np.asarray(model.W)
        m, w = np.asarray(model.inputs[:, 0]), np.asarray(model.outputs[0])
        by_W, by_maps = np.asarray(gradient.W), np.asarray(gradient.inputs)
    x, y = np.linalg.solve(np.eye(size) - W, m), np.linalg.solve((np.eye(size) - W).T, w)
    error = target - w @ x
    np.testing.assert_allclose(float(loss), error**2 / 2, rtol=1e-10)
    np.testing.assert_allclose(by_W, -error * np.outer(y, x), atol=1e-10)
    assert not by_maps.any()


def test_lanes_one_by_one_have_the_gradients_of_lanes_together():
    keys = jax.random.split(jax.random.key(7), 3)
    models = jax.jit(jax.vmap(lambda k: RateRNN.random(8, inputs=2, outputs=2, g=0.5, key=k)))(keys)

    def lanes(one_by_one):
        problem = TaskLoss(FlipFlop(duration=10.0), batch=2, one_by_one=one_by_one)
        return jax.jit(jax.vmap(lambda m, k: problem.loss_and_gradient(m, key=k)))(models, keys)

    (losses, gradients), (expected, slopes) = lanes(True), lanes(False)
    assert len(set(np.asarray(losses).tolist())) == 3
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(gradients.W, slopes.W, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dt": 1.5}, r"dt: received .*must lie in \(0, 1\]"),
        ({"inputs": np.zeros((3, 1))}, r"must be \(units, units\)"),
        ({"inputs": np.zeros((2, 1), np.float32)}, "must have one dtype"),
        ({"outputs": np.zeros(2)}, "must have the axes"),
    ],
)
def test_bad_input(change, words):
    good = {"W": np.zeros((2, 2)), "inputs": np.zeros((2, 1)), "outputs": np.zeros((1, 2))}
    with pytest.raises(ValueError, match=words):
        RateRNN(**{**good, **change})


def test_bad_number_of_channels():
    model = RateRNN.random(4, g=0.5, key=jax.random.key(0))
    with pytest.raises(ValueError, match="1 input channels"):
        model.run(np.zeros((2, 5, 3)))
