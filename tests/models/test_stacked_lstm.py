"""Stacked LSTM layers against PyTorch, against a plain loop, and against their own doors."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.models import StackedLSTM

LENGTHS = np.array([3, 1, 2])


def drawn(*, width=5, layers=2, inputs=3, outputs=2, dtype=np.float64, seed=0):
    return StackedLSTM.random(
        width, layers=layers, inputs=inputs, outputs=outputs, dtype=dtype, key=jax.random.key(seed)
    )


def white(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def in_words(model, x):
    """One sequence of its own length, gate by gate; no padding, no dropout."""
    states = list(x)
    for W, U, b in zip(model.input_weights, model.recurrent_weights, model.biases, strict=True):
        h = c = jnp.zeros(U.shape[1], U.dtype)
        above = []
        for below in states:
            i, f, g, o = jnp.split(W @ below + U @ h + b, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            above.append(h)
        states = above
    return model.readout @ states[-1] + model.readout_bias


def test_outputs_and_gradient_are_those_of_a_plain_loop_on_unpadded_sequences():
    model, x, weight = drawn(), white(3, 3, 3), white(3, 2, seed=2)

    def ours(model):
        return jnp.sum(weight * model.outputs_after(x, LENGTHS) ** 2)

    def plain(model):
        found = [in_words(model, one[:length]) for one, length in zip(x, LENGTHS, strict=True)]
        return jnp.sum(weight * jnp.stack(found) ** 2)

    with jax.enable_x64(True):
        found = jax.jit(jax.value_and_grad(ours))(model)
        expected = jax.jit(jax.value_and_grad(plain))(model)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-9, atol=1e-12)


def test_what_stands_in_the_padding_has_no_effect():
    model, x = drawn(dtype=np.float32), white(3, 3, 3).astype(np.float32)
    other = np.where(np.arange(3)[None, :, None] < LENGTHS[:, None, None], x, 7.0)
    a, b = (np.asarray(model.outputs_after(each, LENGTHS)) for each in (x, other))
    np.testing.assert_array_equal(a, b)
    assert a.dtype == np.float32


def test_outputs_and_gradients_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    model = drawn(width=6, outputs=1, dtype=np.float32)
    x = white(3, 5, 3).astype(np.float32)
    lengths, labels = np.array([5, 2, 4]), np.array([1.0, 0.0, 1.0], np.float32)
    peer, head = torch.nn.LSTM(3, 6, num_layers=2, batch_first=True), torch.nn.Linear(6, 1)

    def tensor(values):
        return torch.tensor(np.asarray(values))

    with torch.no_grad():
        for layer in (0, 1):
            getattr(peer, f"weight_ih_l{layer}").copy_(tensor(model.input_weights[layer]))
            getattr(peer, f"weight_hh_l{layer}").copy_(tensor(model.recurrent_weights[layer]))
            getattr(peer, f"bias_ih_l{layer}").copy_(tensor(model.biases[layer]))
            getattr(peer, f"bias_hh_l{layer}").zero_()
        head.weight.copy_(tensor(model.readout))
        head.bias.copy_(tensor(model.readout_bias))
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        tensor(x), torch.tensor(lengths), batch_first=True, enforce_sorted=False
    )
    theirs = head(peer(packed)[1][0][-1])[:, 0]
    their_loss = torch.nn.functional.binary_cross_entropy_with_logits(theirs, tensor(labels))
    their_loss.backward()

    def loss(model):
        scores = model.outputs_after(x, lengths)[:, 0]
        return jnp.mean(optax.sigmoid_binary_cross_entropy(scores, jnp.asarray(labels)))

    ours, gradient = jax.jit(jax.value_and_grad(loss))(model)
    assert float(ours) == pytest.approx(float(their_loss.detach()), rel=1e-5)
    pairs = [(gradient.readout, head.weight.grad), (gradient.readout_bias, head.bias.grad)]
    for layer in (0, 1):
        pairs += [
            (gradient.input_weights[layer], getattr(peer, f"weight_ih_l{layer}").grad),
            (gradient.recurrent_weights[layer], getattr(peer, f"weight_hh_l{layer}").grad),
            (gradient.biases[layer], getattr(peer, f"bias_ih_l{layer}").grad),
        ]
    for a, b in pairs:
        scale = float(b.abs().max())
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-5 * scale)


def test_dropout_keeps_the_mean_and_leaves_the_recurrence_alone():
    # One layer: only the readout's states are dropped, so the mean over masks is the output.
    model, x = drawn(layers=1, outputs=1), white(1, 3, 3)
    keys = jax.random.split(jax.random.key(5), 4000)
    with jax.enable_x64(True):
        found = jax.jit(
            jax.vmap(lambda key: model.outputs_after(x, np.array([3]), dropout=0.5, key=key)[0, 0])
        )(keys)
    found, whole = np.asarray(found), float(model.outputs_after(x, np.array([3]))[0, 0])
    assert abs(found.mean() - whole) < 4 * found.std() / np.sqrt(found.size)
    # All 2⁵ masks of five units and no others.
    assert len(np.unique(found.round(12))) == 32


def test_matrices_go_out_and_in_again():
    model = drawn()
    first, _, _, last = model.matrices()
    assert first is model.input_weights[0]
    assert last is model.recurrent_weights[1]
    doubled = model.with_matrices([2 * np.asarray(W) for W in model.matrices()])
    for before, after in zip(model.matrices(), doubled.matrices(), strict=True):
        np.testing.assert_array_equal(after, 2 * np.asarray(before))
        assert after.dtype == before.dtype
    np.testing.assert_array_equal(doubled.biases[1], model.biases[1])
    with pytest.raises(ValueError, match="matrices: received 3, there must be 4"):
        model.with_matrices(model.matrices()[:3])


def test_random_weights_fill_their_intervals():
    model = drawn(width=64, inputs=9, dtype=np.float32)
    for W, edge in (
        (model.input_weights[0], 1 / 3),
        (model.input_weights[1], 1 / 8),
        (model.recurrent_weights[0], 1 / 8),
        (model.biases[1], 1 / 8),
    ):
        values = np.asarray(W)
        assert np.abs(values).max() <= edge
        assert values.std() == pytest.approx(edge / np.sqrt(3), rel=0.1)
    assert (model.width, model.layers) == (64, 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"biases": [np.zeros(8)]}, "one entry for each layer"),
        ({"input_weights": [np.ones((8, 3)), np.ones((8, 3))]}, r"input_weights\[1\]"),
        ({"recurrent_weights": [np.ones((7, 2)), np.ones((8, 2))]}, "recurrent_weights"),
        ({"readout": np.ones((1, 3))}, "readout"),
        ({"readout_bias": np.zeros(2)}, "readout_bias: received .*must have 1"),
        ({"readout_bias": np.zeros(1, np.float32)}, "dtype"),
    ],
)
def test_bad_parameters_are_refused_by_name(wrong, words):
    good = {
        "input_weights": [np.ones((8, 3)), np.ones((8, 2))],
        "recurrent_weights": [np.ones((8, 2)), np.ones((8, 2))],
        "biases": [np.zeros(8), np.zeros(8)],
        "readout": np.ones((1, 2)),
        "readout_bias": np.zeros(1),
    }
    StackedLSTM(**good)
    with pytest.raises(ValueError, match=words):
        StackedLSTM(**(good | wrong))


@pytest.mark.parametrize(
    ("lengths", "options", "words"),
    [
        (np.array([1, 2]), {}, "one for each sequence"),
        (np.array([1.0, 2.0, 3.0]), {}, "whole numbers"),
        (np.array([0, 1, 2]), {}, "between 1 and 3"),
        (np.array([1, 2, 4]), {}, "between 1 and 3"),
        (LENGTHS, {"dropout": 1.0}, "dropout"),
        (LENGTHS, {"dropout": 0.5}, "key is None"),
    ],
)
def test_bad_inputs_are_refused(lengths, options, words):
    with pytest.raises(ValueError, match=words):
        drawn().outputs_after(white(3, 3, 3), lengths, **options)
    with pytest.raises(ValueError, match="layers"):
        StackedLSTM.random(2, layers=0, key=jax.random.key(0))
    with pytest.raises(ValueError, match="dtype"):
        StackedLSTM.random(2, dtype=np.int32, key=jax.random.key(0))
