"""Networks that read images: layers against NumPy, sizes against the published ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import ARITHMETICS, VGG, BatchNorm, ReLUNet, ResNet, renewed
from tacit.models import _image_layers as layers
from tacit.models import _resnet as resnet
from tacit.models import _vgg as vgg

F32 = ARITHMETICS["float32"]
TINY = {"classes": 3, "arithmetic": F32, "width": 1 / 32, "key": jax.random.key(0)}
IMAGES = jnp.asarray(np.random.default_rng(1).normal(size=(4, 8, 8, 3)), jnp.float32)


def by_definition(x, kernel, stride):
    """Convolution as sums over the window, one pixel at a time."""
    k = kernel.shape[0]
    wide = np.pad(x, ((0, 0), (k // 2, k // 2), (k // 2, k // 2), (0, 0)))
    rows, columns = (range(0, size, stride) for size in x.shape[1:3])
    made = [
        [np.einsum("nijc,ijco->no", wide[:, r : r + k, c : c + k], kernel) for c in columns]
        for r in rows
    ]
    return np.moveaxis(np.array(made), 2, 0)


@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), (1, 1), (1, 2)])
def test_both_convolutions_are_the_definition(size, stride, monkeypatch):
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, 6, 6, 3)), rng.normal(size=(size, size, 3, 5))
    wanted = by_definition(x, kernel, stride)
    x, kernel = jnp.asarray(x, jnp.float32), jnp.asarray(kernel, jnp.float32)
    ours = jax.jit(lambda x, k: layers.convolved(x, k, F32, stride))(x, kernel)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # XLA's own
    theirs = jax.jit(lambda x, k: layers.convolved(x, k, F32, stride))(x, kernel)
    np.testing.assert_allclose(ours, wanted, atol=1e-5)
    np.testing.assert_allclose(theirs, wanted, atol=1e-5)


def test_batch_normalisation_is_its_formula():
    rng = np.random.default_rng(0)
    x = rng.normal(2, 3, size=(5, 2, 2, 3))
    norm = BatchNorm(*(jnp.asarray(rng.uniform(1, 2, 3), jnp.float32) for _ in range(4)))
    y, seen = eqx.filter_jit(BatchNorm.by_batch)(norm, jnp.asarray(x, jnp.float32))
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    wanted = norm.scale * (x - mean) / np.sqrt(variance + 1e-5) + norm.shift
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(seen.variance, x.var((0, 1, 2), ddof=1), rtol=1e-4)
    moved = norm.moved(seen)
    assert moved.scale is None
    assert moved.shift is None
    np.testing.assert_allclose(moved.mean, 0.9 * norm.mean + 0.1 * mean, rtol=1e-4)
    running = norm.scale * (x - norm.mean) / np.sqrt(norm.variance + 1e-5) + norm.shift
    np.testing.assert_allclose(norm(jnp.asarray(x, jnp.float32)), running, rtol=1e-4, atol=1e-4)


class Zeros(np.random.Generator):
    """In place of random numbers, which take seconds for the large networks."""

    def standard_normal(self, shape, dtype=None):
        return np.zeros(shape, dtype)

    def uniform(self, low, high, shape):
        return np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    ("kind", "depth", "parameters", "count"),
    [(ResNet, 18, 11_173_962, 21), (ResNet, 34, 21_282_122, 37), (ResNet, 50, 23_520_842, 54),
     (ResNet, 101, 42_512_970, 105), (VGG, 11, 9_231_114, 9), (VGG, 13, 9_416_010, 11),
     (VGG, 16, 14_728_266, 14), (VGG, 19, 20_040_522, 17)],
)  # fmt: skip
def test_networks_have_their_published_sizes(kind, depth, parameters, count, monkeypatch):
    for module in (resnet, vgg):
        monkeypatch.setattr(module.np.random, "default_rng", lambda seed: Zeros(np.random.PCG64(0)))
    made = kind.random(depth, classes=10, arithmetic=F32, key=jax.random.key(0))
    state = sum(
        norm.mean.size + norm.variance.size
        for norm in jax.tree.leaves(made, is_leaf=layers._is_norm)
        if layers._is_norm(norm)
    )
    assert sum(leaf.size for leaf in jax.tree.leaves(made)) - state == parameters
    assert (
        len(eqx.filter_eval_shape(kind.weights, made)) == count
    )  # convolutions, shortcuts and the readout


def unrolled(net, images):
    """The network block by block, without its loop; the statistics by block."""
    seen = []
    x = layers.convolved(images, net.stem, F32)
    x = jax.nn.relu(layers.normalised(net.stem_norm, x, seen))
    late = []
    for first, rest in zip(net.firsts, net.rests, strict=True):
        x = first(x, F32, seen)
        count = rest.kernels[0].shape[0]
        blocks = [jax.tree.map(lambda leaf, i=i: leaf[i], rest) for i in range(count)]
        own = []
        for block in blocks:
            x = block(x, F32, own)
        late.append(own)
    return net.readout(jnp.mean(x, axis=(1, 2))), seen, late


def test_a_residual_network_is_its_blocks_and_knows_its_averages(monkeypatch):
    monkeypatch.setattr(resnet, "_STAGES", (64, 128))  # two stages compile in half the time
    monkeypatch.setitem(resnet.BLOCKS, 18, (2, 3))
    net = ResNet.random(18, **TINY)
    scores, seen = eqx.filter_jit(ResNet.outputs_by_batch)(net, IMAGES)
    wanted, first, late = eqx.filter_jit(unrolled)(net, IMAGES)
    np.testing.assert_allclose(scores, wanted, rtol=1e-4, atol=1e-4)
    state = renewed(net, seen)
    assert state.stem is None
    assert state.firsts[0].kernels == (None, None)
    np.testing.assert_allclose(state.stem_norm.mean, 0.1 * first[0].mean, rtol=1e-4, atol=1e-6)
    shortcut = state.firsts[1].shortcut_norm.mean
    np.testing.assert_allclose(shortcut, 0.1 * first[5].mean, rtol=1e-4, atol=1e-6)
    last = state.rests[1].norms[1].mean[1]
    np.testing.assert_allclose(last, 0.1 * late[1][-1].mean, rtol=1e-3, atol=1e-5)


def test_a_network_of_convolutions_pools_and_reads_out():
    net = VGG.random(11, **TINY)
    scores, seen = eqx.filter_eval_shape(VGG.outputs_by_batch, net, IMAGES)
    assert scores.shape == (4, 3)
    assert len(seen) == 8
    x = jnp.arange(16.0).reshape(1, 4, 4, 1)
    np.testing.assert_array_equal(vgg._pooled(x)[0, :, :, 0], [[5, 7], [13, 15]])
    assert vgg._pooled(x[:, :1, :1]).shape == (1, 1, 1, 1)


@pytest.mark.parametrize("linear", [False, True])
def test_a_fully_connected_network_is_its_products(linear):
    net = ReLUNet.random(2, inputs=4, width=3, outputs=2, deviation=1.0, arithmetic=F32,
                         identity=0.5, first_is_linear=linear, key=jax.random.key(0))  # fmt: skip
    np.testing.assert_array_equal(net.layers[1], 0.5 * np.eye(3))
    x = np.random.default_rng(0).normal(size=(5, 2, 2))
    first = x.reshape(5, 4) @ np.asarray(net.layers[0])
    hidden = np.maximum((first if linear else np.maximum(first, 0)) * 0.5, 0)
    found = net.outputs(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(found, hidden @ np.asarray(net.layers[2]), rtol=1e-4, atol=1e-5)
    assert net.outputs_by_batch(jnp.asarray(x, jnp.float32))[1] == []


def test_half_precision_stays_inside():
    net = VGG.random(11, **(TINY | {"arithmetic": ARITHMETICS["bfloat16"]}))
    assert eqx.filter_eval_shape(VGG.outputs, net, IMAGES).dtype == jnp.float32


@pytest.mark.parametrize("kind", [ResNet, VGG])
def test_other_depths_are_named(kind):
    with pytest.raises(ValueError, match="depth: received 12, it must be one of"):
        kind.random(12, **TINY)
    with pytest.raises(ValueError, match="depth: received 0"):
        ReLUNet.random(0, inputs=1, width=1, outputs=1, deviation=1.0, arithmetic=F32,
                       key=jax.random.key(0))  # fmt: skip
