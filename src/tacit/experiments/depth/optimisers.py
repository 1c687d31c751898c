"""The optimisers of figures 13 to 17: PyTorch's, and one that draws an entry for each step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from tacit._types import Array, PyTree
from tacit.descent import AbstractMethod, Advance, Objective
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion


class SeededCompletion(eqx.Module):
    """A completion with a number of its own, from which its lane draws entries."""

    completion: MatrixCompletion
    seed: Array

    def loss(self, model: DeepFactorisation) -> Array:
        return self.completion.loss(model)

    def loss_and_step(self, model: DeepFactorisation, step: Array) -> tuple[Array, PyTree]:
        """The loss over all entries, and the gradient of the entry that this step draws."""
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


def optimiser(name: str) -> AbstractMethod | optax.GradientTransformation:
    """An optimiser of rate one with PyTorch's other defaults.

    Adagrad's ε stands inside the root here, so that 1e-20 is PyTorch's 1e-10 outside of it.
    """
    return {
        "sgd": OneEntry(),
        "momentum": optax.sgd(1.0, momentum=0.9),
        "adam": optax.adam(1.0, b1=0.9, b2=0.999, eps=1e-8),
        "rmsprop": optax.rmsprop(1.0, decay=0.99, eps=1e-8, eps_in_sqrt=False),
        "adagrad": optax.adagrad(1.0, initial_accumulator_value=0.0, eps=1e-20),
    }[name]
