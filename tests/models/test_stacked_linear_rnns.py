"""Many linear RNNs at once are the same models one by one."""

import jax
import numpy as np
import pytest

from tacit.models import Dense, Diagonal, LinearRNN, impulse_responses, random_linear_rnns

KEYS = jax.random.split(jax.random.key(3), 4)


@pytest.mark.parametrize(("kind", "balanced"), [(Dense, False), (Diagonal, True)])
def test_stacked_models_are_single_ones(kind, balanced):
    scales = np.array([1e-3, 0.1, 0.2, 0.5])
    options = {"channels": 2, "balanced": balanced}
    models = random_linear_rnns(kind, 5, scale=scales, keys=KEYS, **options)
    responses = impulse_responses(models, 7)
    assert responses.shape == (4, 7, 2, 2)
    assert responses.dtype == np.float64
    for place, (scale, key) in enumerate(zip(scales, KEYS, strict=True)):
        one = LinearRNN.random(
            kind, 5, inputs=2, outputs=2, scale=float(scale), balanced=balanced, key=key
        )
        np.testing.assert_allclose(models.B[place], one.B, rtol=1e-14)
        np.testing.assert_allclose(responses[place], one.impulse_response(7), rtol=1e-12)


def test_scales_change_the_size_of_a_model_and_nothing_else():
    same = jax.numpy.stack([KEYS[0], KEYS[0]])
    models = random_linear_rnns(Dense, 4, scale=np.array([1e-5, 1e-1]), keys=same)
    small, large = np.asarray(models.B)
    np.testing.assert_allclose(large, 1e4 * small, rtol=1e-12)


def test_one_key_is_not_a_batch():
    with pytest.raises(ValueError, match="keys: received the shape"):
        random_linear_rnns(Dense, 4, scale=0.1, keys=KEYS[0])
