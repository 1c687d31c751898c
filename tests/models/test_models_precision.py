"""Models keep the precision of their parameters under JAX's own settings, in a fresh process."""

import subprocess
import sys
from pathlib import Path

import tacit

SCRIPT = """
import jax, numpy as np
from tacit.models import ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric

key = jax.random.key(0)
assert np.asarray(Diagonal([0.5, 1]).diagonal).dtype == np.float64
for dtype in (np.float64, np.float32):
    wide = np.result_type(dtype, np.complex64)
    kinds = (Diagonal, ConjugatePairs, Symmetric, Dense) if dtype is np.float64 else (Dense,)
    for kind in kinds:
        balanced = kind is Dense
        model = LinearRNN.random(kind, 4, scale=0.2, balanced=balanced, dtype=dtype, key=key)
        A = model.transition
        state = A.matrix()
        found = dict(
            parameters=jax.tree.leaves(model),
            maps=[model.input_map, model.output_map],
            transition=[state, A.apply(state), A.apply_transposed(state), A.krylov(state, 3)],
            response=model.impulse_response(5),
            jacobian=jax.tree.leaves(model.response_jacobian(3) if kind is Dense else []),
            simulate=model.simulate(np.ones((3, 1)), initial_state=np.ones(4)),
            radius=model.spectral_radius(),
            finite=model.hankel_singular_values(length=6),
            infinite=model.hankel_singular_values(),
            realised=jax.tree.leaves(
                LinearRNN.from_impulse_response(np.asarray(model.impulse_response(6)), 1)
            ),
            full=[Symmetric.from_matrix(np.eye(2, dtype=dtype)).matrix()],
        )
        for name, arrays in found.items():
            for leaf in jax.tree.leaves(arrays):
                assert leaf.dtype == dtype, (kind, name, leaf.dtype)
                assert isinstance(leaf, jax.Array), (kind, name)
        assert A.eigenvalues().dtype in (dtype, wide)
        exact = np.asarray(model.output_map) @ np.asarray(state) @ np.asarray(model.input_map)
        error = abs(float(model.impulse_response(2)[1, 0, 0]) - float(exact[0, 0]))
        assert error <= 8 * np.finfo(dtype).eps * 4 * 0.2**2
assert not jax.config.jax_enable_x64
assert jax.numpy.ones(1).dtype == np.float32
"""


def test_precision_under_the_defaults_of_jax(environment_in_short):  # dtypes, not bits
    environment = {
        name: value
        for name, value in environment_in_short.items()
        if not name.startswith("JAX_ENABLE_X64")
    }
    environment["PYTHONPATH"] = str(Path(tacit.__path__[0]).parent)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
