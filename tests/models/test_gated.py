"""GRU and LSTM against PyTorch, against automatic differentiation, and against their own doors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import GRU, LSTM

KINDS = [GRU, LSTM]


def drawn(kind, *, width=5, inputs=2, outputs=3, dtype=np.float64, seed=0):
    """A model with every parameter away from zero, biases too."""
    model = kind.random(
        width, inputs=inputs, outputs=outputs, scale=0.6, dtype=dtype, key=jax.random.key(seed)
    )
    rng = np.random.default_rng(seed)
    with jax.enable_x64(np.dtype(dtype) == np.float64):
        return jax.tree.map(
            lambda leaf: jnp.asarray(
                np.asarray(leaf) + 0.3 * rng.normal(size=leaf.shape).astype(leaf.dtype)
            ),
            model,
        )


def white(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def in_words(model, inputs):
    """One sequence, gate by gate, as the docstrings have it: what autodiff differentiates."""
    W, U, b = model.input_weights, model.recurrent_weights, model.bias
    h = c = jnp.zeros(model.width, W.dtype)
    outputs = []
    for x in inputs:
        if isinstance(model, GRU):
            a, g = jnp.split(W @ x + b, 3), jnp.split(U @ h, 3)
            r, z = jax.nn.sigmoid(a[0] + g[0]), jax.nn.sigmoid(a[1] + g[1])
            n = jnp.tanh(a[2] + r * (g[2] + model.candidate_bias))
            h = (1 - z) * n + z * h
        else:
            i, f, g, o = jnp.split(W @ x + U @ h + b, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
        outputs.append(model.readout @ h)
    return jnp.stack(outputs)


# One input is multiplied inside the scan, more are before it.
@pytest.mark.parametrize(("kind", "inputs"), [(GRU, 1), (GRU, 3), (LSTM, 1)])
def test_hand_gradient_is_that_of_a_plain_loop(kind, inputs):
    model = drawn(kind, inputs=inputs)
    x, weight = white(2, 3, inputs), white(2, 3, 3, seed=2)

    def ours(model, x):
        return jnp.sum(weight * model.simulate_batch(x) ** 2)

    def plain(model, x):
        return jnp.sum(weight * jax.vmap(lambda one: in_words(model, one))(x) ** 2)

    with jax.enable_x64(True):
        found = jax.jit(jax.value_and_grad(ours, argnums=(0, 1)))(model, x)
        expected = jax.jit(jax.value_and_grad(plain, argnums=(0, 1)))(model, x)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_vmap_and_stacked_models_are_single_ones(kind):
    models = [drawn(kind, inputs=1, seed=seed) for seed in (0, 1)]
    x = white(3, 4, 1)

    def batch(model):
        return jnp.sum(model.simulate_batch(x) ** 2)

    def mapped(model):
        return jnp.sum(jax.vmap(model.simulate)(x) ** 2)

    with jax.enable_x64(True):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
        together = eqx.filter_jit(eqx.filter_vmap(jax.grad(batch)))(stacked)
        alone = [jax.jit(jax.grad(mapped))(model) for model in models]
    for lane in (0, 1):
        for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone[lane]), strict=True):
            np.testing.assert_allclose(np.asarray(a)[lane], np.asarray(b), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        np.asarray(models[0].simulate(x[1])),
        np.asarray(models[0].simulate_batch(x))[1],
        rtol=1e-12,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_gradients_are_those_of_pytorch(kind):
    dtype, rtol = ("float64", 1e-9) if kind is GRU else ("float32", 2e-4)
    torch = pytest.importorskip("torch")
    model = drawn(kind, inputs=2, dtype=dtype)
    x, weight = white(7, 4, 2).astype(dtype), white(7, 4, 3, seed=2).astype(dtype)
    peer = getattr(torch.nn, kind.__name__)(2, model.width, dtype=getattr(torch, dtype))
    readout = torch.tensor(np.asarray(model.readout), requires_grad=True)
    second = np.zeros(model.bias.shape, dtype)
    if kind is GRU:
        second[2 * model.width :] = np.asarray(model.candidate_bias)
    with torch.no_grad():
        peer.weight_ih_l0.copy_(torch.tensor(np.asarray(model.input_weights)))
        peer.weight_hh_l0.copy_(torch.tensor(np.asarray(model.recurrent_weights)))
        peer.bias_ih_l0.copy_(torch.tensor(np.asarray(model.bias)))
        peer.bias_hh_l0.copy_(torch.tensor(second))
    theirs = peer(torch.tensor(x))[0] @ readout.T
    (torch.tensor(weight) * theirs).sum().backward()

    def loss(model):
        ours = model.simulate_batch(x.swapaxes(0, 1)).swapaxes(0, 1)
        return jnp.sum(weight * ours), ours

    with jax.enable_x64(dtype == "float64"):
        gradient, ours = jax.jit(jax.grad(loss, has_aux=True))(model)
    pairs = [
        (ours, theirs.detach()),
        (gradient.input_weights, peer.weight_ih_l0.grad),
        (gradient.recurrent_weights, peer.weight_hh_l0.grad),
        (gradient.bias, peer.bias_ih_l0.grad),
        (gradient.readout, readout.grad),
    ]
    if kind is GRU:
        pairs.append((gradient.candidate_bias, peer.bias_hh_l0.grad[2 * model.width :]))
    for a, b in pairs:
        assert np.asarray(a).dtype == dtype
        scale = float(np.abs(np.asarray(b)).max())
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_random_weights_have_the_scale_and_biases_are_zero(kind):
    model = kind.random(60, scale=0.01, key=jax.random.key(3))
    assert np.asarray(model.recurrent_weights).std() == pytest.approx(0.01, rel=0.05)
    assert not np.asarray(model.bias).any()
    assert model.width == 60
    assert model.simulate(np.zeros((4, 1))).shape == (4, 1)
    assert not np.asarray(model.simulate(np.zeros((4, 1)))).any()  # zero input, zero state


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"recurrent_weights": np.ones((7, 2))}, "rows"),
        ({"input_weights": np.ones((7, 1))}, "input_weights"),
        ({"bias": np.ones(7)}, "bias"),
        ({"readout": np.ones((1, 3))}, "readout"),
        ({"readout": np.ones((1, 2), np.float32)}, "dtype"),
        ({"bias": np.full(24, np.nan)}, "finite"),
    ],
)
def test_bad_parameters_are_refused_by_name(kind, wrong, words):
    gates = 3 if kind is GRU else 4
    good = {
        "input_weights": np.ones((2 * gates, 1)),
        "recurrent_weights": np.ones((2 * gates, 2)),
        "bias": np.zeros(2 * gates),
        "readout": np.ones((1, 2)),
        **({"candidate_bias": np.zeros(2)} if kind is GRU else {}),
    }
    kind(**good)
    with pytest.raises(ValueError, match=words):
        kind(**(good | wrong))


def test_the_candidate_bias_is_checked():
    good = GRU.random(2, scale=1.0, key=jax.random.key(0))
    rest = good.input_weights, good.recurrent_weights, good.bias
    with pytest.raises(ValueError, match="candidate_bias"):
        GRU(*rest, np.zeros(3), good.readout)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_inputs_are_refused(kind):
    model = kind.random(2, inputs=2, scale=1.0, key=jax.random.key(0))
    with pytest.raises(ValueError, match="columns"):
        model.simulate(np.ones((4, 1)))
    with pytest.raises(ValueError, match="axes"):
        model.simulate(np.ones(4))
    with pytest.raises(ValueError, match="sequences"):
        model.simulate_batch(np.ones((4, 2)))
    with pytest.raises(ValueError, match="width"):
        kind.random(0, scale=1.0, key=jax.random.key(0))


@pytest.mark.parametrize("kind", KINDS)
def test_an_accelerators_sums_are_those_of_a_cpu(kind, monkeypatch):
    """The branch that a CPU does not take, taken on it."""
    model, x = drawn(kind, inputs=2), white(2, 3, 2)

    def loss(model):
        return jnp.sum(model.simulate_batch(x) ** 2)

    with jax.enable_x64(True):
        here = jax.jit(jax.grad(loss))(model)
        monkeypatch.setattr(
            jax.lax, "platform_dependent", lambda *args, cpu, default: default(*args)
        )
        jax.clear_caches()  # the backward pass is traced anew
        there = jax.jit(jax.grad(lambda model: loss(model)))(model)
    for a, b in zip(jax.tree.leaves(here), jax.tree.leaves(there), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-10, atol=1e-12)
    jax.clear_caches()
