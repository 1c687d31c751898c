"""What a task is: a number of steps and channels, and trials drawn from a key."""

import abc
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, floating, key, number, real, whole
from tacit._light_programs import lightly
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.problems._shapes import same_shape


class Trials(NamedTuple):
    """A batch of trials. The mask is 1 where the loss is active and 0 elsewhere."""

    inputs: Float[Array, "batch time inputs"]
    targets: Float[Array, "batch time outputs"]
    mask: Float[Array, "batch time"]

    @door(outputs=real(3, finite=False))
    @precise
    def loss(self, outputs: ArrayLike) -> Float[Array, ""]:
        """L = ½ Σ mask (z − ẑ)² / Σ mask, sums over trials, steps and channels.

        Steps of all trials are pooled before the division, as in the paper's public code; its text
        (19) averages in each trial first. With ½, (18).
        """
        shape = self.targets.shape
        remedy = "give the network the outputs of the task"
        same_shape("outputs", outputs, shape, "(batch, time, outputs), as targets are", remedy)
        remedy = "one number for each step of each trial"
        same_shape("mask", self.mask, shape[:-1], "(batch, time)", remedy)
        active = self.mask[:, :, None]
        error = jnp.asarray(outputs) - self.targets
        return 0.5 * jnp.sum(active * error**2) / (jnp.sum(active) * self.targets.shape[2])


@dataclass(frozen=True, kw_only=True)
class Task(abc.ABC):
    """A task. Durations are in units of the time constant, and `dt` is the length of a step.

    Tasks hold no arrays and compare equal by their parameters, so that programs are shared.
    """

    inputs: ClassVar[int]
    """Input channels."""
    outputs: ClassVar[int]
    """Output channels."""

    dt: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.type in (float, "float"):
                number(-1e9, 1e9)(field.name, getattr(self, field.name))
        if not 0 < self.dt <= 1:
            raise ValueError(f"dt: received {self.dt!r}, it must lie in (0, 1]")

    @property
    @abc.abstractmethod
    def steps(self) -> int:
        """Steps of a trial."""

    @abc.abstractmethod
    def _draw(self, key: PRNGKeyArray, dtype: Any) -> tuple[Array, Array, Array]:
        """One trial: inputs (time, inputs), targets (time, outputs), mask (time,)."""

    @door(key=key, batch=whole(1), dtype=floating)
    def sample(self, key: PRNGKeyArray, batch: int, *, dtype: DTypeLike = np.float32) -> Trials:
        """`batch` independent trials; the same key gives the same trials."""
        if isinstance(batch, bool) or not isinstance(batch, int | np.integer) or batch < 1:
            raise ValueError(f"batch: received {batch!r}, it must be a positive integer")
        kind = np.dtype(dtype)
        if kind.kind != "f":
            raise ValueError(f"dtype: received {kind}, it must be a real floating one; use float32")
        with x64_for(kind):
            return _sample_trials(self, key, int(batch), kind)

    def _count(self, duration: float) -> int:
        """Steps in a duration."""
        return round(duration / self.dt)


# Compiled here for calls outside a compiled loop: one program for each task and batch.
@lightly
def _sample_trials(task: Task, key: PRNGKeyArray, batch: int, dtype: Any) -> Trials:
    return Trials(*jax.vmap(lambda one: task._draw(one, dtype))(jax.random.split(key, batch)))


def within(place: Array, start: Array | int, length: Array | int) -> Array:
    """Whether start ≤ place < start + length."""
    return (place >= start) & (place < start + length)
