"""Go on oscillating after one kick."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, number
from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task


@final
@dataclass(frozen=True, kw_only=True)
class Cosine(Task):
    """One pulse of area 1 at the start, then nothing; the output is to be cos 2πft.

    With dt = 0.1, in steps:

        step      0 1                      100                      200
        input     ▔▔_________________________________________________   height 1/dt
        mask      ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔__________________________
        target    cos(2πf · step · dt), f = 0.2: four periods

    The loss is active on the first `periods` periods: two, as in the paper's public code. Its text
    does not say; four are the whole trial.

    The first update puts the network at W_i, so that with one unit vector for input and output a
    linear network begins at the target, 1. Nothing is random.
    """

    inputs: ClassVar[int] = 1
    outputs: ClassVar[int] = 1

    dt: float = 0.1
    duration: float = 20.0
    frequency: float = 0.2
    periods: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, duration=number(above=0), frequency=number(above=0))
        if not self.periods > 0 or self.counted < 1:
            raise ValueError(
                f"periods: received {self.periods!r}, there must be a step on which the loss is "
                "active; give 2.0 for the first two periods"
            )

    @property
    def counted(self) -> int:
        """Steps on which the loss is active: 100 with dt = 0.1."""
        return min(self.steps, self._count(self.periods / self.frequency))

    @property
    def steps(self) -> int:
        """200 with dt = 0.1."""
        return self._count(self.duration)

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        place = jnp.arange(self.steps, dtype=np.int32)
        drive = (place == 0).astype(dtype) / self.dt
        target = jnp.cos(2 * math.pi * self.frequency * self.dt * place.astype(dtype))
        return drive[:, None], target[:, None], (place < self.counted).astype(dtype)
