"""What a problem may offer: one protocol for each thing that a method can ask of it.

Every problem has `loss(model)`; a bare function of the model is a problem too. Beyond that a
problem may have
- `loss_and_gradient(model)`: a gradient written by hand, a pytree like the model's inexact arrays;
- `residuals(model)`: an array whose squares sum to the loss (`LeastSquares`);
- `residuals_and_jacobian(model)`: these with their derivatives, a pytree like the model whose
  arrays have the axes of the residuals before their own;
- `linearised(model)`: the residuals (k,), the matrix J Jᵀ (k, k) of their derivatives J and the
  function z ↦ Jᵀ z, a pytree like the model's arrays: for models so large that J is not to be made;
- `downhill(model)`: the loss, a direction and a bound on the curvature (`BoundedCurvature`);
- `stochastic = True`: then `loss` and `loss_and_gradient` take `key=` and draw fresh data with it
  (`Stochastic`);
- `counts_steps = True`: then they take `step=` too, the number of the step, and `key` is the same
  at every step: for data that are gone through in order;
- `loss_and_state(model)`: the loss and the state that its evaluation leaves behind, such as running
  averages (`Stateful`).
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

from tacit._types import Array, PRNGKeyArray, PyTree

M_contra = TypeVar("M_contra", contravariant=True)
M = TypeVar("M")


class Problem(Protocol[M_contra]):
    """Something to be learned: a loss of one model."""

    def loss(self, model: M_contra, /) -> Array:
        """The loss, a real number."""


class LeastSquares(Problem[M_contra], Protocol[M_contra]):
    """A problem whose loss is a sum of squares, which Gauss-Newton methods need."""

    def residuals(self, model: M_contra, /) -> Array:
        """The array whose squares sum to the loss."""


class BoundedCurvature(Problem[M_contra], Protocol[M_contra]):
    """A problem that knows a direction and how far one may go along it; see `BoundedStep`."""

    def downhill(self, model: M_contra, /) -> tuple[Array, PyTree, Array]:
        """The loss, the gradient in the problem's metric, and a bound on the curvature there."""


class Stochastic(Protocol[M_contra]):
    """A problem that draws fresh data at every step."""

    @property
    def stochastic(self) -> bool:
        """True: `descend` then asks for a key."""

    def loss(self, model: M_contra, /, *, key: PRNGKeyArray) -> Array:
        """The loss on data drawn with `key`."""


class Stateful(Protocol):
    """A problem whose evaluation changes a part of the model that is not trained."""

    @property
    def loss(self) -> Callable[..., Array]:
        """The loss alone, of a model; with `key=` and `step=` where the problem asks for them."""

    @property
    def loss_and_state(self) -> Callable[..., tuple[Array, PyTree]]:
        """The loss, and what is replaced: a pytree like the model, None for all that is trained.

        Optax's methods put it into the model after each step; the loss must not depend on what is
        replaced.
        """


LossOrProblem: TypeAlias = Callable[..., Array] | Problem[M] | Stochastic[M] | Stateful
