"""DeepFactorisation against NumPy, under transformations, at small scales, and its refusals."""

import itertools
import math
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.models import DeepFactorisation

SIZES = [(2, 2), (2, 2, 2), (3, 2, 4), (2, 3, 3, 1), (5, 6, 4, 3, 5), (7, 9, 8, 7), (20, 12, 20)]


def draw(sizes, *, seed=0, scale=0.7, dtype=np.float64) -> DeepFactorisation:
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    return DeepFactorisation([rng.normal(0, scale, shape).astype(dtype) for shape in shapes])


def numpy_product(factors):
    product = np.eye(np.asarray(factors[0]).shape[1])
    for factor in factors:
        product = np.asarray(factor, np.float64) @ product
    return product


@pytest.mark.parametrize("sizes", SIZES)
def test_product_and_spectra_agree_with_numpy(sizes):
    model = draw(sizes)
    assert model.depth == len(sizes) - 1
    assert model.sizes == sizes
    product = numpy_product(model.factors)
    scale = np.linalg.norm(product)
    np.testing.assert_allclose(model.product(), product, rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(
        model.product_singular_values(),
        np.linalg.svd(product, compute_uv=False),
        rtol=0,
        atol=1e-14 * scale,
    )
    for found, factor in zip(model.factor_singular_values(), model.factors, strict=True):
        np.testing.assert_allclose(found, np.linalg.svd(factor, compute_uv=False), atol=1e-14)
    gaps = [
        np.linalg.norm(outer.T @ outer - inner @ inner.T)
        for inner, outer in itertools.pairwise(np.asarray(factor) for factor in model.factors)
    ]
    np.testing.assert_allclose(model.balancedness(), max(gaps, default=0), rtol=1e-13)


@pytest.mark.parametrize("sizes", SIZES)
def test_pullback_is_the_transposed_derivative(sizes):
    model = draw(sizes)
    cotangent = np.random.default_rng(1).normal(size=(sizes[-1], sizes[0]))
    product, pullback = model.product_and_pullback()
    gradient = pullback(cotangent)
    assert jax.tree.structure(gradient) == jax.tree.structure(model)
    factors = [np.asarray(factor) for factor in model.factors]
    for i, found in enumerate(gradient.factors):
        after = numpy_product([np.eye(sizes[i + 1]), *factors[i + 1 :]])
        before = numpy_product([np.eye(sizes[0]), *factors[:i]])
        expected = after.T @ cotangent @ before.T
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_allclose(product, model.product(), rtol=1e-13)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    depth=st.integers(2, 5),
    log_ratio=st.floats(-30, 0),
    rows=st.sampled_from([3, 4]),
    seed=st.integers(0, 100),
)
def test_balanced_spectra_keep_what_the_svd_of_the_product_loses(depth, log_ratio, rows, seed):
    """A balanced chain U_{l+1} S U_lᵀ with a singular value of the product far below 1e-16."""
    rng = np.random.default_rng(seed)
    values = np.array([2.0, 1.0, 10.0 ** (log_ratio / depth)])
    bases = [np.linalg.qr(rng.normal(size=(rows, rows)))[0][:, :3] for _ in range(depth + 1)]
    model = DeepFactorisation([bases[i + 1] * values @ bases[i].T for i in range(depth)])
    assert float(model.balancedness()) < 1e-14
    found = np.asarray(model.product_singular_values(balanced=True))
    assert found.shape == (rows,)
    # A factor's small singular values are good to 1e-16 absolute.
    np.testing.assert_allclose(found[:3], values**depth, rtol=depth * 2e-15 / values[2])
    plain = np.asarray(model.product_singular_values())
    np.testing.assert_allclose(plain[:3], values**depth, atol=1e-14 * 2.0**depth, rtol=0)


def test_a_bottleneck_leaves_zero_singular_values():
    model = draw((5, 2, 4))
    assert model.product_singular_values(balanced=True).shape == (4,)
    np.testing.assert_array_equal(model.product_singular_values(balanced=True)[2:], 0)


@pytest.mark.parametrize("ratio", [1.0, 2.5, 1e10, math.inf])
def test_coupled_family(ratio):
    model = DeepFactorisation.coupled(4, 3, scale=0.3, ratio=ratio)
    expected = np.full((4, 4), 0.3 / ratio)
    np.fill_diagonal(expected, 0.3)
    assert model.depth == 3
    for factor in model.factors:
        np.testing.assert_array_equal(factor, expected)
    assert float(model.balancedness()) == 0
    first = (0.3 * (1 + 3 / ratio)) ** 3
    np.testing.assert_allclose(model.product_singular_values()[0], first, rtol=1e-14)


