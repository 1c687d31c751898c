"""Three ways to run x_t = λ x_{t−1} + B u_t, y_t = Re(C x_t).

Step by step, as an associative scan, or as a convolution with the impulse response.
"""

import abc
from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Complex

from tacit._types import Array, Float
from tacit.models._diagonal import complex_powers


class AbstractScan(eqx.Module):
    """A way to compute the outputs of a diagonal recurrence."""

    @abc.abstractmethod
    def outputs(
        self,
        eigenvalues: Complex[Array, " n"],
        input_map: Complex[Array, "n inputs"],
        output_map: Complex[Array, "outputs n"],
        inputs: Float[Array, "time inputs"],
    ) -> Float[Array, "time outputs"]:
        """y_t = Re(C x_t), x_t = λ x_{t−1} + B u_t for all t, from x = 0 before the first."""


@final
class Recurrence(AbstractScan):
    """Step by step: the fewest products, one after the other."""

    def outputs(
        self,
        eigenvalues: Complex[Array, " n"],
        input_map: Complex[Array, "n inputs"],
        output_map: Complex[Array, "outputs n"],
        inputs: Float[Array, "time inputs"],
    ) -> Float[Array, "time outputs"]:
        """By `jax.lax.scan`."""

        def states(drive: Array) -> Array:
            def step(state: Array, v: Array) -> tuple[Array, Array]:
                state = eigenvalues * state + v
                return state, state

            return jax.lax.scan(step, jnp.zeros_like(drive[0]), drive)[1]

        return _through(states, input_map, output_map, inputs)


@final
class AssociativeScan(AbstractScan):
    """In log₂(time) rounds: (a, v) then (b, w) is (ba, bv + w), which may be bracketed anyhow.

    It makes about twice the products of `Recurrence`, many at once: what accelerators want (S5;
    Smith et al. 2023).
    """

    def outputs(
        self,
        eigenvalues: Complex[Array, " n"],
        input_map: Complex[Array, "n inputs"],
        output_map: Complex[Array, "outputs n"],
        inputs: Float[Array, "time inputs"],
    ) -> Float[Array, "time outputs"]:
        """By `jax.lax.associative_scan`."""

        def join(first: tuple[Array, Array], then: tuple[Array, Array]) -> tuple[Array, Array]:
            (a, v), (b, w) = first, then
            return b * a, b * v + w

        def states(drive: Array) -> Array:
            factors = jnp.broadcast_to(eigenvalues, drive.shape)
            return jax.lax.associative_scan(join, (factors, drive))[1]

        return _through(states, input_map, output_map, inputs)


@final
class Convolution(AbstractScan):
    """y = T u, with T the block Toeplitz matrix of the impulse response.

    One product for a whole batch of sequences under `vmap`, as S4 is trained (Gu et al. 2022, with
    FFTs). T has (time · inputs) × (time · outputs) entries: for windows of tens of steps it is the
    fastest of the three on a processor, for long sequences the slowest.
    """

    def outputs(
        self,
        eigenvalues: Complex[Array, " n"],
        input_map: Complex[Array, "n inputs"],
        output_map: Complex[Array, "outputs n"],
        inputs: Float[Array, "time inputs"],
    ) -> Float[Array, "time outputs"]:
        """By one product of real matrices."""
        time, channels = inputs.shape
        response = impulses(eigenvalues, input_map, output_map, time)
        lag = jnp.arange(time)[:, None] - jnp.arange(time)
        blocks = jnp.where((lag >= 0)[..., None, None], response[jnp.maximum(lag, 0)], 0.0)
        matrix = blocks.transpose(1, 3, 0, 2).reshape(time * channels, -1)  # from (s, i) to (t, o)
        with jax.default_matmul_precision("highest"):
            return (inputs.ravel() @ matrix).reshape(time, -1)


def impulses(
    eigenvalues: Complex[Array, " n"],
    input_map: Complex[Array, "n inputs"],
    output_map: Complex[Array, "outputs n"],
    length: int,
) -> Float[Array, "length outputs inputs"]:
    """Re Σ_s C_s λ_s^j B_s for j < length."""
    real, imag = complex_powers(jnp.real(eigenvalues), jnp.imag(eigenvalues), length)
    weights = jnp.einsum("on,ni->noi", output_map, input_map)
    with jax.default_matmul_precision("highest"):
        return jnp.einsum("ln,noi->loi", real, jnp.real(weights)) - jnp.einsum(
            "ln,noi->loi", imag, jnp.imag(weights)
        )


def _through(
    states: Callable[[Array], Array], input_map: Array, output_map: Array, inputs: Array
) -> Array:
    """Outputs read from the states."""
    drive = inputs.astype(input_map.dtype) @ input_map.T
    return jnp.real(states(drive) @ output_map.T)
