"""A linearly implicit solver for gradient flow on sums of squares."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from diffrax import RESULTS
from jax.flatten_util import ravel_pytree

from tacit._types import Array, PyTree
from tacit.descent._received import received
from tacit.descent._small_solve import solve_positive
from tacit.descent._solver import FlowSolver


class GaussNewton(FlowSolver):
    """Extrapolated, linearly implicit Euler steps with the Gauss-Newton matrix, of order two.

    For L = |r|² the flow is θ' = −2 Jᵀ r. One Euler step of size h with 2 Jᵀ J in place of the
    Hessian is

        δ = −2 h Jᵀ (I + 2 h J Jᵀ)⁻¹ r,

    a k × k solve for k residuals (Woodbury). One whole step and two halves give an error estimate
    and, extrapolated, order two: the expansion in h exists for any matrix in place of the Hessian.
    The stability function 2/(1 − z/2)² − 1/(1 − z) vanishes at −∞, so steps grow without bound as
    the flow settles: time 1e10 takes a few hundred of them.
    """

    def order(self, terms: Any) -> int:
        """Two, with an estimate of local order two."""
        return 2

    def init(self, terms: Any, t0: Any, t1: Any, y0: PyTree, args: Any) -> None:
        """There is no state."""
        return None

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: PyTree,
        args: Any,
        solver_state: None,
        made_jump: Any,
    ) -> tuple[PyTree, PyTree, dict[str, PyTree], None, RESULTS]:
        """Two linearisations, three solves."""
        field = terms.vector_field
        if getattr(field, "clock", None) is not None:
            raise ValueError(
                f"clock: received {received(field.clock)}, it must be None for GaussNewton, whose "
                "steps grow with the flow's own time; leave it out"
            )
        h = t1 - t0
        flat, unravel = ravel_pytree(y0)

        def linearised(point: Array) -> Callable[[Any], Array]:
            residuals, gram, pull = field.objective.linearised(unravel(point))
            identity = jnp.eye(residuals.size, dtype=gram.dtype)

            def change(size: Any) -> Array:
                solved = solve_positive(identity + 2 * size * gram, residuals)
                return -2 * size * pull(solved)

            return change

        first = linearised(flat)
        whole = flat + first(h)
        middle = flat + first(h / 2)
        halves = middle + linearised(middle)(h / 2)
        error = halves - whole
        y1 = unravel(halves + error)
        return y1, unravel(error), {"y0": y0, "y1": y1}, None, RESULTS.successful  # type: ignore[return-value]
