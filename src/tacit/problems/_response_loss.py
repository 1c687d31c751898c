"""Following a given response to an impulse: how a nonlinear teacher is made (lowdim, B.2.3)."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, door, having, real, whole
from tacit._types import Array, Float, precise
from tacit.problems._shapes import same_shape


class ResponseLoss(eqx.Module):
    """L = (1/T) Σ_{t<T} ‖y_t(impulse) − target_t‖²: a mean over steps, no ½.

    The input is 1 at step 0 and 0 after it, one input at a time. For a nonlinear model it fixes the
    answer to this input alone, which is what lowdim's appendix B.2.3 trains its GRU teacher on.
    """

    target: Float[Array, "time outputs"]

    def __check_init__(self) -> None:
        check_fields(self, target=real())
        if np.ndim(self.target) < 2:
            raise ValueError(
                f"target: received the shape {np.shape(self.target)}, it must have the axes (time, "
                "outputs); one output is target[:, None]"
            )

    @precise
    def loss(self, model: Any) -> Float[Array, ""]:
        """The mean squared distance between response and target."""
        found = response(model, len(self.target))
        remedy = "give the model the target's outputs"
        same_shape(
            "model", found, self.target.shape, "outputs (time, outputs), as target is", remedy
        )
        return jnp.mean(jnp.sum((found - self.target) ** 2, axis=-1))

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of a model that answers zero: the target's mean power."""
        return jnp.mean(jnp.sum(self.target**2, axis=-1))


@door(model=having("simulate"), length=whole(1))
@precise
def response(model: Any, length: int) -> Float[Array, "time outputs"]:
    """What a model of one input answers to an impulse."""
    impulse = jnp.zeros((length, 1)).at[0, 0].set(1.0)
    return model.simulate(impulse)
