"""The hand-written gradient against automatic differentiation, and the same bits in any batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric


def ours(A, B, C, length):
    return LinearRNN(Dense(A), B, C).impulse_response(length)


def naive(A, B, C, length):
    states = [B]
    for _ in range(length - 1):
        states.append(A @ states[-1])
    return jnp.stack([C @ state for state in states])


def draw(lanes, width, inputs, outputs):
    rng = np.random.default_rng(0)
    shapes = ((lanes, width, width), (lanes, width, inputs), (lanes, outputs, width))
    return [jnp.asarray(rng.normal(size=shape) / np.sqrt(width)) for shape in shapes]


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype == np.float64
        assert np.max(np.abs(x - y)) <= 1e-12 * np.max(np.abs(y))


@pytest.mark.parametrize(
    ("width", "inputs", "outputs", "length"),
    [(7, 1, 1, 12), (7, 3, 2, 9), (4, 1, 2, 5), (3, 1, 1, 1)],
)
def test_gradient_is_that_of_automatic_differentiation(width, inputs, outputs, length):
    with jax.enable_x64(True):
        parameters = draw(5, width, inputs, outputs)
        weights = jnp.asarray(np.random.default_rng(1).normal(size=(length, outputs, inputs)))

        def loss(response):
            return lambda *p: jnp.sum(weights * response(*p, length) ** 2)

        @jax.jit
        @jax.vmap
        def both(*p):
            return [
                [response(*p, length), *jax.grad(loss(response), (0, 1, 2))(*p)]
                for response in (ours, naive)
            ]

        close(*both(*parameters))


def test_jacobian_and_hessian_are_available():
    with jax.enable_x64(True):
        parameters = [p[0] for p in draw(1, 4, 1, 1)]

        @jax.jit
        def both(*p):
            return [
                [
                    *jax.jacrev(response, (0, 1, 2))(*p, 4),
                    jax.hessian(lambda A, r=response: jnp.sum(r(A, *p[1:], 4) ** 2))(p[0]),
                ]
                for response in (ours, naive)
            ]

        close(*both(*parameters))


@pytest.mark.parametrize(
    ("kind", "balanced"),
    [(Diagonal, True), (ConjugatePairs, False), (Symmetric, True), (Dense, False)],
)
def test_gradient_in_the_parameters_of_every_kind(kind, balanced):
    model = LinearRNN.random(kind, 6, scale=0.5, balanced=balanced, key=jax.random.key(0))

    def by_matrix(model):
        A = model.transition.matrix()
        return jnp.sum(naive(A, model.input_map, model.output_map, 8) ** 3)

    with jax.enable_x64(True):
        found = jax.jit(jax.grad(lambda m: jnp.sum(m.impulse_response(8) ** 3)))(model)
        expected = jax.jit(jax.grad(by_matrix))(model)
    close(jax.tree.leaves(found), jax.tree.leaves(expected))


@pytest.mark.bits
@pytest.mark.parametrize(
    ("kind", "channels", "dtype", "sizes"),
    [
        (Dense, 1, np.float64, (8, 1)),
        (Dense, 1, np.float32, (1,)),
        (Symmetric, 1, np.float64, (1,)),
        (Diagonal, 1, np.float64, (8, 1)),
        (Diagonal, 2, np.float64, (1,)),
        (Dense, 2, np.float64, (8,)),  # alone, its matrices are multiplied by another routine
    ],
)
def test_a_model_has_the_same_bits_in_any_batch(kind, channels, dtype, sizes):
    def start(key):
        return LinearRNN.random(
            kind, 40, inputs=channels, outputs=channels, scale=0.1, dtype=dtype, key=key
        )

    def loss(model):
        return jnp.sum((model.impulse_response(20) - 1) ** 2)

    def step(_, model):
        gradient = jax.grad(loss)(model)
        return jax.tree.map(lambda p, g: p - p.dtype.type(1e-3) * g, model, gradient)

    @jax.jit
    def descend(models):
        return jax.vmap(lambda model: jax.lax.fori_loop(0, 20, step, model))(models)

    with jax.enable_x64(True):
        models = jax.vmap(start)(jax.random.split(jax.random.key(0), 48))
        together = jax.tree.leaves(descend(models))
        for size in sizes:
            few = descend(jax.tree.map(lambda leaf, size=size: leaf[:size], models))
            for x, y in zip(jax.tree.leaves(few), together, strict=True):
                assert x.dtype == dtype
                np.testing.assert_array_equal(x, y[:size])
