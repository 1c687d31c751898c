"""Tell which of two pulses, a random delay apart, was the larger."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task, within


@final
@dataclass(frozen=True, kw_only=True)
class Romo(Task):
    """Two pulses of different height on one channel; output 0.5 on channel 1 or 2, the larger's.

    With dt = 0.5, in steps, d = floor(U(2, 8)/dt) (4 to 15):

        step      0      6    8         8+d   10+d            20+d            40+d     56
        input     ______▔▔▔▔▔▔__________▔▔▔▔▔▔__________________________________________
        mask      ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔________________▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔_________
        target                 0                     free      0.5 on one, 0 on the other

    Heights are U(0.5, 1.5), both redrawn when closer than 0.2. Trials have 56 steps (T = 28), as in
    the paper's public code; its Table S1 says 30.
    """

    inputs: ClassVar[int] = 1
    outputs: ClassVar[int] = 2

    duration: float = 28.0
    fixation: float = 3.0
    pulse: float = 1.0
    shortest: float = 2.0
    longest: float = 8.0
    delay: float = 5.0
    response: float = 10.0
    lowest: float = 0.5
    highest: float = 1.5
    gap: float = 0.2
    amplitude: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gap < self.highest - self.lowest:
            raise ValueError(
                f"gap: received {self.gap!r}, it must lie in [0, highest − lowest = "
                f"{self.highest - self.lowest:g})"
            )
        needed = self.fixation + 2 * self.pulse + self.longest + self.delay + self.response
        if self.duration < needed - self.dt:
            raise ValueError(
                f"duration: received {self.duration!r}, it must hold the longest trial, "
                f"{needed - self.dt:g}"
            )

    @property
    def steps(self) -> int:
        """56 with dt = 0.5."""
        return self._count(self.duration)

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        delay_key, apart_key, lower_key, order_key = jax.random.split(key, 4)
        waited = jax.random.uniform(delay_key, (), dtype, self.shortest, self.longest)
        first, pulse = self._count(self.fixation), self._count(self.pulse)
        second = first + pulse + jnp.floor(waited / self.dt).astype(np.int32)
        answer = second + pulse + self._count(self.delay)
        # Redrawing until the heights differ enough leaves a distance with P(> x) ∝ (range − x)²,
        # and the lower height uniform given it: drawn so in one go.
        span = self.highest - self.lowest
        share = jax.random.uniform(apart_key, (), dtype)
        apart = span - (span - self.gap) * jnp.sqrt(share)
        low = self.lowest + (span - apart) * jax.random.uniform(lower_key, (), dtype)
        larger = jax.random.bernoulli(order_key).astype(np.int32)
        heights = low + apart * jax.nn.one_hot(larger, 2, dtype=dtype)
        place = jnp.arange(self.steps, dtype=np.int32)
        shown = [within(place, onset, pulse).astype(dtype) for onset in (first, second)]
        drive = heights[0] * shown[0] + heights[1] * shown[1]
        respond = within(place, answer, self._count(self.response)).astype(dtype)
        mask = jnp.maximum((place < second + pulse).astype(dtype), respond)
        target = self.amplitude * respond[:, None] * jax.nn.one_hot(larger, 2, dtype=dtype)
        return drive[:, None], target, mask
