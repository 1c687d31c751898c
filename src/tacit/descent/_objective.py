"""One face for every problem: a function of the trainable arrays alone."""

import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from tacit._doors import check_fields, function
from tacit._types import Array, PRNGKeyArray, PyTree


class LossFunction(eqx.Module):
    """A bare loss function as a problem; it is stochastic when it takes `key`."""

    function: Callable[..., Array]

    def __check_init__(self) -> None:
        check_fields(self, function=function)

    @property
    def stochastic(self) -> bool:
        """Whether the function takes a key."""
        try:
            return "key" in inspect.signature(self.function).parameters
        except ValueError:  # a builtin may have none
            return False

    def loss(self, model: Any, **key: PRNGKeyArray) -> Array:
        """The function's value."""
        return self.function(model, **key)


def counts_steps(problem: Any) -> bool:
    """Whether a problem is told the number of the step."""
    return getattr(problem, "counts_steps", False)


def name_of(problem: Any) -> str:
    """What to call a problem in a message."""
    if isinstance(problem, LossFunction):
        return f"the function {getattr(problem.function, '__name__', problem.function)}"
    return type(problem).__name__


class Objective(eqx.Module):
    """A problem as a function of the trainable arrays alone, the rest of the model held fixed."""

    problem: Any
    frozen: Any  # the model without its trainable arrays
    key: PRNGKeyArray | None
    step: Array | None = None

    @property
    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if getattr(self.problem, "stochastic", False):
            assert self.key is not None  # descend asks for a key
            extra["key"] = self.key
        if counts_steps(self.problem):
            extra["step"] = self.step
        return extra

    def model(self, params: PyTree) -> Any:
        """The whole model."""
        return eqx.combine(params, self.frozen)

    def loss(self, params: PyTree) -> Array:
        """The loss at `params`."""
        return self.problem.loss(self.model(params), **self._extra)

    def loss_and_gradient(self, params: PyTree) -> tuple[Array, PyTree]:
        """The loss and its gradient: the problem's own when it has one, else by autodiff."""
        if hasattr(self.problem, "loss_and_gradient"):
            loss, gradient = self.problem.loss_and_gradient(self.model(params), **self._extra)
            return loss, eqx.filter(gradient, eqx.is_inexact_array)
        return jax.value_and_grad(self.loss)(params)

    def loss_gradient_and_state(self, params: PyTree) -> tuple[Array, PyTree, PyTree]:
        """The same, and what of `params` the evaluation itself replaces; None: nothing."""
        if not hasattr(self.problem, "loss_and_state"):
            return *self.loss_and_gradient(params), None

        def loss_and_state(params: PyTree) -> tuple[Array, PyTree]:
            return self.problem.loss_and_state(self.model(params), **self._extra)

        (loss, state), gradient = jax.value_and_grad(loss_and_state, has_aux=True)(params)
        return loss, gradient, eqx.filter(state, eqx.is_inexact_array)

    def residuals(self, params: PyTree) -> Array:
        """The vector whose squares sum to the loss, flattened."""
        if not hasattr(self.problem, "residuals"):
            raise ValueError(
                f"loss_or_problem: received {name_of(self.problem)}, it must have residuals(model) "
                "for this method; give the problem one with loss = sum of its squares, or use an "
                "Optax method"
            )
        return jnp.ravel(self.problem.residuals(self.model(params)))

    def residuals_and_jacobian(self, params: PyTree) -> tuple[Array, Array]:
        """The residuals (k,) and the matrix (k, p) of their derivatives by the flat parameters."""
        if hasattr(self.problem, "residuals_and_jacobian"):
            residuals, tree = self.problem.residuals_and_jacobian(self.model(params))
            rows = residuals.size
            leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))
            columns = [jnp.reshape(leaf, (rows, -1)) for leaf in leaves]
            return jnp.ravel(residuals), jnp.concatenate(columns, axis=1)
        flat, unravel = ravel_pytree(params)
        # One pass gives the residuals and their pullback: few rows, so one pullback a row.
        residuals, pullback = jax.vjp(lambda vector: self.residuals(unravel(vector)), flat)
        (jacobian,) = jax.vmap(pullback)(jnp.eye(residuals.size, dtype=residuals.dtype))
        return residuals, jacobian

    def linearised(self, params: PyTree) -> tuple[Array, Array, Callable[[Array], Array]]:
        """The residuals (k,), J Jᵀ (k, k) and the function z ↦ Jᵀ z to the flat parameters."""
        if hasattr(self.problem, "linearised"):
            residuals, gram, pull = self.problem.linearised(self.model(params))
            return (
                residuals,
                gram,
                lambda z: ravel_pytree(eqx.filter(pull(z), eqx.is_inexact_array))[0],
            )
        residuals, jacobian = self.residuals_and_jacobian(params)
        return residuals, jacobian @ jacobian.T, lambda z: jacobian.T @ z
