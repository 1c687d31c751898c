"""Learning sequences by windows, with a stack whose eigenvalues have a rate of their own."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from numpy.typing import ArrayLike

from tacit._doors import door, instance, number, real
from tacit._types import Array, Float, precise, x64_for
from tacit.models import AbstractScan, Convolution, Recurrence, SSMStack
from tacit.problems._shapes import same_shape


class RatedWindows(eqx.Module):
    """Mean squared error of an `SSMStack` on windows, each from states of zero.

    What descent moves of the spectra counts `rate` times: θ = θ⁰ + rate (φ − θ⁰). Adam, which
    moves every parameter at one speed, then trains the eigenvalues at `rate` times its learning
    rate. The rate is an array, so that many of them train as one program.
    """

    inputs: Float[Array, "window time inputs"]
    outputs: Float[Array, "window time"]
    start: SSMStack
    rate: Float[Array, ""]

    @staticmethod
    @door(start=instance(SSMStack), inputs=real(3), outputs=real(2), rate=number(0))
    def of(
        start: SSMStack, inputs: ArrayLike, outputs: ArrayLike, *, rate: float | int = 1.0
    ) -> "RatedWindows":
        """The loss of a stack that begins at `start`, in its dtype."""
        dtype = start.encoder.dtype
        with x64_for(dtype):
            x, y = jnp.asarray(inputs, dtype), jnp.asarray(outputs, dtype)
            if x.shape[:2] != y.shape:
                raise ValueError(
                    f"outputs: received the shape {y.shape}, it must be (windows, time) = "
                    f"{x.shape[:2]}, as inputs have it"
                )
            return RatedWindows(x, y, start, jnp.asarray(rate, dtype))

    @precise
    def model(self, trained: SSMStack) -> SSMStack:
        """The stack with its spectra slowed down."""

        def spectra(stack: SSMStack) -> list[Any]:
            return [block.ssm.spectrum for block in stack.blocks]

        slow = jax.tree.map(
            lambda a, b: a + self.rate * (b - a), *map(spectra, (self.start, trained))
        )
        return eqx.tree_at(spectra, trained, slow)

    @precise
    def loss(self, trained: SSMStack) -> Float[Array, ""]:
        """The mean over windows and steps."""
        found = _first_outputs(self.model(trained), self.inputs, Convolution())
        return jnp.mean((found - self.outputs) ** 2)

    @door(trained=instance(SSMStack), inputs=real(3))
    @precise
    def predicted(self, trained: SSMStack, inputs: ArrayLike) -> Float[Array, "sequence time"]:
        """The outputs on other sequences, of any length."""
        drive = jnp.asarray(inputs, self.inputs.dtype)
        return _first_outputs(self.model(trained), drive, Recurrence())


def _first_outputs(stack: SSMStack, inputs: Array, scan: AbstractScan) -> Array:
    found = jax.vmap(lambda u: stack.simulate(u, scan=scan))(inputs)
    wanted = (*inputs.shape[:2], 1)
    same_shape("start", found, wanted, "of outputs (windows, time, 1)", "give it one output")
    return found[:, :, 0]
