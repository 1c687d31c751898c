"""Keys for lanes that depend on each lane alone."""

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import PRNGKeyArray
from tacit.descent._lanes import Lanes


def lane_keys(stream: int, *numbers: np.ndarray) -> Lanes[PRNGKeyArray]:
    """A key for each lane from its own integers, such as its seed and its training length.

    It does not depend on the lanes beside it, so that a lane is the same in any batch.

    **Arguments:**

    - `stream`: what the key is for: starts and data, say, take keys of two streams.
    - `numbers`: arrays with an integer for each lane; they are folded in one after the other.
    """
    shapes = {np.shape(column) for column in numbers}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            f"numbers: received the shapes {sorted(shapes)}, give one integer for each lane"
        )
    columns = [jnp.asarray(column, jnp.int32) for column in numbers]

    def key_of(*own: jax.Array) -> PRNGKeyArray:
        key = jax.random.key(stream)
        for number in own:
            key = jax.random.fold_in(key, number)
        return key

    return Lanes(jax.vmap(key_of)(*columns))