def test_random_entries_have_the_stated_scale_and_depend_on_the_key():
    model = DeepFactorisation.random((50, 60, 70), scale=0.01, key=jax.random.key(3))
    assert [factor.shape for factor in model.factors] == [(60, 50), (70, 60)]
    for factor in map(np.asarray, model.factors):
        assert factor.dtype == np.float64
        assert abs(np.std(factor) / 0.01 - 1) < 0.05
        assert abs(np.mean(factor)) < 0.01 * 0.06
    first, second = (np.asarray(factor).ravel()[:50] for factor in model.factors)
    assert not np.array_equal(first, second)
    again = DeepFactorisation.random((50, 60, 70), scale=0.01, key=jax.random.key(3))
    assert eqx.tree_equal(model, again)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_goes_through(dtype):
    model = draw((3, 3, 3), dtype=dtype)
    product, pullback = model.product_and_pullback()
    for array in (
        product,
        *pullback(product).factors,
        *model.factor_singular_values(),
        model.product_singular_values(),
        model.product_singular_values(balanced=True),
        model.balancedness(),
        *DeepFactorisation.coupled(3, 2, scale=0.1, ratio=3, dtype=dtype).factors,
        *DeepFactorisation.random((2, 2), scale=1, dtype=dtype, key=jax.random.key(0)).factors,
    ):
        assert array.dtype == dtype
    assert model.dtype == dtype


def test_made_and_used_inside_transformations():
    def spectrum(key, scale, ratio):
        drawn = DeepFactorisation.random((2, 2, 2), scale=scale, key=key)
        family = DeepFactorisation.coupled(2, 2, scale=scale, ratio=ratio)
        return drawn.product_singular_values(), family.product_singular_values(balanced=True)

    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 4)
        scales, ratios = jnp.asarray([1.0, 0.1, 1e-3, 1e-5]), jnp.asarray([1, 2, 1e6, jnp.inf])
        drawn, family = jax.jit(jax.vmap(spectrum))(keys, scales, ratios)
        for i in range(4):
            alone = spectrum(keys[i], float(scales[i]), float(ratios[i]))
            np.testing.assert_allclose(drawn[i], alone[0], rtol=1e-12)
            np.testing.assert_allclose(family[i], alone[1], rtol=1e-12, atol=1e-30)


def test_lanes_of_models_know_their_sizes():
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 5)
        lanes = eqx.filter_vmap(
            lambda key: DeepFactorisation.random((4, 2, 3), scale=1.0, key=key)
        )(keys)
    assert lanes.sizes == (4, 2, 3)
    assert lanes.depth == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DeepFactorisation([]), ["factors", "none"]),
        (
            lambda: DeepFactorisation([np.ones((2, 3)), np.ones((2, 3))]),
            ["factors[1]", "2 columns"],
        ),
        (lambda: DeepFactorisation([np.ones(3)]), ["factors[0]", "(3,)"]),
        (lambda: DeepFactorisation([np.ones((0, 3))]), ["factors[0]", "empty"]),
        (lambda: DeepFactorisation([[[1.0, np.nan]]]), ["factors[0]", "finite"]),
        (lambda: DeepFactorisation([[[1j]]]), ["factors[0]", "real"]),
        (
            lambda: DeepFactorisation([np.ones((2, 2)), np.ones((2, 2), np.float32)]),
            ["factors[1]", "float64", "float32"],
        ),
        (
            lambda: DeepFactorisation.random((2,), scale=1.0, key=jax.random.key(0)),
            ["sizes", "two numbers"],
        ),
        (
            lambda: DeepFactorisation.random((2, 0), scale=1.0, key=jax.random.key(0)),
            ["sizes[1]", "0"],
        ),
        (
            lambda: DeepFactorisation.random((2, 2), scale=-1.0, key=jax.random.key(0)),
            ["scale", "-1"],
        ),
        (lambda: DeepFactorisation.coupled(0, 2, scale=1.0, ratio=2.0), ["size", "0"]),
        (lambda: DeepFactorisation.coupled(2, 0, scale=1.0, ratio=2.0), ["depth", "0"]),
        (lambda: DeepFactorisation.coupled(2, 2, scale=0.0, ratio=2.0), ["scale", "0.0"]),
        (lambda: DeepFactorisation.coupled(2, 2, scale=1.0, ratio=0.5), ["ratio", "0.5", "inf"]),
        (
            lambda: DeepFactorisation.coupled(2, 2, scale=1.0, ratio=2.0, dtype=np.int32),
            ["dtype", "int32"],
        ),
    ],
)
def test_refusals_name_argument_value_and_remedy(make, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
