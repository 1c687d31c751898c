"""A small stack of diagonal state-space layers with a nonlinearity between, as in S5."""

import abc
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, flag, floating, instance, key, number, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._diagonal_ssm import DiagonalSSM
from tacit.models._parameter import gaussian, parameter
from tacit.models._ssm_scans import AbstractScan, Recurrence
from tacit.models._ssm_starts import AbstractStart

_SEQUENTIAL = Recurrence()


class AbstractGate(eqx.Module):
    """What comes after the state-space model of a block, at each time step by itself."""

    @abc.abstractmethod
    def __call__(self, z: Float[Array, "time features"]) -> Float[Array, "time features"]:
        """The features, each time step from its own alone."""


@final
class GELU(AbstractGate):
    """z ↦ gelu(z)."""

    def __call__(self, z: Float[Array, "time features"]) -> Float[Array, "time features"]:
        """gelu(z), the exact one."""
        return jax.nn.gelu(z, approximate=False)


@final
class GLU(AbstractGate):
    """z ↦ a σ(W a + b) with a = gelu(z): the gated unit of S5 (Smith et al. 2023).

    **Arguments:**

    - `weight`: W, (features, features).
    - `bias`: b, (features,).
    """

    weight: Float[Array, "features features"]
    bias: Float[Array, " features"]

    def __init__(self, weight: ArrayLike, bias: ArrayLike) -> None:
        self.weight = parameter("weight", weight, ("features", "features"))
        self.bias = parameter("bias", bias, ("features",))
        if len(set(self.weight.shape) | set(self.bias.shape)) != 1:
            raise ValueError(
                f"weight and bias: received {self.weight.shape} and {self.bias.shape}, they must "
                "be (features, features) and (features,)"
            )

    def __call__(self, z: Float[Array, "time features"]) -> Float[Array, "time features"]:
        """a σ(W a + b)."""
        a = jax.nn.gelu(z, approximate=False)
        return a * jax.nn.sigmoid(a @ self.weight.T + self.bias)


class SSMBlock(eqx.Module):
    """u ↦ u + gate(SSM(u) + D u): one layer of the stack.

    There is no normalisation: a few layers do without, and one over the features of a single input
    would leave nothing but its sign.
    """

    ssm: DiagonalSSM
    D: Float[Array, " features"]
    gate: AbstractGate

    def __call__(
        self, u: Float[Array, "time features"], scan: AbstractScan
    ) -> Float[Array, "time features"]:
        """The features after this layer."""
        return u + self.gate(self.ssm.simulate(u, scan=scan) + self.D * u)


@final
class SSMStack(eqx.Module):
    """A linear encoder, blocks of a state-space model and a gate with skips, a linear decoder.

    **Arguments:**

    - `encoder`: (features, inputs).
    - `blocks`: each acts on (time, features).
    - `decoder`: (outputs, features).
    """

    encoder: Float[Array, "features inputs"]
    blocks: tuple[SSMBlock, ...]
    decoder: Float[Array, "outputs features"]

    @door(inputs=real(finite=False))
    @precise
    def simulate(
        self, inputs: ArrayLike, *, scan: AbstractScan = _SEQUENTIAL
    ) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs), from states of zero."""
        instance(AbstractScan, what="scan such as Recurrence()")("scan", scan)
        drive = parameter("inputs", inputs, ("time", "inputs")).astype(self.encoder.dtype)
        if drive.shape[1] != self.encoder.shape[1]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must have {self.encoder.shape[1]} "
                "columns, one for each input of the model"
            )
        features = drive @ self.encoder.T
        for block in self.blocks:
            features = block(features, scan)
        return features @ self.decoder.T

    @classmethod
    @door(
        start=instance(AbstractStart, what="start such as LRURing()"),
        layers=whole(1, 100),
        features=whole(1, 100_000),
        modes=whole(1, 100_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        scale=number(0),
        gated=flag,
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        start: AbstractStart,
        layers: int,
        *,
        features: int,
        modes: int,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | int | Float[Array, ""] = 1.0,
        gated: bool = True,
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "SSMStack":
        """A stack with normal weights of variance one over their inputs.

        **Arguments:**

        - `start`, `modes`: as for `DiagonalSSM.random`; `scale` is its C's, over √modes.
        - `features`: between the layers; each model has so many inputs and outputs.
        - `gated`: GLU between the layers as in S5, else GELU.
        """
        kind = np.dtype(dtype)
        encoder_key, decoder_key, *keys = jax.random.split(key, 2 + 3 * layers)
        with x64_for(kind):
            blocks = []
            for ssm_key, skip_key, gate_key in zip(*[iter(keys)] * 3, strict=True):
                ssm = DiagonalSSM.random(
                    start,
                    modes,
                    inputs=features,
                    outputs=features,
                    scale=scale * modes**-0.5,
                    dtype=kind,
                    key=ssm_key,
                )
                skip = gaussian((features,), scale=1.0, dtype=kind, key=skip_key)
                gate: AbstractGate = GELU()
                if gated:
                    size = features**-0.5
                    weight = gaussian((features, features), scale=size, dtype=kind, key=gate_key)
                    gate = GLU(weight, jnp.zeros(features, kind))
                blocks.append(SSMBlock(ssm, skip, gate))
            return cls(
                gaussian((features, inputs), scale=inputs**-0.5, dtype=kind, key=encoder_key),
                tuple(blocks),
                gaussian((outputs, features), scale=features**-0.5, dtype=kind, key=decoder_key),
            )
