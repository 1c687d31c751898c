"""The interface of a method: how one lane moves by one step."""

import abc
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, PyTree
from tacit.descent._objective import Objective


class Advance(eqx.Module):
    """One step of one lane. `loss` and `gradient_norm` belong to the point that it left."""

    params: PyTree
    state: PyTree
    loss: Array
    gradient_norm: Array
    stuck: Array | bool = False  # the method can move no further
    finished: Array | bool = False  # the method's own budget, such as a time, is used up


class AbstractMethod(eqx.Module):
    """A way to move a model downhill. Methods see one lane; the loop batches them."""

    @abc.abstractmethod
    def init(self, params: PyTree, objective: Objective) -> PyTree:
        """The method's state at the start."""

    @abc.abstractmethod
    def advance(
        self, params: PyTree, state: PyTree, objective: Objective, rate: Array | None
    ) -> Advance:
        """Move by one step; `rate` multiplies the step where the method has one."""

    def report(self, state: PyTree) -> dict[str, Array]:
        """What the method reports of a lane at its end; `state` has a lane axis here."""
        return {}

    def observe(self, state: PyTree) -> dict[str, Array]:
        """What is recorded of one lane beside the loss, such as a flow's time."""
        return {}

    def set_hyperparameters(self, state: PyTree, values: Mapping[str, np.ndarray]) -> PyTree:
        """The state at the start with other hyperparameters; every array has a lane axis here."""
        raise ValueError(
            f"hyperparameters has {sorted(values)}, but {type(self).__name__} has none that can "
            "differ between lanes; use an Optax method made by optax.inject_hyperparams"
        )

    def settle(self, moves: Array, new: PyTree, old: PyTree) -> PyTree:
        """The state after a step; `moves` tells whether the lane goes on."""
        # A state that will be reported stands still with its lane; Adam's may run on.
        return choose(moves, new, old) if self.reports else new

    @property
    def reports(self) -> bool:
        """Whether it reports anything: then the loop keeps the state of the lane's last iterate."""
        return type(self).report is not AbstractMethod.report


def choose(condition: Array, new: PyTree, old: PyTree) -> PyTree:
    """One pytree or the other, as a whole."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)
