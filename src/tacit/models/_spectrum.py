"""The eigenvalues of a diagonal state-space model, in the parametrisations that people train.

A spectrum gives the eigenvalues λ of the recurrence x_t = λ x_{t−1} + g (B u_t) and the factor g
with which it lets inputs in: the input normalisation of LRU, what a discretisation makes of B in
S4D, or one. Its parameters are real and free, so that descent on them stays in the family.
"""

import abc
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Complex
from numpy.typing import ArrayLike

from tacit._doors import instance
from tacit._types import Array, Float, precise
from tacit.models._parameter import parameter


class AbstractSpectrum(eqx.Module):
    """The eigenvalues of a `DiagonalSSM` and its input factor, from real parameters."""

    @property
    @abc.abstractmethod
    def modes(self) -> int:
        """The number n of eigenvalues."""

    @property
    @abc.abstractmethod
    def dtype(self) -> np.dtype:
        """The real dtype of the parameters."""

    @abc.abstractmethod
    def eigenvalues(self) -> Complex[Array, " n"]:
        """λ, one for each mode."""

    @abc.abstractmethod
    def input_factor(self) -> Complex[Array, " n"]:
        """g, what each mode multiplies its input by."""

    @precise
    def slopes(self) -> tuple[Complex[Array, "p n"], Complex[Array, "p n"]]:
        """∂λ_s/∂θ_p and ∂g_s/∂θ_p for every real parameter θ_p, in the order of the leaves."""
        flat, unravel = ravel_pytree(self)

        def both(at: Array) -> tuple[Array, Array]:
            moved = unravel(at)
            return moved.eigenvalues(), moved.input_factor()

        by_eigenvalue, by_factor = jax.jacfwd(both)(flat)
        return by_eigenvalue.T, by_factor.T


