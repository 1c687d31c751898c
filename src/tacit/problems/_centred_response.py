"""Learning a response with the output divided by γ and centred: from the kernel to the rich regime.

The model is a `ScaledLinearRNN` with one input and output and f_j = n^{−(j+1)/2} C W^j F. What is
trained is the change of its response since the start, L_j = (f_j − f_j⁰)/γ, on the population loss
½ Σ_{j<k} (L_j − L*_j)², at a learning rate ∝ γ². Then dL/dt = −G (L − L*) with the Gram matrix G
of `tacit.theory.kernel.finite_width_gram`, and G itself turns at a speed ∝ γ₀ = γ/√n.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, number, real
from tacit._types import Array, Float, precise, x64_for
from tacit.models import ScaledLinearRNN
from tacit.problems._shapes import check_single, same_shape


class CentredResponse(eqx.Module):
    """½ Σ_{j<k} (L_j − L*_j)² for L_j = (f_j − f_j⁰)/γ; lags from k on are masked.

    Masked lags let problems of several lengths share a shape, and γ is an array, so that a whole
    map of lengths and scales trains as one program.
    """

    target: Float[Array, " lags"]
    start: Float[Array, " lags"]  # f⁰, the response before training
    mask: Float[Array, " lags"]
    gamma: Float[Array, ""]
    w_rate: Float[Array, ""]  # a factor on the learning rate of W alone

    def __check_init__(self) -> None:
        for name in ("start", "mask"):
            same_shape(
                name,
                getattr(self, name),
                np.shape(self.target),
                "(lags,), as target is",
                "give one number for each lag",
            )

    @staticmethod
    @door(
        target=real(),
        start=real(),
        length=ANY,
        gamma=number(above=0),
        w_rate=number(above=0),
    )
    def of(
        target: ArrayLike, start: ArrayLike, *, length: int, gamma: Any, w_rate: Any = 1.0
    ) -> "CentredResponse":
        """The loss on the first `length` lags of `target`, for a model that begins at `start`.

        It computes in the precision of `start`; both are (lags,).
        """
        wanted, begun = np.asarray(target), np.asarray(start)
        if wanted.ndim != 1 or wanted.shape != begun.shape or not wanted.size:
            raise ValueError(
                f"target and start: received {wanted.shape} and {begun.shape}, they must be "
                "responses (lags,) of one length"
            )
        if not 1 <= length <= len(wanted):
            raise ValueError(
                f"length: received {length!r}, it must lie in [1, lags = {len(wanted)}]"
            )
        for name, value in (("gamma", gamma), ("w_rate", w_rate)):
            if not 0 < float(value) < np.inf:
                raise ValueError(f"{name}: received {value!r}, it must be positive and finite")
        dtype = np.result_type(begun.dtype, np.float32)
        mask = np.arange(len(wanted)) < length
        with x64_for(dtype):
            parts = (wanted, begun, mask, float(gamma), float(w_rate))
            return CentredResponse(*(jnp.asarray(part, dtype) for part in parts))

    def _errors(self, response: Float[Array, " lags"]) -> Float[Array, " lags"]:
        return self.mask * ((response - self.start) / self.gamma - self.target)

    @precise
    def residuals(self, model: ScaledLinearRNN) -> Float[Array, " lags"]:
        """(L − L*)/√2 at the trained lags, zero at the others: the loss is the sum of squares."""
        response = model.impulse_response(self.target.shape[0])
        check_single(response)
        return self._errors(response[:, 0, 0]) / np.sqrt(2)

    @precise
    def loss(self, model: ScaledLinearRNN) -> Float[Array, ""]:
        """Half the squared distance of the centred response from the target."""
        return jnp.sum(self.residuals(model) ** 2)

    @precise
    def downhill(
        self, model: ScaledLinearRNN
    ) -> tuple[Float[Array, ""], ScaledLinearRNN, Float[Array, ""]]:
        """The loss, γ² times its gradient (by W times `w_rate`), and a bound on its curvature.

        With q_j = (W/√n)^j F and p_j = (Wᵀ/√n)^j Cᵀ, the gradient of Σ_j r_j f_j is Σ_j r_j q_j/√n
        by C, Σ_j r_j p_j/√n by F and Σ_il r_{i+l+1} p_i q_lᵀ/n by W. The bound is ‖G‖_F of
        Gauss and Newton's part of the Hessian plus γ₀ ‖L − L*‖₁ for the rest, whose entries are
        those of γ ∇²f_j and of order 1/√n.
        """
        q, p = _both_krylovs(model, self.target.shape[0])
        root = np.sqrt(model.width)
        r = self._errors(q @ model.C[0] / root)
        gram = self.mask[:, None] * _gram(q, p, self.w_rate) * self.mask
        curvature = jnp.sqrt(jnp.sum(gram**2)) + self.gamma / root * jnp.sum(jnp.abs(r))
        direction = _gradient(q, p, self.gamma * r, self.w_rate)
        return 0.5 * jnp.sum(r**2), direction, curvature

    @precise
    def linearised(
        self, model: ScaledLinearRNN
    ) -> tuple[Float[Array, " lags"], Float[Array, "lags lags"], Callable[[Array], Any]]:
        """The residuals, J Jᵀ = G/2γ² and z ↦ Jᵀ z, without J; `w_rate` has no part in it."""
        q, p = _both_krylovs(model, self.target.shape[0])
        r = self._errors(q @ model.C[0] / np.sqrt(model.width))
        one = jnp.ones_like(self.gamma)
        gram = self.mask[:, None] * _gram(q, p, one) * self.mask / (2 * self.gamma**2)
        scale = self.mask / (np.sqrt(2) * self.gamma)
        return r / np.sqrt(2), gram, lambda z: _gradient(q, p, scale * z, one)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of a response that has not moved."""
        return 0.5 * jnp.sum((self.mask * self.target) ** 2)


