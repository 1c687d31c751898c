"""The fused loops of rate networks, by Pallas's interpreter, against the loops of the compiler."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import _rate_kernel, _rate_recurrence

LANES, UNITS, BATCH, STEPS = 2, 32, 16, 4


def _derivatives(nonlinearity, arrays):
    def loss(*arrays):
        return jnp.sum(_rate_recurrence.readouts(nonlinearity, 0.5, *arrays) ** 2)

    jax.clear_caches()
    return jax.jit(jax.vmap(jax.value_and_grad(loss, argnums=(0, 1, 2, 3))))(*arrays)


@pytest.mark.parametrize(
    ("nonlinearity", "columns"), [(jnp.tanh, 16), (_rate_recurrence.identity, 32)]
)
def test_kernels_do_what_the_loops_do(nonlinearity, columns):
    rng = np.random.default_rng(0)
    shapes = (UNITS, UNITS), (UNITS, 2), (3, UNITS), (STEPS, BATCH, 2)
    arrays = [rng.normal(0, 0.3, (LANES, *shape)).astype("float32") for shape in shapes]
    expected = _derivatives(nonlinearity, arrays)
    tiles = _rate_kernel.Tiles(columns=columns, terms=16)
    with (
        mock.patch.object(_rate_kernel, "INTERPRET", new=True),
        mock.patch.object(_rate_kernel, "TILES", tiles),
        mock.patch.object(_rate_kernel, "backward", wraps=_rate_kernel.backward) as used,
    ):
        found = _derivatives(nonlinearity, arrays)
    assert used.called
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5 * np.max(np.abs(theirs)))


@pytest.mark.parametrize(
    ("units", "batch", "dtype", "channels", "served"),
    [
        (32, 16, "float32", 2, True),
        (48, 16, "float32", 2, False),
        (32, 12, "float32", 2, False),
        (32, 16, "float16", 2, False),
        (32, 16, "float32", 9, False),
        (32, 8, "float32", 2, False),
        (256, 32, "float32", 2, True),
        (256, 64, "float32", 2, False),
        (512, 32, "float32", 2, False),
    ],
)
def test_sizes_in_powers_of_two_are_served(units, batch, dtype, channels, served):
    W, inputs = jnp.zeros((units, units), dtype), jnp.zeros((STEPS, batch, channels), dtype)
    assert not _rate_kernel.serves(W, inputs, channels)  # there is no GPU here
    with mock.patch.object(_rate_kernel, "INTERPRET", new=True):
        assert _rate_kernel.serves(W, inputs, channels) is served


@pytest.mark.parametrize(
    ("backend", "capability", "served"),
    [("cpu", None, False), ("gpu", "9.0", True), ("gpu", "7.5", False), ("gpu", "gfx942", False)],
)
def test_gpus_with_tensor_cores_for_tf32_are_served(backend, capability, served):
    device = mock.Mock(compute_capability=capability)
    with (
        mock.patch.object(jax, "default_backend", return_value=backend),
        mock.patch.object(jax, "devices", return_value=[device]),
    ):
        W, inputs = jnp.zeros((32, 32)), jnp.zeros((STEPS, 16, 2))
        assert _rate_kernel.serves(W, inputs, 2) is served


def test_full_precision_means_three_products():
    with jax.default_matmul_precision("highest"):
        assert _rate_kernel.precision() == jax.lax.DotAlgorithmPreset.TF32_TF32_F32_X3
    with jax.default_matmul_precision("tensorfloat32"):
        assert _rate_kernel.precision() == jax.lax.DotAlgorithmPreset.TF32_TF32_F32
    with jax.default_matmul_precision("BF16_BF16_F32_X6"):
        assert _rate_kernel.precision() == jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X6
