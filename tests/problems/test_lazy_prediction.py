"""What the kernel of the start says of many stacked models, where one of them has no answer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit.models import DiagonalSSM, LRURing
from tacit.problems import lazy_prediction, predict_lanes

LAGS, LENGTH = 36, 12
TARGET = np.sum(np.power.outer((0.9, 0.5, -0.6), np.arange(LAGS)), axis=0)
OVERFLOWS = 171  # its fit would move log γ by 183 in one mode: γ² overflows in the kernel there


def starts(*seeds):
    with jax.enable_x64(True):
        keys = [jax.random.fold_in(jax.random.key(2026), seed) for seed in seeds]
        return [DiagonalSSM.random(LRURing(0.4, 0.999), 8, scale=0.1, key=key) for key in keys]


def predicted(models):
    with jax.enable_x64(True):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
        rates = jax.tree.map(jnp.ones_like, stacked)
    n = len(models)
    return predict_lanes(stacked, rates, TARGET, np.full(n, LENGTH), np.zeros(n))


def test_a_lane_without_a_finite_change_is_nan_and_the_others_are_as_they_were():
    found = predicted(starts(170, OVERFLOWS, 172))
    np.testing.assert_array_equal(np.isnan(found.change), [False, True, False])
    for lane, model in ((0, starts(170)[0]), (2, starts(172)[0])):
        alone = lazy_prediction(model, TARGET, length=LENGTH)
        np.testing.assert_allclose(found.change[lane], alone.change, rtol=1e-6)
        np.testing.assert_allclose(found.response[lane], alone.response, rtol=1e-6, atol=1e-8)


def test_what_is_finite_in_that_lane_stays():
    found = predicted(starts(OVERFLOWS))
    fitted = found.response[0, :LENGTH, 0, 0]
    np.testing.assert_allclose(fitted, TARGET[:LENGTH], atol=1e-6)
    assert 1e3 < found.kappa[0] < 1e5
    assert np.isfinite(found.kernel).all()


def test_a_response_that_overflows_is_nan_as_a_whole():
    (good,) = starts(170)
    with jax.enable_x64(True):
        bad = eqx.tree_at(lambda m: m.C, good, good.C.at[0, 0, 0].set(1e200))
    found = predicted([good, bad])
    assert np.isfinite(found.response[0]).all()
    assert np.isnan(found.response[1]).all()
