"""The lanes' first state: what NumPy makes is what the method's own `init` makes.

`constant_outputs` is tested by itself: a descent gives the same result where it finds nothing.
"""

import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Lanes, LevenbergMarquardt, Stop, _start, descend
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

    def start(*args, **options):
        seen.extend(jax.tree.leaves(_start.start_lanes(*args, **options)))
        raise StopIteration

    monkeypatch.setattr("tacit.descent._loop.start_lanes", start)
    models = Lanes.stack([LinearRNN(Diagonal(jnp.full(3, 0.1)), jnp.ones((3, 1)))] * 4)
    problem = PopulationLoss(jnp.ones((4, 1, 1)), jnp.ones(4))
    with pytest.raises(StopIteration):
        descend(models, problem, optax.adam(1e-3), stop=Stop(5))
    leaves = [*seen, *(leaf for leaf in jax.tree.leaves(models.tree) if eqx.is_array(leaf))]
    pointers = [leaf.unsafe_buffer_pointer() for leaf in leaves]
    assert len(set(pointers)) == len(pointers) > 8


@pytest.mark.parametrize("kind", [float, np.float32, np.float64, np.asarray, jnp.asarray])
def test_methods_that_differ_in_a_number_begin_differently(kind):
    """Nothing of one method's start is kept for another."""
    model = jnp.array([1.0, 2.0])
    ends = [
        descend(model, Squares(), LevenbergMarquardt(damping=kind(damping)), stop=Stop(1)).model
        for damping in (1e-3, 1.0, 1e3)
    ]
    sizes = [float(jnp.linalg.norm(end)) for end in ends]
    assert sizes[0] < 0.1 * sizes[1] < 0.1 * sizes[2]


class Squares:
    """θ as residuals; a plain object, and no pytree."""

    def loss(self, model):
        return jnp.sum(model**2)

    def residuals(self, model):
        return model


@pytest.mark.parametrize("first", [0, 0.0, jnp.float32(0)])
def test_a_state_of_a_weak_type_may_become_another(first):
    """Python's numbers take the type of what they meet, here that of the gradient."""

    def update(gradient, state, params=None):
        return jax.tree.map(lambda g: -0.1 * g, gradient), 0.9 * state + jnp.linalg.norm(gradient)

    method = optax.GradientTransformation(lambda params: first, update)
    result = descend(jnp.array([1.0, 2.0]), Squares(), method, stop=Stop(3))
    np.testing.assert_allclose(result.model, np.array([1.0, 2.0]) * 0.8**3, rtol=1e-6)


def test_a_model_stays_on_its_device(environment_in_short):
    code = """
import jax, jax.numpy as jnp, optax
from tacit.descent import Lanes, Stop, descend
second = jax.devices()[1]
for count in (1, 3):
    lanes = Lanes.stack([jax.device_put(jnp.ones(4), second)] * count)
    found = descend(lanes, lambda x: jnp.sum(x**2), optax.adam(1e-2), stop=Stop(5))
    print([d.id for d in found.model.tree.devices()][0])
"""
    flags = environment_in_short["XLA_FLAGS"] + " --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment_in_short | {"XLA_FLAGS": flags},
    )
    assert done.stdout.split() == ["1", "1"]
