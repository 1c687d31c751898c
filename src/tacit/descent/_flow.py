"""Gradient flow: dθ/dt = −∇L(θ), a descent like any other.

**Which solver, when.**
- `diffrax.Tsit5()` (the default) and `diffrax.Dopri8()`: smooth problems of any kind, until they
  become stiff late in training. Dopri8 pays below a tolerance of about 1e-8, and for escapes from
  tiny initial scales.
- `GaussNewton()`: few residuals, long times (to 1e10): linearly implicit, one k × k solve a stage.
- `StabilisedRungeKutta()`: mildly stiff problems of middle size, such as 100 × 100 factors, where
  an explicit method is held back by stability and an implicit one by its linear algebra.
- Diffrax's implicit solvers work too; Newton's method on all parameters is rarely worth it here.

For a homogeneous model that starts at a tiny scale add `HomogeneousClock(degree)`: the flow's path
is the same, and the long wait near zero becomes short.
"""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._types import Array, Float, PyTree
from tacit.descent._clock import AbstractClock
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective


class Downhill(eqx.Module):
    """The vector field −s(θ) ∇L(θ), where s = dt/dτ is the clock's rate (1 without a clock).

    With a clock the state is (θ, t): time is one of the things that are integrated.
    """

    objective: Objective
    clock: AbstractClock | None
    rate: Array | None

    def speed(self, params: PyTree) -> Array | float:
        """The factor on −∇L at `params`."""
        factor: Array | float = 1.0 if self.clock is None else self.clock.rate(params)
        return factor if self.rate is None else factor * self.rate

    def params(self, y: PyTree) -> PyTree:
        """The parameters in a solver's state."""
        return y if self.clock is None else y[0]

    def __call__(self, t: Any, y: PyTree, args: Any) -> PyTree:
        """The velocity at y; it does not depend on t."""
        params = self.params(y)
        _, gradient = self.objective.loss_and_gradient(params)
        speed = self.speed(params)
        velocity = jax.tree.map(lambda g: -(speed * g).astype(g.dtype), gradient)
        if self.clock is None:
            return velocity
        return velocity, jnp.asarray(self.clock.rate(params), y[1].dtype)


class FlowState(eqx.Module):
    """A lane's place in time and what its solver and controller remember."""

    time: Float[Array, ""]
    dt: Float[Array, ""]
    solver: PyTree
    controller: PyTree
    accepted: Array
    rejected: Array
    error: Float[Array, ""]


