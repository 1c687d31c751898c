"""Learning a response while each group of parameters moves at a rate of its own."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, flag, instance, number, real, wrong
from tacit._types import Array, Float, precise, x64_for
from tacit.models import DiagonalSSM
from tacit.problems._shapes import check_response, check_response_and_mask

_EQUAL = {"A": 1.0, "B": 1.0, "C": 1.0}


class RatedResponse(eqx.Module):
    """Σ_{j<k} (h_j − h*_j)² of a `DiagonalSSM` at θ = θ⁰ + s ∘ φ; what is trained is φ, from zero.

    Flow on φ with s = √η is flow on θ in which group g moves at the rate η_g:
    θ̇ = s φ̇ = −s² ∂loss/∂θ. Adam does not see the size of a gradient, so there s = η. Lags from k on
    are masked, and s is an array, so that many lengths and rates train as one program.
    """

    start: DiagonalSSM
    scales: DiagonalSSM
    target: Float[Array, "lags outputs inputs"]
    mask: Float[Array, " lags"]

    def __check_init__(self) -> None:
        check_response_and_mask(self.target, self.mask)

    @staticmethod
    @door(model=instance(DiagonalSSM), target=real(1, 3), length=ANY, adaptive=flag)
    def of(
        model: DiagonalSSM,
        target: ArrayLike,
        *,
        length: int,
        rates: Mapping[str, float] = _EQUAL,
        adaptive: bool = False,
    ) -> "RatedResponse":
        """The loss on the first `length` lags of `target`, for a model that begins as it is.

        **Arguments:**

        - `target`: (lags,) or (lags, outputs, inputs).
        - `rates`: of A (the spectrum's parameters), B and C, not negative; zero freezes a group.
        - `adaptive`: whether the method is one, such as Adam, that divides gradients by their size.
        """
        wanted = np.asarray(target)
        outputs, inputs = model.C.shape[1], model.B.shape[2]
        wanted = wanted[:, None, None] if wanted.ndim == 1 else wanted
        if wanted.shape[1:] != (outputs, inputs):
            raise ValueError(
                f"target: received the shape {np.shape(target)}, it must be (lags, outputs = "
                f"{outputs}, inputs = {inputs})"
            )
        if not 1 <= length <= len(wanted):
            raise ValueError(
                f"length: received {length!r}, it must lie in [1, lags = {len(wanted)}]"
            )
        if not isinstance(rates, Mapping) or set(rates) != set(_EQUAL):
            raise wrong("rates", rates, "must be a mapping with a rate for each of A, B and C")
        sizes: dict[str, Any] = {}
        for group, rate in rates.items():
            number(0)(f"rates[{group!r}]", rate)
            sizes[group] = float(rate) if adaptive else float(rate) ** 0.5
        dtype = model.B.dtype
        with x64_for(dtype):

            def filled(tree: Any, group: str) -> Any:
                return jax.tree.map(lambda leaf: jnp.full_like(leaf, sizes[group]), tree)

            parts = filled(model.spectrum, "A"), filled(model.B, "B"), filled(model.C, "C")
            scales = eqx.tree_at(lambda m: (m.spectrum, m.B, m.C), model, parts)
            mask = np.arange(len(wanted)) < length
            return RatedResponse(
                model, scales, jnp.asarray(wanted, dtype), jnp.asarray(mask, dtype)
            )

    @precise
    def unmoved(self) -> DiagonalSSM:
        """φ = 0, where training begins."""
        return jax.tree.map(jnp.zeros_like, self.start)

    @precise
    def model(self, moves: DiagonalSSM) -> DiagonalSSM:
        """The model at θ⁰ + s ∘ φ."""
        return jax.tree.map(lambda at, s, phi: at + s * phi, self.start, self.scales, moves)

    @precise
    def residuals(self, moves: DiagonalSSM) -> Float[Array, "lags outputs inputs"]:
        """The errors of the impulse response, zero at masked lags."""
        response = self.model(moves).impulse_response(self.target.shape[0])
        check_response(response, self.target)
        return self.mask[:, None, None] * (response - self.target)

    @precise
    def loss(self, moves: DiagonalSSM) -> Float[Array, ""]:
        """The sum of the squared errors."""
        return jnp.sum(self.residuals(moves) ** 2)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of the all-zero impulse response: the scale for relative losses."""
        return jnp.sum((self.mask[:, None, None] * self.target) ** 2)
