"""The fused loops of GRUs, by Pallas's interpreter, against the loops of the compiler."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

from tacit.models import _gru_kernel, _gru_states, _rate_kernel

LANES = 2


def _drawn(units, batch, inputs, steps):
    rng = np.random.default_rng(0)
    shapes = (steps, batch, inputs), (3 * units, inputs), (3 * units, units), (3 * units,), (units,)
    return [jnp.asarray(rng.normal(0, 0.4, (LANES, *shape)), "float32") for shape in shapes]


def _states_and_derivatives(arrays):
    def loss(*arrays):
        states = _gru_states.gru_states(*arrays)
        return jnp.sum(jnp.arange(1, len(states) + 1)[:, None, None] * states**2)

    jax.clear_caches()
    return (
        jax.jit(jax.vmap(_gru_states.gru_states))(*arrays),
        jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1, 2, 3, 4))))(*arrays),
    )


def _interpreted(enough=1):
    stack = mock.patch.multiple(_gru_kernel, _ENOUGH=enough)
    return stack, mock.patch.object(_rate_kernel, "INTERPRET", new=True)


# Units, sequences and terms that fill no tile, one tile, and several; columns in two parts.
@pytest.mark.parametrize(
    ("units", "batch", "inputs", "columns"), [(20, 18, 1, 16), (32, 16, 3, 32), (10, 33, 2, 128)]
)
def test_kernels_do_what_the_loops_do(units, batch, inputs, columns):
    arrays = _drawn(units, batch, inputs, 4)
    expected = _states_and_derivatives(arrays)
    enough, interpreted = _interpreted()
    tiles = _gru_kernel.Tiles(columns=columns)
    with (
        enough,
        interpreted,
        mock.patch.object(_gru_kernel, "TILES", tiles),
        mock.patch.object(_gru_kernel, "backward", wraps=_gru_kernel.backward) as used,
    ):
        found = _states_and_derivatives(arrays)
    assert used.called
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-6 * np.max(np.abs(theirs)))


@pytest.mark.parametrize(("enough", "used"), [(LANES * 16, True), (LANES * 16 + 1, False)])
def test_few_sequences_are_left_to_the_loops(enough, used):
    arrays = _drawn(16, 16, 1, 3)
    many, interpreted = _interpreted(enough)
    with (
        many,
        interpreted,
        mock.patch.object(_gru_kernel, "forward", wraps=_gru_kernel.forward) as forward,
        mock.patch.object(_gru_kernel, "backward", wraps=_gru_kernel.backward) as backward,
    ):
        _states_and_derivatives(arrays)
        assert forward.called is backward.called is used
        forward.reset_mock()
        alone = [array[0] for array in arrays]
        one = jax.jit(_gru_states.gru_states)(*alone)
    assert not forward.called  # one network is never a kernel
    np.testing.assert_allclose(one, _gru_states.gru_states(*alone), rtol=1e-5, atol=1e-6)


def test_shared_inputs_and_other_derivatives():
    inputs, W, U, b, c = _drawn(16, 16, 1, 3)

    def gradient(inputs, U):
        def loss(U):
            return jnp.sum(_gru_states.gru_states(inputs, W[0], U, b[0], c[0]) ** 2)

        return jax.grad(loss)(U)

    mapped = jax.vmap(gradient, in_axes=(None, 0))
    expected = mapped(inputs[0], U)
    enough, interpreted = _interpreted()
    with enough, interpreted:
        found = mapped(inputs[0], U)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chosen", [None, "tensorfloat32"])
def test_precision_is_that_of_the_call_if_lanes_come_later(chosen):
    seen = []

    def forward(*arrays, keep):
        seen.append(jax.config.jax_default_matmul_precision)
        return (arrays[0] + arrays[4],) * (5 if keep else 1)

    inputs, W, U, b, c = _drawn(16, 16, 16, 3)  # as many inputs as units, for that stand-in
    enough, interpreted = _interpreted()
    with (
        enough,
        interpreted,
        mock.patch.object(_gru_kernel, "_FEW", 16),
        mock.patch.object(_gru_kernel, "forward", forward),
    ):
        with jax.default_matmul_precision(chosen):
            single = jax.make_jaxpr(_gru_states.gru_states)(*(x[0] for x in (inputs, W, U, b, c)))
        jax.vmap(jaxpr_as_fun(single))(inputs, W, U, b, c)
    assert seen == [chosen or "highest"]


@pytest.mark.parametrize(
    ("units", "batch", "steps", "inputs", "dtype", "served"),
    [
        (100, 100, 3, 1, "float32", True),
        (10, 16, 3, 8, "float32", True),
        (100, 15, 3, 1, "float32", False),
        (113, 100, 3, 1, "float32", False),
        (100, 100, 1, 1, "float32", False),
        (100, 100, 3, 9, "float32", False),
        (100, 100, 3, 1, "float16", False),
    ],
)
def test_measured_shapes_are_served(units, batch, steps, inputs, dtype, served):
    x, U = jnp.zeros((steps, batch, inputs), dtype), jnp.zeros((3 * units, units), dtype)
    assert not _gru_kernel.serves(x, U)  # there is no GPU here
    with mock.patch.object(_rate_kernel, "INTERPRET", new=True):
        assert _gru_kernel.serves(x, U) is served


def test_split_products_are_as_exact_as_float32():
    rng = np.random.default_rng(0)
    left, right = (rng.normal(size=(16, 64)).astype("float32") for _ in range(2))
    much, little = (np.asarray(part) for part in _gru_kernel._split(jnp.asarray(left)))
    np.testing.assert_array_equal(much + little, left)
    assert not np.any(much.view("int32") & 0x1FFF)  # a TF32 number
    assert np.max(np.abs(little / left)) <= 2.0**-11
    tools = _gru_kernel._Tools(*[None] * 4, _rate_kernel.THREEFOLD, _gru_kernel.TILES)
    with mock.patch.object(_rate_kernel, "SINGLE", jax.lax.Precision.HIGHEST):
        found = np.asarray(tools.dot(jnp.asarray(left), jnp.asarray(right)))
    exact = left.astype("float64") @ right.T.astype("float64")
    assert np.max(np.abs(found - exact)) < 3e-7 * np.max(np.abs(exact))
