"""Published starts of diagonal state-space models: where their eigenvalues begin."""

import abc
import math
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, flag, instance, number, plain
from tacit._types import Array, Float, PRNGKeyArray, x64_for
from tacit.models._parameter import gaussian
from tacit.models._spectrum import (
    AbstractDiscretisation,
    AbstractSpectrum,
    DiscretisedSpectrum,
    RingSpectrum,
    ZeroOrderHold,
)


class AbstractStart(eqx.Module):
    """Where the eigenvalues and the input map of a `DiagonalSSM` begin."""

    @abc.abstractmethod
    def spectrum(self, modes: int, *, dtype: Any, key: PRNGKeyArray) -> AbstractSpectrum:
        """A spectrum with so many modes."""

    @abc.abstractmethod
    def input_map(
        self, modes: int, inputs: int, *, dtype: Any, key: PRNGKeyArray
    ) -> Float[Array, "2 n inputs"]:
        """B, its real and its imaginary part."""


@final
class LRURing(AbstractStart):
    """LRU: eigenvalues uniform in area on the ring r_min ≤ |λ| ≤ r_max, B ~ N(0, 1/2 inputs).

    Orvieto et al. (2023), Lemma 3.2: |λ|² is uniform in [r_min², r_max²], the phase uniform in
    [0, max_phase].

    **Arguments:**

    - `r_min`, `r_max`: between 0 and 1.
    - `max_phase`: 2π by default. Small phases suit long memories.
    - `normalised`: whether inputs are multiplied by γ, which starts at √(1 − |λ|²).
    """

    r_min: float = eqx.field(static=True, converter=plain, default=0.0)
    r_max: float = eqx.field(static=True, converter=plain, default=0.999)
    max_phase: float = eqx.field(static=True, converter=plain, default=2 * math.pi)
    normalised: bool = eqx.field(static=True, converter=plain, default=True)

    def __check_init__(self) -> None:
        check_fields(
            self,
            r_min=number(0, below=1),
            r_max=number(above=0, below=1),
            max_phase=number(0, 2 * math.pi),
            normalised=flag,
        )
        if self.r_min > self.r_max:
            raise ValueError(
                f"r_min: received {self.r_min!r}, it must not be above r_max = {self.r_max!r}"
            )

    def spectrum(self, modes: int, *, dtype: Any, key: PRNGKeyArray) -> RingSpectrum:
        """Eigenvalues on the ring."""
        radius_key, phase_key = jax.random.split(key)
        with x64_for(np.dtype(dtype)):
            square = jax.random.uniform(
                radius_key, (modes,), dtype, minval=self.r_min**2, maxval=self.r_max**2
            )
            tiny = jnp.finfo(dtype).tiny  # |λ| = 0 has no logarithm
            found = RingSpectrum(
                jnp.log(-0.5 * jnp.log(jnp.maximum(square, tiny))),
                jax.random.uniform(phase_key, (modes,), dtype, maxval=self.max_phase),
            )
            return found.normalised() if self.normalised else found

    def input_map(
        self, modes: int, inputs: int, *, dtype: Any, key: PRNGKeyArray
    ) -> Float[Array, "2 n inputs"]:
        """Normal entries, of variance one over the inputs when both parts are counted."""
        return gaussian((2, modes, inputs), scale=(2 * inputs) ** -0.5, dtype=dtype, key=key)


class _S4DStart(AbstractStart):
    """What the two starts of S4D share: Re a = −½, B = 1, and Δ drawn once for all modes."""

    rule: AbstractDiscretisation = eqx.field(static=True, default=ZeroOrderHold())
    step_min: float = eqx.field(static=True, converter=plain, default=1e-3)
    step_max: float = eqx.field(static=True, converter=plain, default=1e-1)

    def __check_init__(self) -> None:
        check_fields(
            self,
            rule=instance(AbstractDiscretisation, what="ZeroOrderHold() or Bilinear()"),
            step_min=number(above=0),
            step_max=number(above=0),
        )
        if self.step_min > self.step_max:
            raise ValueError(
                f"step_min: received {self.step_min!r}, it must not be above step_max = "
                f"{self.step_max!r}"
            )

    @abc.abstractmethod
    def _frequencies(self, modes: int) -> np.ndarray: ...

    def spectrum(self, modes: int, *, dtype: Any, key: PRNGKeyArray) -> DiscretisedSpectrum:
        """Fixed rates, and log Δ uniform between the logarithms of `step_min` and `step_max`."""
        low, high = math.log(self.step_min), math.log(self.step_max)
        with x64_for(np.dtype(dtype)):
            return DiscretisedSpectrum(
                jnp.full(modes, math.log(0.5), dtype),
                jnp.asarray(self._frequencies(modes), dtype),
                jax.random.uniform(key, (1,), dtype, minval=low, maxval=high),
                self.rule,
            )

    def input_map(
        self, modes: int, inputs: int, *, dtype: Any, key: PRNGKeyArray
    ) -> Float[Array, "2 n inputs"]:
        """One; with several inputs, normal entries whose squares sum to one over the inputs."""
        with x64_for(np.dtype(dtype)):
            one = jnp.ones((modes, 1), dtype)
            if inputs > 1:
                one = gaussian((modes, inputs), scale=inputs**-0.5, dtype=dtype, key=key)
            return jnp.stack([one, jnp.zeros_like(one)])


@final
class S4DLin(_S4DStart):
    """S4D-Lin: a_m = −½ + iπm for m < modes (Gu et al. 2022), evenly spaced frequencies.

    **Arguments:**

    - `rule`: the discretisation, `ZeroOrderHold()` or `Bilinear()`.
    - `step_min`, `step_max`: the range of Δ. A memory of T steps wants Δ about 1/T.
    """

    def _frequencies(self, modes: int) -> np.ndarray:
        return np.pi * np.arange(modes)


@final
class S4DInv(_S4DStart):
    """S4D-Inv: a_m = −½ + i (N/π)(N/(2m + 1) − 1), N = 2 modes (Gu et al. 2022).

    **Arguments:** as for `S4DLin`.
    """

    def _frequencies(self, modes: int) -> np.ndarray:
        size = 2 * modes
        return size / np.pi * (size / (2 * np.arange(modes) + 1) - 1)