class GradientFlow(AbstractMethod):
    """Gradient flow by a Diffrax solver with its own step sizes in every lane.

    **Arguments:**

    - `solver`: any Diffrax solver with an error estimate; see this file's beginning.
    - `rtol`, `atol`: the tolerances of the step-size control. An explicit method has a noise floor:
      with rtol = 1e-8 a loss of 1e-20 is never reached; ask for 1e-16 with rtol = 1e-10.
    - `until`: the time at which a lane is `stopped`; exact without a clock, the first step past it
      with one.
    - `clock`: a rescaling of time that leaves the path unchanged.
    - `controller`: a Diffrax controller, in place of the one made from the tolerances.

    A step of `Stop.steps` and of `Record` is one attempt of the solver, accepted or not. The
    result's `report` has for each lane `time`, `accepted`, `rejected` and `error`: the sum of the
    norms of the local error estimates over accepted steps, the accuracy reached as far as a flow
    that contracts (as one does near a minimum) does not amplify it.
    """

    solver: diffrax.AbstractSolver = diffrax.Tsit5()
    rtol: float = 1e-8
    atol: float = 1e-10
    until: float = float("inf")
    clock: AbstractClock | None = None
    controller: diffrax.AbstractStepSizeController | None = None

    def __check_init__(self) -> None:
        for name in ("rtol", "atol"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {getattr(self, name)!r}")
        if not self.until > 0:
            raise ValueError(f"until must be a time above 0, got {self.until!r}")
        if not isinstance(self.solver, diffrax.AbstractSolver):
            raise ValueError(f"solver must be a Diffrax solver, got {self.solver!r}")

    @property
    def _controller(self) -> diffrax.AbstractStepSizeController:
        if self.controller is not None:
            return self.controller
        # A little memory of the last error: fewer rejected steps at the edge of stability.
        return diffrax.PIDController(rtol=self.rtol, atol=self.atol, pcoeff=0.3, icoeff=0.4)

    def _error_order(self, term: diffrax.ODETerm) -> Any:
        order = self.solver.error_order(term)
        if order is None:
            raise ValueError(f"solver must estimate its error, {self.solver!r} does not")
        return order

    def _problem(
        self, params: PyTree, objective: Objective, rate: Array | None, time: Array
    ) -> tuple[diffrax.ODETerm, PyTree]:
        field = Downhill(objective, self.clock, rate)
        return diffrax.ODETerm(field), params if self.clock is None else (params, time)

    def init(self, params: PyTree, objective: Objective) -> FlowState:
        """The first step size is the controller's guess."""
        time = jnp.zeros((), jnp.result_type(*jax.tree.leaves(params)))
        term, y = self._problem(params, objective, None, time)
        order = self._error_order(term)
        dt, controller = self._controller.init(
            term, time, time + 1, y, None, None, self.solver.func, order
        )
        # The guess divides by the derivative's size; at a stationary point any step will do.
        dt = jnp.where(jnp.isfinite(dt) & (dt > 0), dt, 1.0).astype(time.dtype)
        solver = self.solver.init(term, time, dt, y, None)
        count = jnp.int32(0)
        return FlowState(time, dt, solver, controller, count, count, time)

    def advance(
        self, params: PyTree, state: FlowState, objective: Objective, rate: Array | None
    ) -> Advance:
        """One attempt of the solver. The flow is autonomous, so each starts at time zero."""
        term, y0 = self._problem(params, objective, rate, state.time)
        zero = jnp.zeros_like(state.time)
        dt = state.dt if self.clock is not None else jnp.minimum(state.dt, self.until - state.time)
        y1, error, _, solver, _ = self.solver.step(
            term, zero, dt, y0, None, state.solver, made_jump=False
        )
        keep, _, next_end, _, controller, _ = self._controller.adapt_step_size(
            zero, dt, y0, y1, None, error, self._error_order(term), state.controller
        )
        # A controller that keeps a step starts the next one at its end, else at its beginning.
        next_dt = jnp.where(keep, next_end - dt, next_end).astype(dt.dtype)

        def kept(new: PyTree, old: PyTree) -> PyTree:
            return jax.tree.map(lambda a, b: jnp.where(keep, a, b), new, old)

        y = kept(y1, y0)
        new_params, time = (y, state.time + jnp.where(keep, dt, 0)) if self.clock is None else y
        loss, gradient = objective.loss_and_gradient(params)
        return Advance(
            params=new_params,
            state=FlowState(
                time=time,
                dt=next_dt,
                solver=kept(solver, state.solver),
                controller=controller,
                accepted=state.accepted + keep,
                rejected=state.rejected + ~keep,
                error=state.error + jnp.where(keep, _norm(_params(error, self.clock)), 0),
            ),
            loss=loss,
            gradient_norm=_norm(gradient),
            # No step that changes the parameters is left: the tolerance is below the rounding.
            stuck=~(state.dt > jnp.finfo(state.dt.dtype).tiny * 1e10),
            finished=state.time >= self.until,
        )

    def report(self, state: FlowState) -> dict[str, Array]:
        """Time, steps and accuracy."""
        return {
            "time": state.time,
            "accepted": state.accepted,
            "rejected": state.rejected,
            "error": state.error,
        }


def _params(y: PyTree, clock: AbstractClock | None) -> PyTree:
    return y if clock is None else y[0]


def _norm(tree: PyTree) -> Array:
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))
