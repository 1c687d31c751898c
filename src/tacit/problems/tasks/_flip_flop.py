"""Remember the sign of the last pulse, and on which of two channels it came."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task, within


@final
@dataclass(frozen=True, kw_only=True)
class FlipFlop(Task):
    """Short pulses of ±1 on one of two channels; output ±0.5 on that channel, 0 on the other.

    With dt = 0.5, in steps:

        step      0   2   4           12                 onset'  +2         +10
        input     ____▔▔▔▔_______________________________▔▔▔▔▔▔▔▔________________
        mask      _____________________▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔___________________▔▔▔▔▔▔
        target          free           ±0.5 of this pulse      free        of the next

    onset' − onset = floor((U(5, 25) + 5)/dt): 20 to 59 steps. Channel and sign are fair coins.
    """

    inputs: ClassVar[int] = 2
    outputs: ClassVar[int] = 2

    duration: float = 50.0
    fixation: float = 1.0
    pulse: float = 1.0
    delay: float = 5.0
    shortest: float = 5.0
    longest: float = 25.0
    amplitude: float = 0.5

    @property
    def steps(self) -> int:
        """100 with dt = 0.5."""
        return self._count(self.duration)

    @property
    def most(self) -> int:
        """The largest number of pulses that a trial can hold."""
        spacing = max(1, int((self.shortest + self.delay) / self.dt))
        return 1 + max(0, self.steps - 1 - self._count(self.fixation)) // spacing

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        spacing_key, channel_key, sign_key = jax.random.split(key, 3)
        gaps = jax.random.uniform(
            spacing_key, (self.most - 1,), dtype, minval=self.shortest, maxval=self.longest
        )
        spacings = jnp.floor((gaps + self.delay) / self.dt).astype(np.int32)
        first = jnp.full((1,), self._count(self.fixation), np.int32)
        onsets = jnp.concatenate([first, first + jnp.cumsum(spacings, dtype=np.int32)])
        channels = jax.random.bernoulli(channel_key, shape=(self.most,)).astype(np.int32)
        signs = 2 * jax.random.bernoulli(sign_key, shape=(self.most,)).astype(dtype) - 1
        place = jnp.arange(self.steps, dtype=np.int32)
        # The pulse that each step belongs to; −1 before the first.
        last = jnp.sum(place[:, None] >= onsets, axis=1, dtype=np.int32) - 1
        began = jnp.where(last >= 0, onsets[last], self.steps)
        active = jax.nn.one_hot(channels[last], 2, dtype=dtype) * signs[last][:, None]
        pulse = within(place, began, self._count(self.pulse)).astype(dtype)
        mask = (place - began >= self._count(self.delay)).astype(dtype)
        return pulse[:, None] * active, self.amplitude * mask[:, None] * active, mask
