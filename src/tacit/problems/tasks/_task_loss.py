"""The loss of a rate network on fresh trials of a task, as a problem for `descend`."""

from typing import Any, final

import equinox as eqx
import jax
import numpy as np

from tacit._doors import check_fields, door, flag, instance, key, plain, whole
from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models import RateRNN
from tacit.problems.tasks._task import Task


@final
class TaskLoss(eqx.Module):
    """`batch` fresh trials at every step, drawn inside the program.

    **Arguments:**

    - `task`: what is to be learned.
    - `batch`: trials a step.
    - `train_maps`: whether input and output maps are trained too, or W alone.
    - `one_by_one`: how `Lanes` of networks run within a step: one after the other, which keeps the
      matrix products of a CPU whole (118 against 60 network-epochs a second at N = 256), or
      together. None chooses for the backend: together on a GPU.
    """

    task: Task = eqx.field(static=True)
    batch: int = eqx.field(static=True, default=32, converter=plain)
    train_maps: bool = eqx.field(static=True, default=True)
    one_by_one: bool | None = eqx.field(static=True, default=None)

    stochastic = True

    def __check_init__(self) -> None:
        check_fields(self, task=instance(Task), batch=whole(1), train_maps=flag, one_by_one=flag)

    @door(model=instance(RateRNN), key=key)
    @precise
    def loss(self, model: RateRNN, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """The loss on the trials that `key` gives."""
        trials = self.task.sample(key, self.batch, dtype=np.dtype(model.W.dtype))
        return trials.loss(model.run(trials.inputs))

    @precise
    def loss_and_gradient(
        self, model: RateRNN, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], RateRNN]:
        """The loss and its derivatives; zero for what is not trained."""

        def value(arrays: Any, key: PRNGKeyArray) -> tuple[Array, Any]:
            return jax.value_and_grad(
                lambda moving: self.loss(eqx.combine(moving, fixed), key=key)
            )(arrays)

        arrays, fixed = eqx.partition(model, eqx.is_inexact_array)
        alone = jax.default_backend() == "cpu" if self.one_by_one is None else self.one_by_one
        run = jax.custom_batching.sequential_vmap(value) if alone else value
        loss, gradient = run(arrays, key)
        if not self.train_maps:
            gradient = eqx.tree_at(
                lambda found: (found.inputs, found.outputs),
                gradient,
                (0 * gradient.inputs, 0 * gradient.outputs),
            )
        return loss, gradient
