"""Stochastic descent on one observed entry a step, which still knows the whole loss."""

import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._types import Array, PyTree
from tacit.descent import AbstractMethod, Advance, Objective
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion


class SeededCompletion(eqx.Module):
    """A completion with a number of its own, from which its lane draws entries."""

    completion: MatrixCompletion
    seed: Array

    def loss(self, model: DeepFactorisation) -> Array:
        """Over all observed entries."""
        return self.completion.loss(model)

    def loss_and_step(self, model: DeepFactorisation, step: Array) -> tuple[Array, PyTree]:
        """The whole loss, and the gradient of the entry that this step draws."""
        mask, target = self.completion.mask, self.completion.target
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), self.seed), step)
        number = jax.random.randint(key, (), 0, jnp.sum(mask))
        entry = (jnp.cumsum(mask) == number + 1).reshape(mask.shape) & mask
        product, pullback = model.product_and_pullback()
        error = jnp.where(mask, product - target, 0)
        return 0.5 * jnp.sum(error * error), pullback(jnp.where(entry, error, 0))


class OneEntry(AbstractMethod):
    """Plain stochastic gradient descent, one entry of Ω drawn uniformly at each step.

    The loss that stops a lane is that of all entries: one entry that happens to fit ends nothing.
    """

    def init(self, params: PyTree, objective: Objective) -> Array:
        """It counts its steps."""
        return jnp.int32(0)

    def advance(
        self, params: PyTree, state: Array, objective: Objective, rate: Array | None
    ) -> Advance:
        """One entry, one step."""
        loss, gradient = objective.problem.loss_and_step(objective.model(params), state)
        gradient = eqx.filter(gradient, eqx.is_inexact_array)
        pace = 1.0 if rate is None else rate
        norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradient)))
        moved = jax.tree.map(lambda p, g: p - (pace * g).astype(p.dtype), params, gradient)
        return Advance(params=moved, state=state + 1, loss=loss, gradient_norm=norm)
