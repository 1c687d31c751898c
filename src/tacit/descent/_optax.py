"""Any Optax transformation as a method."""

from typing import Any

import equinox as eqx
import jax
import optax

from tacit._types import Array, PyTree
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective


class OptaxMethod(AbstractMethod):
    """Discrete descent: evaluate the gradient, let the transformation turn it into an update."""

    transformation: Any = eqx.field(static=True)

    def init(self, params: PyTree, objective: Objective) -> PyTree:
        """The transformation's own state."""
        return self.transformation.init(params)

    def advance(
        self, params: PyTree, state: PyTree, objective: Objective, rate: Array | None
    ) -> Advance:
        """One gradient evaluation and one update."""
        loss, gradient = objective.loss_and_gradient(params)
        extra = (
            {"value": loss, "grad": gradient, "value_fn": objective.loss}
            if isinstance(self.transformation, optax.GradientTransformationExtraArgs)
            else {}
        )
        updates, state = self.transformation.update(gradient, state, params, **extra)
        if rate is not None:
            updates = jax.tree.map(lambda u: rate.astype(u.dtype) * u, updates)
        return Advance(
            params=optax.apply_updates(params, updates),
            state=state,
            loss=loss,
            gradient_norm=optax.tree.norm(gradient),
        )


def is_transformation(method: Any) -> bool:
    """Whether `method` follows Optax's protocol of `init` and `update`."""
    return callable(getattr(method, "init", None)) and callable(getattr(method, "update", None))