@final
class PlainSpectrum(AbstractSpectrum):
    """λ = a + ib by its two parts, with no input factor. Nothing keeps it inside the unit circle.

    **Arguments:**

    - `real`, `imag`: a and b, (modes,).
    """

    real: Float[Array, " n"]
    imag: Float[Array, " n"]

    def __init__(self, real: ArrayLike, imag: ArrayLike) -> None:
        self.real, self.imag = _vectors(real=real, imag=imag)

    @property
    def modes(self) -> int:
        """The number of eigenvalues."""
        return self.real.shape[-1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""
        return self.real.dtype

    @precise
    def eigenvalues(self) -> Complex[Array, " n"]:
        """a + ib."""
        return jax.lax.complex(self.real, self.imag)

    @precise
    def input_factor(self) -> Complex[Array, " n"]:
        """One."""
        return jnp.ones_like(self.eigenvalues())


@final
class RingSpectrum(AbstractSpectrum):
    """λ = exp(−exp(ν) + iθ): inside the unit circle whatever ν is (LRU; Orvieto et al. 2023, 3.3).

    With `log_gain`, inputs are multiplied by γ = exp(log_gain), which is trained too. LRU starts it
    at γ = √(1 − |λ|²): then a state has the size of its input however slowly it forgets.

    **Arguments:**

    - `log_decay`, `phase`: ν and θ, (modes,).
    - `log_gain`: log γ, (modes,), or `None` for no normalisation of the input.
    """

    log_decay: Float[Array, " n"]
    phase: Float[Array, " n"]
    log_gain: Float[Array, " n"] | None

    def __init__(
        self, log_decay: ArrayLike, phase: ArrayLike, log_gain: ArrayLike | None = None
    ) -> None:
        self.log_decay, self.phase = _vectors(log_decay=log_decay, phase=phase)
        self.log_gain = None
        if log_gain is not None:
            _, self.log_gain = _vectors(log_decay=log_decay, log_gain=log_gain)

    @property
    def modes(self) -> int:
        """The number of eigenvalues."""
        return self.log_decay.shape[-1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""
        return self.log_decay.dtype

    @precise
    def eigenvalues(self) -> Complex[Array, " n"]:
        """exp(−exp(ν) + iθ)."""
        return jnp.exp(jax.lax.complex(-jnp.exp(self.log_decay), self.phase))

    @precise
    def input_factor(self) -> Complex[Array, " n"]:
        """γ, or one."""
        log_gain = jnp.zeros_like(self.log_decay) if self.log_gain is None else self.log_gain
        return jax.lax.complex(jnp.exp(log_gain), jnp.zeros_like(log_gain))

    @precise
    def normalised(self) -> "RingSpectrum":
        """The same eigenvalues with γ = √(1 − |λ|²)."""
        log_gain = 0.5 * jnp.log(-jnp.expm1(-2 * jnp.exp(self.log_decay)))
        return RingSpectrum(self.log_decay, self.phase, log_gain)


class AbstractDiscretisation(eqx.Module):
    """From ẋ = a x + b u with a step Δ to x_t = λ x_{t−1} + g b u_t."""

    @abc.abstractmethod
    def discretise(self, rates: Array, step: Array) -> tuple[Array, Array]:
        """λ and g."""


@final
class ZeroOrderHold(AbstractDiscretisation):
    """Inputs are constant over a step: λ = e^{aΔ}, g = (e^{aΔ} − 1)/a (S4D, Gu et al. 2022)."""

    def discretise(self, rates: Array, step: Array) -> tuple[Array, Array]:
        """λ and g."""
        return jnp.exp(rates * step), jnp.expm1(rates * step) / rates


@final
class Bilinear(AbstractDiscretisation):
    """Tustin's rule: λ = (1 + aΔ/2)/(1 − aΔ/2), g = Δ/(1 − aΔ/2) (S4, Gu et al. 2022)."""

    def discretise(self, rates: Array, step: Array) -> tuple[Array, Array]:
        """λ and g."""
        half = rates * step / 2
        return (1 + half) / (1 - half), step / (1 - half)


@final
class DiscretisedSpectrum(AbstractSpectrum):
    """S4D: a = −exp(log_decay) + i frequency in continuous time, read with steps Δ = exp(log_step).

    **Arguments:**

    - `log_decay`, `frequency`: (modes,).
    - `log_step`: (1,) for one Δ for all modes, as in S4D, or (modes,), as in S5.
    - `rule`: `ZeroOrderHold()` or `Bilinear()`.
    """

    log_decay: Float[Array, " n"]
    frequency: Float[Array, " n"]
    log_step: Float[Array, " steps"]
    rule: AbstractDiscretisation = eqx.field(static=True)

    def __init__(
        self,
        log_decay: ArrayLike,
        frequency: ArrayLike,
        log_step: ArrayLike,
        rule: AbstractDiscretisation | None = None,
    ) -> None:
        self.log_decay, self.frequency = _vectors(log_decay=log_decay, frequency=frequency)
        self.log_step = parameter("log_step", log_step, ("steps",))
        if self.log_step.shape[0] not in (1, self.modes):
            raise ValueError(
                f"log_step: received the shape {self.log_step.shape}, it must be (1,) for one step "
                f"for all modes, or (modes = {self.modes},)"
            )
        _same_dtype("log_decay", self.log_decay, "log_step", self.log_step)
        self.rule = ZeroOrderHold() if rule is None else rule
        instance(AbstractDiscretisation, what="ZeroOrderHold() or Bilinear()")("rule", self.rule)

    @property
    def modes(self) -> int:
        """The number of eigenvalues."""
        return self.log_decay.shape[-1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""
        return self.log_decay.dtype

    @precise
    def eigenvalues(self) -> Complex[Array, " n"]:
        """λ, by the rule."""
        return self._discrete()[0]

    @precise
    def input_factor(self) -> Complex[Array, " n"]:
        """g, by the rule."""
        return self._discrete()[1]

    def _discrete(self) -> tuple[Array, Array]:
        rates = jax.lax.complex(-jnp.exp(self.log_decay), self.frequency)
        return self.rule.discretise(rates, jnp.exp(self.log_step))


def _vectors(**given: Any) -> tuple[Array, Array]:
    """Two parameters of one shape (modes,) and one dtype."""
    (first, second), names = given.values(), tuple(given)
    one, other = parameter(names[0], first, ("modes",)), parameter(names[1], second, ("modes",))
    if one.shape != other.shape:
        raise ValueError(
            f"{names[0]} and {names[1]}: received the shapes {one.shape} and {other.shape}, they "
            "must have one entry for each mode"
        )
    _same_dtype(names[0], one, names[1], other)
    return one, other


def _same_dtype(name: str, one: Array, other_name: str, other: Array) -> None:
    if one.dtype != other.dtype:
        raise ValueError(
            f"{name} and {other_name}: received {one.dtype} and {other.dtype}, they must have one "
            "dtype; convert one to the other"
        )
