"""Measures keep the precision of their input under JAX's own settings."""

import jax
import numpy as np

from tacit import measures


def test_precision_under_the_defaults_of_jax():
    assert not jax.config.jax_enable_x64
    matrix = np.random.default_rng(0).normal(size=(3, 3))
    for dtype in (np.float64, np.float32):
        for move in (lambda x: x, jax.device_put):
            with jax.enable_x64(True):  # the settings under which a user made a float64 array
                A = move(matrix.astype(dtype))
                h, g, w = A[0], A[1], abs(A[0])
            found = [
                measures.singular_values(A),
                measures.effective_rank(A),
                measures.effective_rank_from_singular_values(w),
                measures.effective_rank_squared(A),
                measures.effective_rank_squared_from_singular_values(w),
                measures.stable_rank(A),
                measures.stable_rank_from_singular_values(w),
                measures.hankel(h),
                measures.hankel_singular_values(h),
                measures.extrapolation_error(h, g, start=1),
                measures.extrapolation_error(h, g, start=1, relative=True),
                measures.balancedness(A, A),
                measures.factor_balancedness([A, A]),
                measures.factor_balancedness([A]),
            ]
            in_jax = isinstance(A, jax.Array)
            for i, value in enumerate(found):
                assert value.dtype == (dtype if in_jax else np.float64), (i, value.dtype)
                assert isinstance(value, jax.Array) == in_jax, i
            assert measures.numerical_rank(A) == 3
            assert measures.numerical_rank_from_singular_values(w) == 3
    assert not jax.config.jax_enable_x64
