"""A method: how one lane moves by one step. Any Optax transformation is one."""

import abc
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit._doors import door, having
from tacit._types import Array, PyTree
from tacit.descent._by_value import ByValue
from tacit.descent._objective import Objective
from tacit.descent._received import ARGUMENTS, received


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
            f"hyperparameters: received {sorted(values)}, there must be none for "
            f"{type(self).__name__}, whose numbers cannot differ between lanes; use an Optax "
            "method made by optax.inject_hyperparams"
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


class OptaxMethod(AbstractMethod):
    """Discrete descent: evaluate the gradient, let the transformation turn it into an update.

    Two transformations that do the same share their compiled programs: `optax.adam(1e-3)` may be
    written where it is used.
    """

    _transformation: ByValue[optax.GradientTransformation] = eqx.field(static=True)

    @door(transformation=having("init", "update"))
    def __init__(self, transformation: optax.GradientTransformation) -> None:
        self._transformation = ByValue(transformation)

    @property
    def transformation(self) -> optax.GradientTransformation:
        """The transformation itself."""
        return self._transformation.value

    def init(self, params: PyTree, objective: Objective) -> PyTree:
        """The transformation's own state."""
        return self.transformation.init(params)

    def advance(
        self, params: PyTree, state: PyTree, objective: Objective, rate: Array | None
    ) -> Advance:
        """One gradient evaluation and one update."""
        loss, gradient, renewed = objective.loss_gradient_and_state(params)
        extra = (
            {"value": loss, "grad": gradient, "value_fn": objective.loss}
            if isinstance(self.transformation, optax.GradientTransformationExtraArgs)
            else {}
        )
        updates, state = self.transformation.update(gradient, state, params, **extra)
        if rate is not None:
            updates = jax.tree.map(lambda u: rate.astype(u.dtype) * u, updates)
        moved = optax.apply_updates(params, updates)
        return Advance(
            params=moved if renewed is None else eqx.combine(renewed, moved),
            state=state,
            loss=loss,
            gradient_norm=optax.tree.norm(gradient),
        )

    def set_hyperparameters(self, state: PyTree, values: Mapping[str, np.ndarray]) -> PyTree:
        """The state with other values where `optax.inject_hyperparams` keeps its numbers.

        A name that occurs in several parts of a chain is set in all of them.
        """
        parts = [part for part in jax.tree.leaves(state, is_leaf=_injects) if _injects(part)]
        known = {name for part in parts for name in part.hyperparams}
        scheduled = {name for part in parts for name in getattr(part, "hyperparams_states", ())}
        for name in values:
            if name in scheduled:
                raise ValueError(
                    f"hyperparameters[{name!r}]: received values, the method must have a number "
                    "there, not a schedule; make the method with a number in its place"
                )
            if name not in known:
                names = sorted(known - scheduled)
                raise ValueError(
                    f"hyperparameters: received {name!r}, it must be one that the method can set, "
                    f"which are {names or 'none'}; make the method with optax.inject_hyperparams, "
                    "as in optax.inject_hyperparams(optax.adam)(1e-3)"
                )

        def replaced(part: Any) -> Any:
            if not _injects(part):
                return part
            numbers = {
                name: _as_array(values[name], old) if name in values else old
                for name, old in part.hyperparams.items()
            }
            return part._replace(hyperparams=numbers)

        return jax.tree.map(replaced, state, is_leaf=_injects)


def _injects(node: Any) -> bool:
    """Whether a part of a state belongs to `optax.inject_hyperparams`."""
    return isinstance(node, tuple) and isinstance(getattr(node, "hyperparams", None), dict)


def _as_array(values: np.ndarray, like: Array) -> Array:
    return jax.device_put(values.astype(like.dtype), may_alias=False)


def as_method(method: Any) -> AbstractMethod:
    """A method of ours as it is, or an Optax transformation wrapped as one."""
    if isinstance(method, AbstractMethod):
        return method
    if _is_transformation(method):
        return OptaxMethod(method)
    raise ValueError(
        f"method: received {received(method)}, it must be an Optax transformation or a method of "
        f"tacit.descent; {_instead(method)}"
    )


def _instead(method: Any) -> str:
    """What was probably meant."""
    if isinstance(method, type):
        return f"make an instance of it, {method.__name__}(…)"
    if callable(method) and getattr(method, "__module__", "").startswith("optax"):
        return f"call it, optax.{method.__name__}(1e-3)"
    if callable(method):
        return ARGUMENTS
    if isinstance(method, float | int):
        return f"a rate alone is not a method, write optax.sgd({method!r})"
    if isinstance(method, str):
        return f"methods are objects, write optax.{method}(1e-3)"
    if type(method).__module__.startswith("diffrax"):
        return f"a solver goes into a flow, GradientFlow({type(method).__name__}())"
    return "write for instance optax.adam(1e-3) or GradientFlow()"


def _is_transformation(method: Any) -> bool:
    """Whether `method` follows Optax's protocol of `init` and `update`."""
    if isinstance(method, type):
        return False
    return callable(getattr(method, "init", None)) and callable(getattr(method, "update", None))
