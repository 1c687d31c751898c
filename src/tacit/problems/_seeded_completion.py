"""Completion from one entry at a time, which each lane draws from a number of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._types import Array, PyTree
from tacit.models import DeepFactorisation
from tacit.problems._completion import MatrixCompletion, error_on


class SeededCompletion(eqx.Module):
    """A completion with a number of its own, from which its lane draws entries (DrawnGradient)."""

    completion: MatrixCompletion
    seed: Array

    def loss(self, model: DeepFactorisation) -> Array:
        """The loss over all entries."""
        return self.completion.loss(model)

    def loss_and_step(self, model: DeepFactorisation, step: Array) -> tuple[Array, PyTree]:
        """The loss over all entries, and the gradient of the entry that this step draws."""
        mask = self.completion.mask
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), self.seed), step)
        number = jax.random.randint(key, (), 0, jnp.sum(mask))
        entry = (jnp.cumsum(mask) == number + 1).reshape(mask.shape) & mask
        product, pullback = model.product_and_pullback()
        error = error_on(self.completion, model, product)
        return 0.5 * jnp.sum(error * error), pullback(jnp.where(entry, error, 0))
