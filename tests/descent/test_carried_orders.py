"""Transpositions that are carried along: the same numbers, and no hidden layer turned in memory."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.descent import Lanes, Stop, descend
from tacit.descent._carried_orders import vmap_unturned


def _draw(*shapes, dtype="float32"):
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.normal(size=shape), dtype) for shape in shapes]


def _equations(jaxpr):
    """All equations of a program, those of the calls inside it too."""
    for equation in jaxpr.eqns:
        yield equation
        if equation.primitive.name in ("jit", "pjit"):
            yield from _equations(equation.params["jaxpr"].jaxpr)


def _results(name, function, *args):
    """The shapes that a primitive's results have in a function."""
    found = _equations(jax.make_jaxpr(function)(*args).jaxpr)
    return [e.outvars[0].aval.shape for e in found if e.primitive.name == name]


def _same(function, in_axes, *args, rtol=1e-4):
    wanted = jax.vmap(function, in_axes)(*args)
    found = vmap_unturned(function, in_axes)(*args)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


@settings(deadline=None, max_examples=25)
@given(
    lanes=st.integers(1, 3),
    sizes=st.permutations([2, 3, 4]),
    orders=st.tuples(st.permutations(range(3)), st.permutations(range(3))),
    axes=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    batch=st.integers(0, 1),
    shared=st.sampled_from([None, 0, 1]),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_any_product_of_turned_arrays_is_the_same(lanes, sizes, orders, axes, batch, shared, dtype):
    """Two turned arrays, summed over any axis of each, the first of the others a batch or not."""
    turned = [[sizes[axis] for axis in order] for order in orders]
    over = axes[0], turned[1].index(turned[0][axes[0]])
    rest = next(axis for axis in range(3) if axis != over[0])
    pair = ((rest,), (turned[1].index(turned[0][rest]),)) if batch else ((), ())

    def product(a, b):
        a, b = jnp.tanh(a.transpose(orders[0])), jnp.sin(b.transpose(orders[1]))
        return jax.lax.dot_general(a, b, (((over[0],), (over[1],)), pair))

    in_axes = tuple(None if side == shared else 0 for side in (0, 1))
    with jax.enable_x64(dtype == "float64"):
        shapes = [sizes if axis is None else (lanes, *sizes) for axis in in_axes]
        exact = 1e-12 if dtype == "float64" else 1e-5
        _same(product, in_axes, *_draw(*shapes, dtype=dtype), rtol=exact)


@settings(deadline=None, max_examples=15)
@given(
    order=st.permutations(range(3)),
    then=st.permutations(range(3)),
    axes=st.sets(st.integers(0, 2), min_size=1, max_size=2),
    lanes=st.integers(1, 3),
)
def test_sums_and_repetitions_of_turned_arrays_are_the_same(order, then, axes, lanes):
    sizes = 2, 3, 4
    row = [1, 1, 1]
    row[1] = sizes[order[1]]

    def function(x, y):
        turned = jnp.exp(x.transpose(order)) + y.reshape(-1)[: row[1]].reshape(row)
        kept = turned.sum(tuple(axes), keepdims=True)
        small = turned.max(tuple(axes))
        tall = jax.lax.broadcast_in_dim(turned, (5, *turned.shape), (1, 2, 3))
        return (turned / kept).transpose(then), small, tall.transpose(1, 0, 3, 2).sum(3)

    _same(function, (0, 0), *_draw((lanes, *sizes), (lanes, 2, 2)))


def _perceptron(x, y):
    def loss(params):
        W, b, c = params
        return jnp.mean((jax.vmap(lambda u: c @ jnp.tanh(W @ u + b))(x) - y) ** 2)

    return loss


@pytest.mark.parametrize(("units", "outputs"), [(5, 2), (9, 1)])
def test_the_hidden_layer_of_a_perceptron_is_never_turned(units, outputs):
    """Six lanes, seven examples; with one output the layer's cotangent is an outer product."""
    shapes = (7, 4), (7, outputs), (6, units, 4), (6, units), (6, outputs, units)
    x, y, *params = _draw(*shapes)
    gradient = jax.value_and_grad(_perceptron(x, y))
    whole = {(6, units, 7), (6, 7, units)}
    turned = _results("transpose", vmap_unturned(gradient, (0,)), params)
    assert whole & set(_results("transpose", jax.vmap(gradient), params))
    # An outer product may be turned: it is repeated numbers, and never lies in memory.
    assert sum(shape in whole for shape in turned) <= (outputs == 1)
    _same(gradient, (0,), params)


def test_a_shared_array_times_one_with_lanes_has_lanes_first():
    x, W, c = _draw((7, 4), (6, 4, 5), (6, 5))

    def loss(W, c):
        return jnp.sum(jnp.tanh(x @ W) @ c)

    both = jax.grad(loss, argnums=(0, 1))
    products = _results("dot_general", vmap_unturned(both, (0, 0)), W, c)
    assert any(shape[0] != 6 for shape in _results("dot_general", jax.vmap(both), W, c))
    assert all(shape[0] == 6 for shape in products)
    _same(both, (0, 0), W, c)


def test_the_larger_operand_of_a_product_is_not_turned():
    """Σ_k h_ke c_ko: c comes first, since the first is turned if it is not summed over its last."""
    h, c = _draw((3, 8, 40), (3, 8, 2))
    product = vmap_unturned(lambda h, c: h.T @ c, (0, 0))
    assert _results("dot_general", product, h, c) == [(3, 2, 40)]
    np.testing.assert_allclose(product(h, c), jax.vmap(lambda h, c: h.T @ c)(h, c), rtol=1e-5)


def _looped(x):
    def step(x, _):
        return jnp.tanh(x.T @ x), x[0]

    return jax.lax.scan(step, x.T, length=3)


def _while(x):
    return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1].T), (0, x.T))[1]


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: jnp.cumsum(x.T, 0), id="cumulative sum"),
        pytest.param(lambda x: x.T.reshape(-1), id="reshape"),
        pytest.param(lambda x: jnp.concatenate([x.T, 2 * x.T], 1), id="concatenate"),
        pytest.param(lambda x: x.T + x, id="two orders"),
        pytest.param(lambda x: jnp.where(x.T > 0, jnp.ones_like(x), 3), id="choice"),
        pytest.param(lambda x: jax.nn.softmax(jax.nn.relu(x.T), axis=0), id="calls"),
        pytest.param(lambda x: (x.T.argmax(0), x.T[1], x.T.astype("int32")), id="several"),
        pytest.param(lambda x: jnp.linalg.inv(x.T + 4 * jnp.eye(4)), id="inverse"),
        pytest.param(_looped, id="scan"),
        pytest.param(_while, id="while"),
        pytest.param(jax.jit(lambda x: jnp.tanh(x.T) @ x), id="jit"),
        pytest.param(lambda x: jnp.ones((4, 4)).T + jnp.zeros(()), id="nothing of a lane"),
    ],
)
@pytest.mark.parametrize("lanes", [1, 3])
def test_where_the_order_matters_it_is_the_one_that_is_meant(function, lanes):
    (x,) = _draw((lanes, 4, 4))
    _same(function, (0,), x)
    wanted = jax.jit(jax.vmap(function))(x)
    found = jax.jit(vmap_unturned(function, (0,)))(x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, wanted)