def _both_krylovs(
    model: ScaledLinearRNN, lags: int
) -> tuple[Float[Array, "lags n"], Float[Array, "lags n"]]:
    """q_j = (W/√n)^j F and p_j = (Wᵀ/√n)^j Cᵀ for j < lags, in rows."""
    check_single(jax.ShapeDtypeStruct((lags, model.C.shape[0], model.F.shape[1]), model.W.dtype))
    scale = 1 / np.sqrt(model.width)

    def step(pair: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Any]:
        v, w = pair
        return ((model.W @ v) * scale, (w @ model.W) * scale), pair

    with jax.default_matmul_precision("highest"):
        return jax.lax.scan(step, (model.F[:, 0], model.C[0]), None, length=lags)[1]


def _gradient(
    q: Float[Array, "lags n"], p: Float[Array, "lags n"], z: Array, w_rate: Array
) -> ScaledLinearRNN:
    """The gradient of Σ_j z_j f_j, that by W times `w_rate`."""
    lags, n = q.shape
    after = jnp.concatenate([z[1:], jnp.zeros_like(z)])  # z_{i+l+1} at i + l
    hankel = after[np.add.outer(np.arange(lags - 1), np.arange(lags - 1))]
    with jax.default_matmul_precision("highest"):
        return ScaledLinearRNN(
            (w_rate / n) * (p[:-1].T @ (hankel @ q[:-1])),
            (z @ p)[:, None] / np.sqrt(n),
            (z @ q)[None, :] / np.sqrt(n),
        )


def _gram(
    q: Float[Array, "lags n"], p: Float[Array, "lags n"], w_rate: Float[Array, ""]
) -> Float[Array, "lags lags"]:
    """G of `tacit.theory.kernel.finite_width_gram`, with the part from W times `w_rate`."""
    lags, n = q.shape
    Q, P = q @ q.T / n, p @ p.T / n
    # The part from W is the convolution of P and Q in both indices, one lag later. A convolution
    # along the rows is a product with Toeplitz matrices: T[i, j, k] = P[j − i, k] for j ≥ i.
    short = lags - 1
    later = np.subtract.outer(np.arange(short), np.arange(short))  # j − i
    known = jnp.asarray(later >= 0, q.dtype)
    rows = Q[np.maximum(later, 0), :short] * known[..., None]  # (j, i, l): Q[j − i, l]
    columns = P[:short][:, np.maximum(later, 0)] * known  # (i, k, l): P[i, k − l]
    part = jnp.einsum("jil,ikl->jk", rows, columns)
    return Q + P + w_rate * jnp.pad(part, ((1, 0), (1, 0)))
