"""The population loss of a linear RNN on white input: a distance between impulse responses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, door, having, real, whole
from tacit._types import Array, Float, precise
from tacit.models import LinearRNN
from tacit.problems._shapes import check_response, check_response_and_mask


class PopulationLoss(eqx.Module):
    """L = Σ_{j<k} ‖C A^j B − target_j‖²_F (lowdim 3.4): no ½, no mean over lags.

    It is the expected squared error of the last output on white input sequences of length k
    (Lemma C.1). The lags from k on are masked, so that problems of several lengths share a shape
    and train as one program.
    """

    target: Float[Array, "lags outputs inputs"]
    mask: Float[Array, " lags"]

    def __check_init__(self) -> None:
        check_fields(self, target=real(), mask=real())
        check_response_and_mask(self.target, self.mask)

    @staticmethod
    @door(teacher=having("impulse_response"), length=whole(1), longest=whole(1))
    @precise
    def of(teacher: LinearRNN, length: int, *, longest: int | None = None) -> "PopulationLoss":
        """The loss of learning `teacher` from sequences of `length`, padded to `longest` lags."""
        longest = length if longest is None else longest
        if not 1 <= length <= longest:
            raise ValueError(
                f"length: received {length!r}, it must lie in [1, longest = {longest}]"
            )
        target = teacher.impulse_response(longest)
        return PopulationLoss(target, jnp.asarray(np.arange(longest) < length, target.dtype))

    @precise
    def residuals(self, model: LinearRNN) -> Float[Array, "lags outputs inputs"]:
        """The errors of the impulse response, zero at masked lags."""
        response = model.impulse_response(self.target.shape[0])
        check_response(response, self.target)
        return self.mask[:, None, None] * (response - self.target)

    @precise
    def residuals_and_jacobian(
        self, model: LinearRNN
    ) -> tuple[Float[Array, "lags outputs inputs"], LinearRNN]:
        """The residuals, and their derivatives by the model's parameters, axes of lags first."""
        jacobian = model.response_jacobian(self.target.shape[0])

        def masked(leaf: Array) -> Array:
            return jnp.reshape(self.mask, (-1,) + (1,) * (leaf.ndim - 1)) * leaf

        return self.residuals(model), jax.tree.map(masked, jacobian)

    @door(model=having("impulse_response"))
    @precise
    def loss(self, model: LinearRNN) -> Float[Array, ""]:
        """The sum of the squared errors."""
        return jnp.sum(self.residuals(model) ** 2)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of the all-zero impulse response: the scale for relative losses."""
        return jnp.sum((self.mask[:, None, None] * self.target) ** 2)
