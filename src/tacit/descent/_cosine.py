"""A learning rate that falls to zero along half a cosine."""

import math
from collections.abc import Callable

import jax.numpy as jnp

from tacit._doors import door, number, whole
from tacit._types import Array


@door(rate=number(), steps=whole(1))
def cosine(rate: float, steps: int) -> Callable[[Array], Array]:
    """The schedule rate · (1 + cos(π t/steps))/2 for Optax's methods, zero from `steps` on.

    Optax's own is another function after its first call than before it, so that `descend` would
    compile every program twice.
    """
    if steps < 1:
        raise ValueError(f"steps: received {steps!r}, it must be at least 1; give the budget")

    def schedule(count: Array) -> Array:
        return 0.5 * rate * (1 + jnp.cos(math.pi * jnp.minimum(count, steps) / steps))

    return schedule
