"""Hold one value at the end of a constant input: the task of the linear theory."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax.numpy as jnp
import numpy as np

from tacit._types import Array, PRNGKeyArray
from tacit.problems.tasks._task import Task


@final
@dataclass(frozen=True, kw_only=True)
class Simple(Task):
    """A constant input of 1; the output is to be `target` when the trial ends.

    With dt = 0.5, in steps:

        step      0  2                                           200  202
        input     ___▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
        mask      ________________________________________________▔▔▔▔
        target                        free                       target

    Nothing is random: every trial is the same. A stable linear network is at its fixed point by
    then, so that the loss is ½(ẑ − wᵀ(I − W)⁻¹m)² (connectivity (5)).
    """

    inputs: ClassVar[int] = 1
    outputs: ClassVar[int] = 1

    target: float = 0.5
    duration: float = 101.0
    fixation: float = 1.0
    response: float = 1.0

    @property
    def steps(self) -> int:
        """202 with dt = 0.5."""
        return self._count(self.duration)

    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        place = jnp.arange(self.steps, dtype=np.int32)
        drive = (place >= self._count(self.fixation)).astype(dtype)
        mask = (place >= self.steps - self._count(self.response)).astype(dtype)
        return drive[:, None], self.target * mask[:, None], mask
