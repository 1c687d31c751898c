"""Programs that are compiled with less effort: the same function, in any place.

It looks inside for the options, and for a function that draws.
"""

from unittest import mock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit import _light_programs
from tacit._light_programs import FIRST_LEVEL, light_options, lightly, normal, wide_options
from tacit.models import Diagonal
from tacit.models._linear_rnn import _random

NEW_EMITTERS_ALONE = jax.__version_info__ >= (0, 12)


@lightly
def drawn(key, count: int):
    return jax.random.normal(key, (count,))


@pytest.fixture(autouse=True)
def full_effort():
    """As outside of tests, where JAX is not asked for less."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture
def asked():
    """The options that Equinox is given meanwhile."""
    options, compile_it = [], eqx.filter_jit

    def filter_jit(*args, **kwargs):
        options.append(kwargs.get("compiler_options"))
        return compile_it(*args, **kwargs)

    with mock.patch.object(eqx, "filter_jit", filter_jit):
        yield options


def test_it_stands_anywhere_a_function_does():
    key = jax.random.key(0)
    expected = jax.random.normal(key, (3,))
    np.testing.assert_array_equal(drawn(key, 3), expected)
    np.testing.assert_array_equal(jax.jit(lambda k: drawn(k, 3))(key), expected)
    np.testing.assert_array_equal(jax.jit(lambda: drawn(key, 3))(), expected)  # nothing is traced
    many = jax.vmap(lambda k: drawn(k, 3))(jnp.stack([key, key]))
    np.testing.assert_array_equal(many, jnp.stack([expected, expected]))


def test_numbers_drawn_lightly_are_those_drawn_with_care():
    keys = jax.random.split(jax.random.key(1), 40)
    with jax.enable_x64(True):
        given = Diagonal, 6, 1, False, jnp.full(40, 0.3), keys
        light, careful = _random(*given), eqx.filter_jit(_random.__wrapped__)(*given)
    for ours, theirs in zip(jax.tree.leaves(light), jax.tree.leaves(careful), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_shape_may_be_of_numpys_numbers():
    key = jax.random.key(0)
    sizes = np.array([2, 3])
    found = normal(key, tuple(sizes), jnp.float32)
    np.testing.assert_array_equal(found, jax.random.normal(key, (2, 3)))


@pytest.mark.parametrize(("name", "options"), [("_LIGHT", light_options), ("_WIDE", wide_options)])
def test_an_option_is_taken(name, options):
    if name == "_LIGHT" and NEW_EMITTERS_ALONE:
        pytest.skip("this version of XLA has no older kernels")
    assert options() == getattr(_light_programs, name)


@pytest.mark.parametrize(("name", "options"), [("_LIGHT", light_options), ("_WIDE", wide_options)])
def test_an_option_that_is_gone_is_left_out(name, options):
    options.cache_clear()
    try:
        with mock.patch.object(_light_programs, name, {"xla_of_another_year": False}):
            assert options() == FIRST_LEVEL
    finally:
        options.cache_clear()


@pytest.mark.parametrize(("backend", "plain"), [("cpu", False), ("gpu", True)])
def test_an_accelerator_compiles_as_ever(asked, backend, plain):
    @lightly
    def doubled(x):
        return 2 * x

    with mock.patch.object(jax, "default_backend", return_value=backend):
        assert doubled(jnp.float32(2)) == 4
    assert (light_options() not in asked) is plain
