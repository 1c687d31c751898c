"""MatrixCompletion: its gradient against autodiff and NumPy, its bits, precision and refusals."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.descent import Lanes, Stop, descend
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern, low_rank_matrix


def draw(sizes, *, seed=0, share=0.6, scale=0.7, dtype=np.float64):
    rng = np.random.default_rng(seed)
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    model = DeepFactorisation([rng.normal(0, scale, shape).astype(dtype) for shape in shapes])
    mask = rng.random((sizes[-1], sizes[0])) < share
    mask[0, 0] = True
    target = rng.normal(size=mask.shape).astype(dtype)
    return model, MatrixCompletion(target, mask)


autodiff = jax.jit(lambda problem, model: jax.value_and_grad(problem.loss)(model))


# Few shapes, since each compiles; many values.
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    sizes=st.sampled_from(
        [(3, 2), (2, 2, 2), (2, 2, 2, 2, 2), (3, 1, 4), (3, 3, 3, 3), (6, 5, 2, 6), (8, 3, 7)]
    ),
    seed=st.integers(0, 1000),
    share=st.floats(0, 1),
    scale=st.sampled_from([1e-3, 0.7, 10.0]),
)
def test_gradient_is_that_of_autodiff(sizes, seed, share, scale):
    model, problem = draw(sizes, seed=seed, share=share, scale=scale)
    with jax.enable_x64(True):
        expected = autodiff(problem, model)
    loss, gradient = problem.loss_and_gradient(model)
    np.testing.assert_allclose(loss, expected[0], rtol=1e-14)
    size = max(np.abs(np.asarray(leaf)).max() for leaf in expected[1].factors)
    for found, wanted in zip(gradient.factors, expected[1].factors, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("sizes", [(3, 2), (2, 3, 2), (3, 2, 4, 3), (8, 3, 7)])
def test_jacobian_is_that_of_autodiff(sizes):
    """Of every residual by every entry, those of entries that are not observed zero."""
    model, problem = draw(sizes)
    residuals, jacobian = problem.residuals_and_jacobian(model)
    np.testing.assert_allclose(residuals, problem.residuals(model), rtol=1e-14)
    with jax.enable_x64(True):
        expected = jax.jacrev(problem.residuals)(model)
    assert jax.tree.structure(jacobian) == jax.tree.structure(model)
    for found, wanted in zip(jacobian.factors, expected.factors, strict=True):
        assert found.shape == wanted.shape
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 3, 3), (10, 7, 11), (30, 30, 30)])
def test_loss_residuals_and_gradient_by_hand(sizes):
    model, problem = draw(sizes)
    factors, target = [np.asarray(w) for w in model.factors], np.asarray(problem.target)
    observed = np.argwhere(np.asarray(problem.mask))

    def loss(factors):
        product = np.linalg.multi_dot(factors[::-1]) if len(factors) > 1 else factors[0]
        return 0.5 * sum((product[i, j] - target[i, j]) ** 2 for i, j in observed)

    np.testing.assert_allclose(problem.loss(model), loss(factors), rtol=1e-13)
    residuals = np.asarray(problem.residuals(model))
    np.testing.assert_allclose(np.sum(residuals**2), loss(factors), rtol=1e-13)
    assert np.count_nonzero(residuals) == len(observed)
    # A central difference along a direction: independent of any gradient code.
    rng, h = np.random.default_rng(5), 1e-6
    step = [rng.normal(size=w.shape) for w in factors]
    ahead = loss([w + h * s for w, s in zip(factors, step, strict=True)])
    behind = loss([w - h * s for w, s in zip(factors, step, strict=True)])
    _, gradient = problem.loss_and_gradient(model)
    slope = sum(np.sum(np.asarray(g) * s) for g, s in zip(gradient.factors, step, strict=True))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-6)


def test_gradient_of_100_by_100_against_numpy():
    model, problem = draw((100, 100, 100, 100), share=0.2, scale=0.1)
    w1, w2, w3 = (np.asarray(w) for w in model.factors)
    error = np.where(problem.mask, w3 @ w2 @ w1 - np.asarray(problem.target), 0)
    loss, gradient = problem.loss_and_gradient(model)
    np.testing.assert_allclose(loss, 0.5 * np.sum(error**2), rtol=1e-13)
    expected = (w2.T @ w3.T @ error, w3.T @ error @ w1.T, error @ w1.T @ w2.T)
    for found, wanted in zip(gradient.factors, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def lanes_of(sizes, count):
    models, problems = zip(*(draw(sizes, seed=i) for i in range(count)), strict=True)
    return Lanes.stack(models), Lanes.stack(problems)


@pytest.mark.bits
@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ((2, 2, 2), (1, 2, 7, 64)),
        ((2, 2, 2, 2), (1, 7)),
        ((3, 3, 3, 3), (1, 7)),
        ((5, 6, 5), (1, 7)),
        ((9, 9, 9), (2, 7)),  # dots: a batch of one is another program
    ],
)
def test_a_lane_has_the_same_bits_in_any_batch(sizes, batches):
    models, problems = lanes_of(sizes, 65)

    @jax.jit
    def fifty_steps(models, problems):
        def step(_, state):
            models, total = state
            loss, gradient = jax.vmap(lambda p, m: p.loss_and_gradient(m))(problems, models)
            return jax.tree.map(lambda w, g: w - 0.01 * g, models, gradient), total + loss

        total = jnp.zeros_like(models.factors[0][:, 0, 0])
        return jax.lax.fori_loop(0, 50, step, (models, total))

    with jax.enable_x64(True):
        whole = fifty_steps(models.tree, problems.tree)
        for count in batches:
            part = fifty_steps(
                *jax.tree.map(lambda leaf, count=count: leaf[:count], (models.tree, problems.tree))
            )
            for few, all_of_them in zip(jax.tree.leaves(part), jax.tree.leaves(whole), strict=True):
                np.testing.assert_array_equal(few, all_of_them[:count])


def test_descent_uses_it_with_lanes_of_patterns():
    """Rank-one targets, diagonal and column observed side by side, plain descent to zero loss."""
    target = np.outer([1.0, -0.5], [0.8, 1.2])
    problems = [
        MatrixCompletion(target, Pattern.diagonal(2)),
        MatrixCompletion(target, Pattern.column(2, 2)),
    ]
    models = [
        DeepFactorisation.random((2, 2, 2), scale=0.3, key=jax.random.key(i)) for i in range(2)
    ]
    result = descend(
        Lanes.stack(models),
        Lanes.stack(problems),
        optax.sgd(0.1),
        stop=Stop(20_000, loss=1e-20),
        progress=False,
    )
    assert list(result.outcome) == ["converged", "converged"]
    for i in range(2):
        first, second = (np.asarray(factor)[i] for factor in result.model.tree.factors)
        error = np.where(problems[i].mask, second @ first - target, 0)
        np.testing.assert_allclose(error, 0, atol=1e-9)


def test_entries_that_are_not_observed_play_no_part():
    model, problem = draw((3, 3, 3))
    hole = np.where(problem.mask, np.asarray(problem.target), np.nan)
    with_hole = MatrixCompletion(hole, ~np.isnan(hole))
    assert float(with_hole.loss(model)) == float(problem.loss(model))
    assert eqx.tree_equal(with_hole.loss_and_gradient(model), problem.loss_and_gradient(model))
    with jax.enable_x64(True):
        automatic = jax.grad(lambda m: with_hole.loss(m))(model)
    assert all(np.isfinite(leaf).all() for leaf in automatic.factors)
    expected = 0.5 * np.nansum(hole**2)
    np.testing.assert_allclose(with_hole.zero_loss(), expected, rtol=1e-14)


def test_low_rank_matrix():
    matrix = low_rank_matrix(30, 20, rank=5, key=jax.random.key(0))
    assert matrix.shape == (30, 20)
    assert matrix.dtype == np.float64
    assert np.linalg.matrix_rank(np.asarray(matrix)) == 5
    with jax.enable_x64(True):
        many = jax.vmap(lambda key: low_rank_matrix(2, 2, key=key))(
            jax.random.split(jax.random.key(1), 4000)
        )
        # An entry u v of a rank-one matrix has mean 0 and variance 1.
        np.testing.assert_allclose(jnp.mean(many), 0, atol=0.05)
        np.testing.assert_allclose(jnp.var(many), 1, atol=0.15)
    with pytest.raises(ValueError, match=r"rank: received 0.*must be at least 1"):
        low_rank_matrix(2, 2, rank=0, key=jax.random.key(0))


def test_precision_under_the_defaults_of_jax():
    assert not jax.config.jax_enable_x64
    model = DeepFactorisation.random((3, 3, 3, 3), scale=0.7, key=jax.random.key(0))
    target = low_rank_matrix(3, 3, key=jax.random.key(1))
    problem = MatrixCompletion(target, Pattern.diagonal(3))
    loss, gradient = problem.loss_and_gradient(model)
    w1, w2, w3 = (np.asarray(w) for w in model.factors)
    error = np.diag(np.diag(w3 @ w2 @ w1 - np.asarray(target)))
    by_hand = (w2.T @ w3.T @ error, w3.T @ error @ w1.T, error @ w1.T @ w2.T)
    for found, wanted in zip(gradient.factors, by_hand, strict=True):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)
    assert loss.dtype == problem.loss(model).dtype == problem.residuals(model).dtype == np.float64
    np.testing.assert_allclose(loss, 0.5 * np.sum(error**2), rtol=1e-14)
    narrow = DeepFactorisation.random((2, 2, 2), scale=0.7, dtype=np.float32, key=jax.random.key(0))
    target = low_rank_matrix(2, 2, dtype=np.float32, key=jax.random.key(1))
    small = MatrixCompletion(target, Pattern.column(2, 2))
    loss, gradient = small.loss_and_gradient(narrow)
    assert {loss.dtype, *(w.dtype for w in gradient.factors)} == {np.dtype("float32")}
    family = DeepFactorisation.coupled(3, 4, scale=1e-3, ratio=100.0)
    values = family.product_singular_values(balanced=True)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values[1:], (1e-3 * 0.99) ** 4, rtol=1e-12)
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MatrixCompletion(np.ones(3), np.ones((3, 3), bool)), ["target", "(3,)"]),
        (
            lambda: MatrixCompletion(np.ones((2, 2), complex), Pattern.diagonal(2)),
            ["target", "real"],
        ),
        (
            lambda: MatrixCompletion(np.ones((2, 2)), Pattern.diagonal(3)),
            ["observed", "(2, 2)", "(3, 3)"],
        ),
        (
            lambda: MatrixCompletion([[1.0, np.nan]], [[True, True]]),
            ["target", "(0, 1)", "observed"],
        ),
        (lambda: MatrixCompletion(np.ones((2, 2)), np.zeros((2, 2))), ["at least one"]),
        (lambda: MatrixCompletion(np.ones((2, 2)), np.full((2, 2), 0.5)), ["booleans", "isnan"]),
        (
            lambda: MatrixCompletion(np.ones((2, 2)), Pattern.diagonal(2)).loss(
                DeepFactorisation([np.ones((2, 3))])
            ),
            ["model", "(2, 2)", "(2, 3)", "(3, 2)"],
        ),
        (
            lambda: MatrixCompletion(np.ones((2, 2)), Pattern.diagonal(2)).loss_and_gradient(
                DeepFactorisation([np.ones((2, 2), np.float32)])
            ),
            ["model", "float64", "float32"],
        ),
    ],
)
def test_refusals_name_argument_value_and_remedy(make, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
