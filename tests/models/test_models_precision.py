"""Models keep the precision of their parameters under JAX's own settings."""

import jax
import numpy as np
import pytest

from tacit.models import ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric


@pytest.fixture(autouse=True)
def _settings_of_jax():
    """They are its own, and stay so."""
    assert not jax.config.jax_enable_x64
    yield
    assert not jax.config.jax_enable_x64
    assert jax.numpy.ones(1).dtype == np.float32


# Each kind in each precision, and balanced in one of the two: each is a program to compile.
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [Diagonal, ConjugatePairs, Symmetric, Dense])
def test_every_part_has_the_precision_of_the_parameters(kind, dtype):
    wide = np.result_type(dtype, np.complex64)
    key = jax.random.key(0)
    balanced = (kind is Dense) == (dtype is np.float64) and kind is not ConjugatePairs
    model = LinearRNN.random(kind, 4, scale=0.2, balanced=balanced, dtype=dtype, key=key)
    A = model.transition
    state = A.matrix()
    found = {
        "parameters": model,
        "maps": [model.input_map, model.output_map],
        "transition": [state, A.apply(state), A.apply_transposed(state), A.krylov(state, 3)],
        "response": model.impulse_response(5),
        "jacobian": model.response_jacobian(3),
        "simulate": model.simulate(np.ones((3, 1)), initial_state=np.ones(4)),
        "radius": model.spectral_radius(),
        "finite": model.hankel_singular_values(length=6),
        "infinite": model.hankel_singular_values(),
    }
    for name, arrays in found.items():
        for leaf in jax.tree.leaves(arrays):
            assert leaf.dtype == dtype, name
            assert isinstance(leaf, jax.Array), name
    assert A.eigenvalues().dtype in (dtype, wide)
    exact = np.asarray(model.output_map) @ np.asarray(state) @ np.asarray(model.input_map)
    error = abs(float(found["response"][1, 0, 0]) - float(exact[0, 0]))
    assert error <= 8 * np.finfo(dtype).eps * 4 * 0.2**2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_models_made_of_arrays_have_their_precision(dtype):
    realised = LinearRNN.from_impulse_response(0.5 ** np.arange(6, dtype=dtype), 1)
    for leaf in (
        *jax.tree.leaves(realised),
        Symmetric.from_matrix(np.eye(2, dtype=dtype)).matrix(),
    ):
        assert leaf.dtype == dtype
        assert isinstance(leaf, jax.Array)
    assert np.asarray(Diagonal([0.5, 1]).diagonal).dtype == np.float64
