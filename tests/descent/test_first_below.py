"""The first step below a fraction of the first loss, against the losses themselves."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import FirstBelow, Lanes, Record, Stop, descend


def square(x):
    return jnp.sum(x**2)


def test_it_sees_every_step_and_changes_nothing():
    starts = Lanes.stack([np.array([1.0]), np.array([3.0])])
    plain, watched = (
        descend(starts, square, method, stop=Stop(60), rate=rates, record=Record([0, 7, 60]))
        for rates in ([0.05, 0.001],)
        for method in (optax.sgd(1.0), FirstBelow(optax.sgd(1.0), fraction=0.05))
    )
    np.testing.assert_array_equal(plain.loss, watched.loss)
    # The loss falls by (1 − 2 rate)² a step: below 5% at step 15 with 0.05, never with 0.001.
    expected = np.ceil(np.log(0.05) / (2 * np.log(0.9)))
    np.testing.assert_array_equal(
        watched.records["first_below"], [[np.inf, np.inf, expected], [np.inf] * 3]
    )


def test_a_fraction_beyond_one_is_refused():
    with pytest.raises(ValueError, match=r"fraction: received 1.0, it must lie between 0 and 1"):
        FirstBelow(optax.sgd(1.0), fraction=1.0)
