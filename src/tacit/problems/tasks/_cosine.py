"""Go on oscillating after one kick."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax.numpy as jnp
import numpy as np

from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task


@final
@dataclass(frozen=True, kw_only=True)
class Cosine(Task):
    """One pulse of area 1 at the start, then nothing; the output is to be cos 2πft.

    With dt = 0.1, in steps:

        step      0 1                                               200
        input     ▔▔_________________________________________________   height 1/dt
        mask      ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
        target    cos(2πf · step · dt), f = 0.2: four periods

    The first update puts the network at W_i, so that with one unit vector for input and output a
    linear network begins at the target, 1. Nothing is random.
    """

    inputs: ClassVar[int] = 1
    outputs: ClassVar[int] = 1

    dt: float = 0.1
    duration: float = 20.0
    frequency: float = 0.2

    @property
    def steps(self) -> int:
        """200 with dt = 0.1."""
        return self._count(self.duration)

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        place = jnp.arange(self.steps, dtype=np.int32)
        drive = (place == 0).astype(dtype) / self.dt
        target = jnp.cos(2 * math.pi * self.frequency * self.dt * place.astype(dtype))
        return drive[:, None], target[:, None], jnp.ones(self.steps, dtype)
