"""The lanes' first state: what NumPy makes is what the method's own `init` makes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Lanes, Stop, _start, descend
from tacit.descent._start import constant_outputs
from tacit.models import Diagonal, LinearRNN
from tacit.problems import PopulationLoss

PARAMS = {"a": jnp.arange(6.0).reshape(3, 2), "b": jnp.ones(3)}


def from_the_params(_: object) -> optax.GradientTransformation:
    """A transformation that begins with the parameters themselves."""
    return optax.GradientTransformation(lambda p: (p, jnp.int32(3)), lambda g, s, p=None: (g, s))


@pytest.mark.parametrize(
    "make",
    [optax.adam, optax.sgd, optax.rmsprop, optax.adagrad, optax.lion, from_the_params],
)
def test_constants_and_copies_are_those_of_init(make):
    init = jax.vmap(make(1e-3).init)
    traced, shape = jax.make_jaxpr(init, return_shape=True)(PARAMS)
    found = constant_outputs(traced, 2)
    assert found is not None
    flat = jax.tree.leaves(PARAMS)
    made = [flat[leaf] if isinstance(leaf, int) else leaf for leaf in found]
    for one, other in zip(made, jax.tree.leaves(jax.jit(init)(PARAMS)), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert len(made) == len(jax.tree.leaves(shape))


def test_what_is_computed_is_left_to_the_compiler():
    computed = jax.make_jaxpr(lambda p: {"twice": 2 * p["a"], "zero": jnp.zeros(3)})(PARAMS)
    assert constant_outputs(computed, 2) is None


def test_a_start_that_is_computed_descends_as_well():
    def init(params):
        return jax.tree.map(lambda leaf: 2.0 * leaf, params)

    def update(gradient, state, params=None):
        return jax.tree.map(lambda g, s: -1e-3 * (g + s), gradient, state), state

    model = LinearRNN(Diagonal(jnp.array([0.5, -0.2])), jnp.ones((2, 1)) / 2)
    problem = PopulationLoss(jnp.array([1.0, 0.5])[:, None, None], jnp.ones(2))
    result = descend(model, problem, optax.GradientTransformation(init, update), stop=Stop(1))
    gradient = jax.grad(problem.loss)(model)
    expected = model.B - 1e-3 * (gradient.B + 2 * model.B)
    np.testing.assert_allclose(result.model.B, expected, rtol=1e-6)


def test_no_two_arrays_share_memory(monkeypatch):
    """All of it is given away for reuse, and the user's own arrays must not be."""
    seen = []

    def start(*args):
        seen.extend(jax.tree.leaves(_start.start_lanes(*args)))
        raise StopIteration

    monkeypatch.setattr("tacit.descent._descend.start_lanes", start)
    models = Lanes.stack([LinearRNN(Diagonal(jnp.full(3, 0.1)), jnp.ones((3, 1)))] * 4)
    problem = PopulationLoss(jnp.ones((4, 1, 1)), jnp.ones(4))
    with pytest.raises(StopIteration):
        descend(models, problem, optax.adam(1e-3), stop=Stop(5))
    leaves = [*seen, *(leaf for leaf in jax.tree.leaves(models.tree) if eqx.is_array(leaf))]
    pointers = [leaf.unsafe_buffer_pointer() for leaf in leaves]
    assert len(set(pointers)) == len(pointers) > 8
