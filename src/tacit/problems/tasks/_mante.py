"""Integrate the one of two noisy signals that the context points at."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, each, number
from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task, within

GRADED = (0.125, 0.25, 0.5, 1.0)
"""The coherences of the paper's public code; its text has ±1 alone."""


@final
@dataclass(frozen=True, kw_only=True)
class Mante(Task):
    """Two signals with noise and a context; output ±0.5, the sign of the signal pointed at.

    Inputs: context 1, context 2, signal 1, signal 2. With dt = 0.5, in steps:

        step          0      6                       46      56                    96
        context       ______▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔________________________________
        signals       ~~~~~~coherence, plus noise~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
        mask          ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔_______▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
        target                     0                 free          ±0.5

    Coherences are ± one of `coherences`, uniform and independent for both signals. The noise is
    0.05 n/√dt on both signals throughout (where the paper's text prints √η for √dt).
    """

    inputs: ClassVar[int] = 4
    outputs: ClassVar[int] = 1

    coherences: tuple[float, ...] = GRADED
    fixation: float = 3.0
    stimulus: float = 20.0
    delay: float = 5.0
    response: float = 20.0
    noise: float = 0.05
    amplitude: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, coherences=each(number(), least=0))
        if not self.coherences or min(self.coherences) <= 0:
            raise ValueError(
                f"coherences: received {self.coherences!r}, they must be positive numbers; signs "
                "are drawn"
            )

    @property
    def steps(self) -> int:
        """96 with dt = 0.5."""
        parts = (self.fixation, self.stimulus, self.delay, self.response)
        return sum(self._count(part) for part in parts)

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        size_key, sign_key, context_key, noise_key = jax.random.split(key, 4)
        start, shown = self._count(self.fixation), self._count(self.stimulus)
        answer = start + shown + self._count(self.delay)
        place = jnp.arange(self.steps, dtype=np.int32)
        sizes = jax.random.choice(size_key, jnp.asarray(self.coherences, dtype), (2,))
        signs = 2 * jax.random.bernoulli(sign_key, shape=(2,)).astype(dtype) - 1
        context = jax.random.bernoulli(context_key).astype(np.int32)
        during = within(place, start, shown).astype(dtype)[:, None]
        contexts = during * jax.nn.one_hot(context, 2, dtype=dtype)
        noise = jax.random.normal(noise_key, (self.steps, 2), dtype)
        signals = during * sizes * signs + jnp.asarray(self.noise / self.dt**0.5, dtype) * noise
        respond = place >= answer
        mask = ((place < start + shown) | respond).astype(dtype)
        target = self.amplitude * signs[context] * respond.astype(dtype)
        return jnp.concatenate([contexts, signals], axis=1), target[:, None], mask
