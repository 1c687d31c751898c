"""The empirical loss of sequence models: squared errors of chosen outputs on sampled sequences.

Conventions: a mean over sequences, a sum over outputs and over steps with their weights, and no ½.
With weight 1 on step k − 1 alone it is lowdim's (3.3), the squared error of the last output of
sequences of length k, whose expectation for white input and linear models is lowdim's (3.4).
memoryless's (4) is half of that expectation: give it weights of ½.

Sequences of several lengths share a shape and a program: they are padded at the end, where models
that run forward in time cannot see, and steps of weight zero do not count.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from tacit._doors import ANY, check_fields, door, floating, having, key, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.problems._outputs import outputs
from tacit.problems._shapes import same_shape

MODEL = having("simulate")


@door(length=ANY, until=ANY, longest=ANY)
def step_weights(
    length: int, *, until: int | None = None, longest: int | None = None
) -> Float[np.ndarray, " time"]:
    """Weight 1 on the last output of sequences of `length`, zero elsewhere, `longest` in all.

    With `until`, on the last outputs of all lengths from `length` to it: `until=length` is the
    default, `step_weights(1, until=k)` counts every step.
    """
    until = length if until is None else until
    longest = until if longest is None else longest
    if not 1 <= length <= until <= longest:
        raise ValueError(
            f"length, until and longest: received {length!r}, {until!r} and {longest!r}, they must "
            "be whole numbers with 1 ≤ length ≤ until ≤ longest"
        )
    weights = np.zeros(longest)
    weights[length - 1 : until] = 1.0
    return weights


class EmpiricalLoss(eqx.Module):
    """L = (1/N) Σ_n Σ_t w_t ‖y_t(x_n) − target_{n,t}‖² on fixed data.

    **Arguments:**

    - `inputs`: (sequences, time, inputs).
    - `targets`: (sequences, time, outputs); what they are where the weight is zero has no effect.
    - `weights`: w, (time,), see `step_weights`.
    """

    inputs: Float[Array, "sequences time inputs"]
    targets: Float[Array, "sequences time outputs"]
    weights: Float[Array, " time"]

    def __check_init__(self) -> None:
        check_fields(self, inputs=real(), targets=real(), weights=real())
        shape = np.shape(self.inputs)
        for name in ("inputs", "targets"):
            if np.ndim(getattr(self, name)) < 3:
                raise ValueError(
                    f"{name}: received the shape {np.shape(getattr(self, name))}, they must have "
                    "the axes (sequences, time, channels); one channel is array[..., None]"
                )
        same_shape(
            "targets",
            self.targets,
            (*shape[:-1], np.shape(self.targets)[-1]),
            "(sequences, time, outputs)",
            "they must have the sequences and times of inputs",
        )
        remedy = "one weight for each step"
        same_shape("weights", self.weights, (*shape[:-3], shape[-2]), "(time,)", remedy)

    def _errors(self, model: Any) -> Float[Array, "sequences time outputs"]:
        found = outputs(model, self.inputs)
        remedy = "give the model the targets' outputs"
        same_shape("model", found, self.targets.shape, "outputs, as targets are,", remedy)
        return found - self.targets

    @precise
    def residuals(self, model: Any) -> Float[Array, "sequences time outputs"]:
        """√(w_t / N) times the errors: their squares sum to the loss."""
        error = self._errors(model)
        shares = jnp.sqrt(self.weights / self.inputs.shape[0])[:, None]
        return jnp.where(shares > 0, shares * error, 0)

    @door(model=MODEL)
    @precise
    def loss(self, model: Any) -> Float[Array, ""]:
        """The weighted squared error, a mean over sequences."""
        return _weighted(self._errors(model), self.weights)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of a model that answers zero: the scale for relative losses."""
        return _weighted(self.targets, self.weights)

    @door(after=whole(), key=key)
    @precise
    def with_random_labels(self, *, after: int, key: PRNGKeyArray) -> "EmpiricalLoss":
        """The same inputs; targets of the steps from `after` on are N(0, 1), whatever the inputs.

        Noisy labels in time: sequences of length `after` keep theirs.
        """
        noise = jax.random.normal(
            jax.random.fold_in(key, 1), self.targets.shape, self.targets.dtype
        )
        later = jnp.arange(self.targets.shape[1])[:, None] >= after
        return EmpiricalLoss(self.inputs, jnp.where(later, noise, self.targets), self.weights)

    @precise
    def error_by_step(self, model: Any) -> Float[Array, " time"]:
        """The mean squared error at each step, whatever its weight.

        At step t it is that of the last output of sequences of length t + 1.
        """
        error = self._errors(model)
        return jnp.mean(jnp.sum(error**2, axis=-1), axis=0)


class SampledLoss(eqx.Module):
    """The same on fresh data at every step: white standard normal inputs, a teacher's outputs.

    `descend` hands a key for each step to a problem that is `stochastic`.

    **Arguments:**

    - `teacher`: anything with `simulate(inputs)`: a `LinearRNN`, `GRU`, `LSTM`, `FiniteResponse`.
      It is no part of the model, so it stays as it is.
    - `weights`: w, (time,), see `step_weights`; its dtype is that of the data.
    - `sequences`: how many are drawn at each step.
    - `inputs`: how many inputs a sequence has.
    """

    stochastic: ClassVar[bool] = True

    teacher: Any
    weights: Float[Array, " time"]
    sequences: int = eqx.field(static=True, default=100)
    inputs: int = eqx.field(static=True, default=1)

    def __check_init__(self) -> None:
        check_fields(self, teacher=MODEL, weights=real())
        for name in ("sequences", "inputs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: received {value!r}, it must be a positive integer")

    @staticmethod
    @door(
        teacher=MODEL,
        length=whole(1),
        longest=whole(1),
        sequences=whole(1),
        inputs=whole(1),
        dtype=floating,
    )
    def last(
        teacher: Any,
        length: int,
        *,
        longest: int | None = None,
        sequences: int = 100,
        inputs: int = 1,
        dtype: DTypeLike = np.float64,
    ) -> "SampledLoss":
        """The squared error of the last output of sequences of `length` (lowdim 3.3)."""
        weights = step_weights(length, longest=longest).astype(np.dtype(dtype))
        with x64_for(weights):
            return SampledLoss(teacher, jnp.asarray(weights), sequences, inputs)

    @door(key=key, sequences=whole(1))
    @precise
    def sample(self, *, key: PRNGKeyArray, sequences: int | None = None) -> EmpiricalLoss:
        """Data drawn once, as a problem of their own."""
        shape = (sequences or self.sequences, self.weights.shape[-1], self.inputs)
        inputs = jax.random.normal(key, shape, self.weights.dtype)
        targets = outputs(self.teacher, inputs).astype(self.weights.dtype)
        return EmpiricalLoss(inputs, jax.lax.stop_gradient(targets), self.weights)

    @precise
    def loss(self, model: Any, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """The loss on data drawn with the key."""
        return self.sample(key=key).loss(model)

    @precise
    def zero_loss(self, *, key: PRNGKeyArray, sequences: int = 4096) -> Float[Array, ""]:
        """The loss of a model that answers zero, estimated on so many sequences."""
        return self.sample(key=key, sequences=sequences).zero_loss()


def _weighted(
    error: Float[Array, "sequences time outputs"], weights: Float[Array, " time"]
) -> Float[Array, ""]:
    # A step that does not count must not make 0 × ∞ of a model that grows.
    counted = jnp.where(weights[:, None] > 0, error, 0)
    return jnp.sum(weights * jnp.sum(jnp.mean(counted**2, axis=0), axis=-1))
