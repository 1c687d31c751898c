"""The interface of a method: how one lane moves by one step."""

import abc
from typing import Any

import equinox as eqx

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
        """What the method can tell of a lane at its end; `state` has a lane axis here."""
        return {}

    @property
    def reports(self) -> bool:
        """Whether it tells anything: then the loop keeps the state of the lane's last iterate."""
        return type(self).report is not AbstractMethod.report


def as_method(method: Any) -> AbstractMethod:
    """A method of ours as it is, or an Optax transformation wrapped as one."""
    from tacit.descent._optax import OptaxMethod, is_transformation

    if isinstance(method, AbstractMethod):
        return method
    if is_transformation(method):
        return OptaxMethod(method)
    raise ValueError(
        "method must be an Optax transformation (such as optax.adam(1e-3)) or a method of "
        f"tacit.descent, got {method!r}"
    )
