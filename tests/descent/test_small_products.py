"""Products with a lane axis as sums: the same numbers, in every place where a program has them."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.descent import Lanes, Stop, descend
from tacit.descent._small_products import with_small_products


def _draw(*shapes, dtype="float32"):
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.normal(size=shape), dtype) for shape in shapes]


def rewritten(function):
    """With its products as sums; no compiler knows that the first argument is a number."""
    return with_small_products(function, sure=lambda first, *rest: jnp.isfinite(first).all())


def _products(function, *args):
    """How many products are left in a function."""
    return str(jax.make_jaxpr(function)(*args)).count("dot_general")


@settings(deadline=None, max_examples=8)
@given(
    lanes=st.integers(1, 3),
    left=st.lists(st.integers(1, 3), max_size=2),
    right=st.lists(st.integers(1, 3), max_size=2),
    terms=st.integers(1, 4),
    places=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_any_product_with_a_lane_axis_is_the_same(lanes, left, right, terms, places):
    axes = [min(place, len(free)) for place, free in zip(places, (left, right), strict=True)]
    shapes = []
    for axis, free in zip(axes, (left, right), strict=True):
        shapes.append((lanes, *free[:axis], terms, *free[axis:]))
    numbers = (((axes[0] + 1,), (axes[1] + 1,)), ((0,), (0,)))

    def product(a, b):
        return jax.lax.dot_general(a, b, numbers)

    arrays = [np.asarray(array, "float32") for array in _draw(*shapes)]
    found = rewritten(product)(*arrays)
    np.testing.assert_allclose(found, product(*arrays), rtol=1e-5, atol=1e-5)


def test_products_inside_loops_and_calls_are_summed_too():
    W, x = _draw((3, 4, 4), (3, 4))
    rounds = jnp.int32(2)

    def model(W, x):
        def step(x, _):
            return jnp.tanh(W @ x), x.sum()

        x, seen = jax.lax.scan(step, x, length=3, reverse=True)
        x = jax.lax.fori_loop(0, rounds, lambda _, x: W @ x, x)
        return jax.jit(jnp.dot)(W, x).sum() + seen.sum()

    forward = jax.vmap(model)
    assert _products(forward, W, x) == 3
    assert _products(rewritten(forward), W, x) == 0
    np.testing.assert_allclose(rewritten(forward)(W, x), forward(W, x), rtol=1e-5)


def test_a_loop_of_which_each_lane_has_its_own_length_stays():
    W, x = _draw((3, 4, 4), (3, 4))
    forward = jax.vmap(
        lambda W, x: jax.lax.while_loop(lambda x: x.sum() < 0, lambda x: jnp.abs(W @ x), x)
    )
    np.testing.assert_array_equal(rewritten(forward)(W, x), forward(W, x))


def _fences(function, *args):
    """How many arrays are written to memory before they are used."""
    return str(jax.make_jaxpr(rewritten(function))(*args)).count(" cond[")


@pytest.mark.parametrize(
    ("function", "fences"),
    [
        pytest.param(lambda A, B: jnp.tanh(A @ B), 0, id="one product"),
        pytest.param(lambda A, B: A @ (2 * (A @ B).T - 1), 1, id="a product of a product"),
        pytest.param(lambda A, B: A @ jax.nn.relu(A @ B), 1, id="through a call"),
        pytest.param(lambda A, B: A @ jnp.tanh(A @ B), 0, id="what is costly is kept anyway"),
        pytest.param(lambda A, B: (A @ B - 1, (A @ B - 1) ** 2), 0, id="two products"),
        pytest.param(lambda A, B: (lambda R: (R, R**2))(A @ B - 1), 1, id="one used twice"),
        pytest.param(
            lambda A, B: jax.jit(lambda R: (R, R**2))(A @ B - 1), 1, id="one used twice in a call"
        ),
        pytest.param(lambda A, B: (lambda R: (R, R & 1))(A @ B > 0), 1, id="a mask used twice"),
        pytest.param(
            lambda A, B: jax.lax.scan(lambda x, _: (A @ x, None), B, length=3)[0], 0, id="a loop"
        ),
        pytest.param(
            lambda A, B: jax.lax.scan(lambda x, b: (A @ x + b, x[0] * b), B, B.T),
            0,
            id="a loop with all kinds of operands",
        ),
    ],
)
def test_a_sum_is_not_computed_again_for_each_of_its_uses(function, fences):
    A, B = _draw((3, 4, 4), (3, 4, 4))
    function = jax.vmap(function)
    assert _fences(function, A, B) == fences
    for found, expected in zip(
        jax.tree.leaves(rewritten(function)(A, B)), jax.tree.leaves(function(A, B)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "numbers"),
    [
        pytest.param(((2, 4, 40), (2, 40)), (((2,), (1,)), ((0,), (0,))), id="many terms"),
        pytest.param(((2, 90, 4), (2, 4, 90)), (((2,), (1,)), ((0,), (0,))), id="large"),
        pytest.param(((2, 4, 4), (4, 4)), (((2,), (0,)), ((), ())), id="no lane axis"),
    ],
)
def test_others_stay_as_they_are(shapes, numbers):
    arrays = _draw(*shapes)

    def product(a, b):
        return jax.lax.dot_general(a, b, numbers)

    assert _products(rewritten(product), *arrays) == 1


def test_descend_sums_the_products_of_a_plain_loss():
    W, x, y = _draw((5, 6, 6), (5, 6), (5, 6))

    def loss(W):
        return jnp.mean((jax.vmap(lambda u: jnp.tanh(W @ jnp.tanh(W @ u)))(x) - y) ** 2)

    found = descend(Lanes(W), loss, optax.sgd(0.1), stop=Stop(20), progress=False)

    def by_hand(W):
        for _ in range(20):
            W = W - 0.1 * jax.grad(loss)(W)
        return W

    np.testing.assert_allclose(found.model.tree, jax.vmap(by_hand)(W), rtol=1e-3, atol=1e-4)


def test_blocks_that_follow_each_other_do_what_looked_up_ones_do():
    W, x = _draw((130, 6, 6), (5, 6))
    W = W.at[77].multiply(1e30)  # one lane diverges

    def loss(W):
        return jnp.mean((x @ W.T) ** 2)

    def train(stop):
        return descend(Lanes(W), loss, optax.adam(1e-2), stop=stop, progress=False)

    even, looked_up = train(Stop(70)), train(Stop(70, loss=-1.0))  # a goal that is never met
    assert even.outcomes == looked_up.outcomes == {"stopped": 129, "diverged": 1}
    np.testing.assert_allclose(even.loss, looked_up.loss, rtol=1e-4)
    np.testing.assert_array_equal(even.steps, looked_up.steps)
