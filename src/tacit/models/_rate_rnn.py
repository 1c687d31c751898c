"""The rate network: units in Euler steps, random connectivity, a few input and output channels."""

import math
from dataclasses import dataclass
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import (
    check_fields,
    door,
    floating,
    function,
    instance,
    key,
    number,
    real,
    text,
    whole,
)
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._parameter import check_length, gaussian, parameter
from tacit.models._rate_recurrence import Nonlinearity, rates, readouts


@dataclass(frozen=True)
class Parametrisation:
    """Which arrays are trained: the maps are the arrays times N to some power.

    An optimiser that normalises its steps, such as Adam, learns differently in each. `BY_MAPS`, the
    paper's public code, trains W_i = √N m (entries of order 1) and W_o = w/√N (entries of order
    1/N); `BY_VECTORS`, the paper's text, trains m and w (entries of order 1/√N).
    """

    name: str
    input_power: float
    output_power: float

    def __post_init__(self) -> None:
        check_fields(self, name=text, input_power=number(), output_power=number())


BY_MAPS = Parametrisation("code", 0.0, 0.0)
BY_VECTORS = Parametrisation("paper", 0.5, -0.5)


@final
class RateRNN(eqx.Module):
    """ẋ = −x + Wφ(x) + √N Σ m_i u_i, z_i = w_iᵀφ(x)/√N, in Euler steps (connectivity (2), (3)).

        x ← (1 − dt) x + dt (Wφ(x) + W_i u_k),    z_k = W_o φ(x),    x₀ = 0:

    output k is read after update k. Gradients go through a hand-written adjoint.

    **Arguments:**

    - `W`: the connectivity, (N, N).
    - `inputs`, `outputs`: the trained input and output arrays, (N, inputs) and (outputs, N).
    - `dt`: the Euler step, in units of the time constant, in (0, 1].
    - `nonlinearity`: φ, an elementwise function that JAX can differentiate.
    - `parametrisation`: how W_i and W_o follow from `inputs` and `outputs`.
    """

    W: Float[Array, "n n"]
    inputs: Float[Array, "n inputs"]
    outputs: Float[Array, "outputs n"]
    dt: float = eqx.field(static=True)
    nonlinearity: Nonlinearity = eqx.field(static=True)
    parametrisation: Parametrisation = eqx.field(static=True)

    def __init__(
        self,
        W: ArrayLike,
        inputs: ArrayLike,
        outputs: ArrayLike,
        *,
        dt: float = 0.5,
        nonlinearity: Nonlinearity = jnp.tanh,
        parametrisation: Parametrisation = BY_MAPS,
    ) -> None:
        self.W = parameter("W", W, ("units", "units"))
        self.inputs = parameter("inputs", inputs, ("units", "inputs"))
        self.outputs = parameter("outputs", outputs, ("outputs", "units"))
        size = self.W.shape[0]
        shapes = self.W.shape, self.inputs.shape, self.outputs.shape
        if self.W.shape[1] != size or self.inputs.shape[0] != size or self.outputs.shape[1] != size:
            raise ValueError(
                f"W, inputs, outputs: received {shapes[0]}, {shapes[1]}, {shapes[2]}, they must be "
                "(units, units), (units, inputs), (outputs, units)"
            )
        dtypes = {self.W.dtype, self.inputs.dtype, self.outputs.dtype}
        if len(dtypes) != 1:
            raise ValueError(
                f"W, inputs, outputs: received {sorted(map(str, dtypes))}, they must have one dtype"
            )
        number()("dt", dt)
        instance(Parametrisation)("parametrisation", parametrisation)
        if not 0 < dt <= 1:
            raise ValueError(
                f"dt: received {dt!r}, it must lie in (0, 1]; a longer Euler step is unstable"
            )
        if not callable(nonlinearity):
            raise ValueError(f"nonlinearity: received {nonlinearity!r}, it must be a function")
        self.dt = float(dt)
        self.nonlinearity = nonlinearity
        self.parametrisation = parametrisation

    @property
    def width(self) -> int:
        """The number N of units."""
        return self.W.shape[0]

    @property
    @precise
    def input_map(self) -> Float[Array, "n inputs"]:
        """W_i = √N (m_1, m_2, …)."""
        return self.inputs * self._scale(self.parametrisation.input_power)

    @property
    @precise
    def output_map(self) -> Float[Array, "outputs n"]:
        """W_o, with the rows w_i/√N."""
        return self.outputs * self._scale(self.parametrisation.output_power)

    def _scale(self, power: float) -> Float[Array, ""]:
        return jnp.asarray(math.pow(self.width, power), self.W.dtype)

    @door(inputs=real(finite=False))
    @precise
    def rates(self, inputs: ArrayLike) -> Float[Array, "batch time n"]:
        """φ(x) after every step, for inputs (batch, time, inputs)."""
        drive = self._checked(inputs, ("batch", "time", "inputs"))
        return _rates(self, drive)

    @precise
    def run(self, inputs: ArrayLike) -> Float[Array, "batch time outputs"]:
        """The outputs for a batch of inputs (batch, time, inputs)."""
        drive = self._checked(inputs, ("batch", "time", "inputs"))
        return _outputs(self, drive)

    @precise
    def __call__(self, inputs: ArrayLike) -> Float[Array, "time outputs"]:
        """The outputs for the inputs (time, inputs) of one trial."""
        return self.run(self._checked(inputs, ("time", "inputs"))[None])[0]

    def _checked(self, inputs: ArrayLike, axes: tuple[str, ...]) -> Float[Array, "..."]:
        drive = parameter("inputs", inputs, axes).astype(self.W.dtype)
        if drive.shape[-1] != self.inputs.shape[1]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must end in the model's "
                f"{self.inputs.shape[1]} input channels"
            )
        return drive

    @classmethod
    @door(
        width=whole(1, 100_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        g=number(0, 1e30),
        dt=number(above=0, high=1),
        nonlinearity=function,
        parametrisation=instance(Parametrisation),
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        g: float | Float[Array, ""],
        dt: float = 0.5,
        nonlinearity: Nonlinearity = jnp.tanh,
        parametrisation: Parametrisation = BY_MAPS,
        dtype: DTypeLike = np.float32,
        key: PRNGKeyArray,
    ) -> "RateRNN":
        """W with independent N(0, g²/N) entries; every m_i and w_i random, of norm exactly 1."""
        for name, count in (("width", width), ("inputs", inputs), ("outputs", outputs)):
            check_length(count, name)
        with x64_for(np.dtype(dtype)):
            recurrent_key, input_key, output_key = jax.random.split(key, 3)
            scale = g / math.sqrt(width)
            W = gaussian((width, width), scale=scale, dtype=dtype, key=recurrent_key)
            m = gaussian((width, inputs), scale=1.0, dtype=dtype, key=input_key)
            w = gaussian((outputs, width), scale=1.0, dtype=dtype, key=output_key)
            m = m / jnp.linalg.norm(m, axis=0, keepdims=True)
            w = w / jnp.linalg.norm(w, axis=1, keepdims=True)
            return cls(
                W,
                m * math.pow(width, 0.5 - parametrisation.input_power),
                w * math.pow(width, -0.5 - parametrisation.output_power),
                dt=dt,
                nonlinearity=nonlinearity,
                parametrisation=parametrisation,
            )


# Compiled here for calls outside a compiled loop, where the scan would be compiled again each time.
# Time goes first, so that a step of the loop reads one block.
@jax.jit
def _rates(model: RateRNN, inputs: Array) -> Float[Array, "batch time n"]:
    maps = model.W, model.input_map
    found = rates(model.nonlinearity, model.dt, *maps, jnp.swapaxes(inputs, 0, 1))
    return jnp.swapaxes(found, 0, 1)


@jax.jit
def _outputs(model: RateRNN, inputs: Array) -> Float[Array, "batch time outputs"]:
    maps = model.W, model.input_map, model.output_map
    found = readouts(model.nonlinearity, model.dt, *maps, jnp.swapaxes(inputs, 0, 1))
    return jnp.swapaxes(found, 0, 1)
