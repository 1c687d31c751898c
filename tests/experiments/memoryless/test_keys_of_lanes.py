"""Keys of the lanes of memoryless: one for each seed and each purpose."""

import jax
import numpy as np

from tacit.experiments.memoryless.lengths import _keys
from tacit.sweep import Batch


def test_every_seed_and_every_purpose_has_a_key_of_its_own():
    batch = Batch(0, tuple({"seed": seed, "start": 1.0} for seed in (0, 3, 0)))
    starts, data = (np.asarray(jax.random.key_data(_keys(batch, n))) for n in (0, 2))
    np.testing.assert_array_equal(starts[0], starts[2])  # the seed alone decides
    assert len({tuple(key) for key in (*starts, *data)}) == 4