def test_gradients_through_it_are_the_same():
    x, W = _draw((5, 4), (3, 6, 4))
    both = [
        lambda W, mapped=mapped: mapped(lambda W: jnp.sum(jnp.tanh(W @ x.T).T ** 3), (0,))(W).sum()
        for mapped in (jax.vmap, vmap_unturned)
    ]
    np.testing.assert_allclose(*[jax.grad(function)(W) for function in both], rtol=1e-5)


def test_a_function_that_turns_nothing_is_left_alone():
    x, y = _draw((3, 4), (3, 4))
    plain, ours = (
        jax.make_jaxpr(mapped(lambda a, b: jnp.tanh(a) * b, (0, 0)))(x, y)
        for mapped in (jax.vmap, vmap_unturned)
    )
    assert str(plain) == str(ours)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("depth", [1, 2])
def test_descend_trains_perceptrons_as_a_loop_by_hand_does(depth, dtype):
    with jax.enable_x64(dtype == "float64"):
        x, y = _draw((9, 3), (9, 2), dtype=dtype)
        keys = jax.random.split(jax.random.key(0), 5)

        def make(key):
            return eqx.nn.MLP(3, 2, 6, depth, activation=jnp.tanh, dtype=dtype, key=key)

        models = eqx.filter_vmap(make)(keys)
        arrays, rest = eqx.partition(models, eqx.is_inexact_array)

        def loss(model):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        found = descend(Lanes(models), loss, optax.sgd(0.1), stop=Stop(20), progress=False)

        def by_hand(arrays):
            for _ in range(20):
                gradient = jax.grad(lambda arrays: loss(eqx.combine(arrays, rest)))(arrays)
                arrays = jax.tree.map(lambda a, g: a - 0.1 * g, arrays, gradient)
            return arrays

        exact = 1e-10 if dtype == "float64" else 1e-4
        trained = eqx.filter(found.model.tree, eqx.is_inexact_array)
        pairs = itertools.zip_longest(*map(jax.tree.leaves, (trained, jax.vmap(by_hand)(arrays))))
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours, theirs, rtol=exact, atol=exact)
