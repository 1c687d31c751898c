"""Stochastic descent on a problem that draws the gradient of each step itself."""

import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._types import Array, PyTree
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective


class DrawnGradient(AbstractMethod):
    """Plain stochastic gradient descent, the gradient that of what the problem draws at each step.

    The problem has `loss_and_step(model, step)`: its whole loss, and the gradient of the part that
    this step draws. The loss that stops a lane is the whole one: a part that happens to fit ends
    nothing.
    """

    def init(self, params: PyTree, objective: Objective) -> Array:
        return jnp.int32(0)  # it counts its steps

    def advance(
        self, params: PyTree, state: Array, objective: Objective, rate: Array | None
    ) -> Advance:
        loss, gradient = objective.problem.loss_and_step(objective.model(params), state)
        gradient = eqx.filter(gradient, eqx.is_inexact_array)
        pace = 1.0 if rate is None else rate
        norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradient)))
        moved = jax.tree.map(lambda p, g: p - (pace * g).astype(p.dtype), params, gradient)
        return Advance(params=moved, state=state + 1, loss=loss, gradient_norm=norm)
