"""Levenberg-Marquardt for few residuals and many parameters."""

import equinox as eqx
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from tacit._doors import check_fields, number
from tacit._types import Array, Float, PyTree
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective
from tacit.descent._small_solve import solve_positive


class _State(eqx.Module):
    damping: Float[Array, ""]  # relative to the largest diagonal entry of J Jᵀ
    growth: Float[Array, ""]


class LevenbergMarquardt(AbstractMethod):
    """Damped Gauss-Newton steps of least norm, through a k × k solve for k residuals.

    δ = −Jᵀ (J Jᵀ + μ I)⁻¹ r, with μ = damping · max diag(J Jᵀ). The damping follows the ratio of
    the actual to the predicted decrease (Nielsen's rule), a step that does not lower the loss is
    not taken, and a lane whose damping passes `largest` is stuck. Started near a solution of an
    overparameterised model, steps of least norm stay near where descent had led: it is a polish
    that answers "what would zero loss have given?", not another initialisation.

    The problem must have `residuals`. `rate` scales the step.
    """

    damping: float = 1e-3
    smallest: float = 1e-15
    largest: float = 1e15

    def __check_init__(self) -> None:
        check_fields(self, damping=number(), smallest=number(), largest=number())
        if not 0 < self.smallest <= self.damping <= self.largest:
            raise ValueError(
                f"damping: received {self.damping!r} with smallest = {self.smallest!r} and largest "
                f"= {self.largest!r}, they must satisfy 0 < smallest <= damping <= largest; leave "
                "them out for the defaults"
            )

    def init(self, params: PyTree, objective: Objective) -> _State:
        """The initial damping, in the precision of the parameters."""
        dtype = ravel_pytree(params)[0].dtype
        return _State(jnp.asarray(self.damping, dtype), jnp.asarray(2.0, dtype))

    def advance(
        self, params: PyTree, state: _State, objective: Objective, rate: Array | None
    ) -> Advance:
        """One trial step: taken if it lowers the loss, else the damping grows."""
        flat, unravel = ravel_pytree(params)

        r, jacobian = objective.residuals_and_jacobian(params)
        loss = r @ r
        gram = jacobian @ jacobian.T
        mu = state.damping * jnp.max(jnp.diagonal(gram))
        z = solve_positive(gram + mu * jnp.eye(r.size, dtype=r.dtype), r)
        step = -(jacobian.T @ z)
        if rate is not None:
            step = rate.astype(step.dtype) * step
        trial = objective.residuals(unravel(flat + step))
        trial_loss = trial @ trial
        # |r|² − |r + Jδ|² for δ above, written without cancellation: zᵀ(G + 2μ)Gz ≥ 0.
        gz = gram @ z
        predicted = gz @ gz + 2 * mu * (z @ gz)
        gain = (loss - trial_loss) / predicted
        accept = trial_loss < loss  # False for NaN: a failed factorisation raises the damping
        shrink = jnp.maximum(1 / 3, 1 - (2 * gain - 1) ** 3)
        damping = jnp.where(accept, state.damping * shrink, state.damping * state.growth)
        return Advance(
            params=unravel(jnp.where(accept, flat + step, flat)),
            state=_State(
                damping=jnp.maximum(damping, self.smallest),
                growth=jnp.where(accept, 2.0, 2 * state.growth),
            ),
            loss=loss,
            gradient_norm=2 * jnp.linalg.norm(jacobian.T @ r),
            stuck=~(state.damping < self.largest),
        )
