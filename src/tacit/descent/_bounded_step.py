"""Gradient descent whose step follows a bound on the curvature that the problem knows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from tacit._doors import check_fields, number
from tacit._types import Array, Float, PyTree
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective, name_of


class BoundedStep(AbstractMethod):
    """θ ← θ − η d with η = fraction / curvature; the problem supplies d and the curvature.

    The problem must have `downhill(model)`, which returns the loss, a direction d (the gradient, in
    a metric of the problem's choice: a pytree like the model's arrays) and a bound on the
    curvature of the loss in that metric, a positive number. A fraction below 2 keeps descent on a
    quadratic stable; a small one follows the gradient flow of that metric. The flow's time, the
    sum of all η, is reported as `time`. `rate` multiplies the step.
    """

    fraction: float = 0.3

    def __check_init__(self) -> None:
        check_fields(self, fraction=number())
        if not 0 < self.fraction < 2:
            raise ValueError(
                f"fraction: received {self.fraction!r}, it must lie between 0 and 2, where descent "
                "is stable; leave it out for 0.3"
            )

    def init(self, params: PyTree, objective: Objective) -> Float[Array, ""]:
        """No time has passed."""
        if not hasattr(objective.problem, "downhill"):
            raise ValueError(
                f"loss_or_problem: received {name_of(objective.problem)}, it must have "
                "downhill(model) for BoundedStep; give the problem one, or use an Optax method"
            )
        return jnp.zeros((), jax.eval_shape(objective.loss, params).dtype)

    def advance(
        self, params: PyTree, state: Float[Array, ""], objective: Objective, rate: Array | None
    ) -> Advance:
        """One evaluation, one step."""
        loss, direction, curvature = objective.problem.downhill(objective.model(params))
        direction = eqx.filter(direction, eqx.is_inexact_array)
        step = self.fraction / curvature
        if rate is not None:
            step = rate.astype(step.dtype) * step
        return Advance(
            params=jax.tree.map(lambda p, d: p - step.astype(p.dtype) * d, params, direction),
            state=state + step,
            loss=loss,
            gradient_norm=optax.tree.norm(direction),
        )

    def report(self, state: Float[Array, " lane"]) -> dict[str, Array]:
        """The time of the gradient flow that the steps add up to."""
        return {"time": state}

    def observe(self, state: Float[Array, ""]) -> dict[str, Array]:
        """The time so far."""
        return {"time": state}
