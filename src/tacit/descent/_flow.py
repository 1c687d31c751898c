"""Gradient flow: dθ/dt = −∇L(θ), a descent like any other.

**Which solver, when.**
- `diffrax.Tsit5()` (the default) and `diffrax.Dopri8()`: smooth problems of any kind, until they
  become stiff late in training. Dopri8 pays below a tolerance of about 1e-8, and for escapes from
  tiny initial scales. Use `Unrolled(…)` of either for thousands of tiny models.
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
import numpy as np

from tacit._types import Array, Float, PyTree
from tacit.descent._clock import AbstractClock
from tacit.descent._method import AbstractMethod, Advance
from tacit.descent._objective import Objective
from tacit.descent._received import received

_EXAMPLES = {
    "solver": "GradientFlow(diffrax.Tsit5())",
    "clock": "GradientFlow(clock=HomogeneousClock(3))",
    "controller": "GradientFlow(controller=diffrax.PIDController(rtol=1e-8, atol=1e-10))",
}


class Downhill(eqx.Module):
    """The vector field −s(θ) ∇L(θ), where s = dt/dτ is the clock's rate (1 without a clock).

    With a clock the state is (θ, t): time is one of the things that are integrated.
    """

    objective: Objective
    clock: AbstractClock | None

    def __call__(self, t: Any, y: PyTree, args: Any) -> PyTree:
        """The velocity at y; it does not depend on t."""
        params = y if self.clock is None else y[0]
        _, gradient = self.objective.loss_and_gradient(params)
        if self.clock is None:
            return jax.tree.map(lambda g: -g, gradient)
        speed = self.clock.rate(params)
        velocity = jax.tree.map(lambda g: -(speed * g).astype(g.dtype), gradient)
        return velocity, jnp.asarray(speed, y[1].dtype)


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
      with rtol = 1e-8 a loss of 1e-20 is never reached; ask for 1e-16 with rtol = 1e-10. Keep
      atol far below the initial scale: smaller values are ignored.
    - `until`: the time at which a lane is `stopped`; exact without a clock, the first step past it
      with one.
    - `clock`: a rescaling of time that leaves the path unchanged.
    - `controller`: a Diffrax controller, in place of the one made from the tolerances. It must know
      steps by their sizes alone: every attempt starts at time zero for it.
    - `first`: the first step size, in place of the controller's guess; a constant step needs it.

    A factor `rate` of `descend` is one on the speed: dθ/dt = −rate ∇L(θ).

    A step of `Stop.steps` and of `Record` is one attempt of the solver, accepted or not; records
    carry the `time` of each lane, and `Record.at_times` asks for times instead. The
    result's `report` has for each lane `time`, `accepted`, `rejected` and `error`: the sum of the
    norms of the local error estimates over accepted steps. It is the accuracy reached as long as
    the flow does not amplify errors; near a minimum it contracts.
    """

    solver: diffrax.AbstractSolver = diffrax.Tsit5()
    rtol: float = 1e-8
    atol: float = 1e-10
    until: float = float("inf")
    clock: AbstractClock | None = None
    controller: diffrax.AbstractStepSizeController | None = None
    first: float | None = None

    def __check_init__(self) -> None:
        for name in ("rtol", "atol"):
            if not _between(getattr(self, name), 0, 1):
                raise ValueError(
                    f"{name}: received {getattr(self, name)!r}, it must lie in (0, 1); write for "
                    f"instance {name}=1e-8"
                )
        if not (_between(self.until, 0, float("inf")) or _is_infinite(self.until)):
            raise ValueError(
                f"until: received {self.until!r}, it must be a time above 0; leave it out for no "
                "limit"
            )
        if self.first is not None and not _between(self.first, 0, float("inf")):
            raise ValueError(
                f"first: received {self.first!r}, it must be a step size above 0; leave it out to "
                "let the controller guess"
            )
        for name, kind, words in (
            ("solver", diffrax.AbstractSolver, "a Diffrax solver"),
            ("clock", AbstractClock, "a clock"),
            ("controller", diffrax.AbstractStepSizeController, "a Diffrax controller"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind) and (value is not None or name == "solver"):
                raise ValueError(
                    f"{name}: received {received(value)}, it must be {words}; write for instance "
                    f"{_EXAMPLES[name]}"
                )

    @property
    def _controller(self) -> diffrax.AbstractStepSizeController:
        if self.controller is not None:
            return self.controller
        rtol, atol = self.rtol, self.atol
        if hasattr(self.solver, "local_tolerance"):  # a solver may hold its steps to less
            stricter = self.solver.local_tolerance(rtol) / rtol
            rtol, atol = stricter * rtol, stricter * atol
        # A little memory of the last error: fewer rejected steps at the edge of stability.
        return diffrax.PIDController(rtol=rtol, atol=atol, pcoeff=0.3, icoeff=0.4)

    def _error_order(self, term: diffrax.ODETerm) -> Any:
        order = self.solver.error_order(term)
        if order is None:
            raise ValueError(
                f"solver: received {self.solver!r}, it must estimate its error; use for instance "
                "diffrax.Tsit5()"
            )
        return order

    def _problem(
        self, params: PyTree, objective: Objective, time: Array
    ) -> tuple[diffrax.ODETerm, PyTree]:
        field = Downhill(objective, self.clock)
        return diffrax.ODETerm(field), params if self.clock is None else (params, time)

    def init(self, params: PyTree, objective: Objective) -> FlowState:
        """The first step size is the controller's guess, unless it is given."""
        kinds = sorted({str(leaf.dtype) for leaf in jax.tree.leaves(params)})
        if len(kinds) > 1:
            raise ValueError(
                f"model: received arrays of {' and '.join(kinds)}, they must have one type in a "
                "flow; convert them to the same"
            )
        time = jnp.zeros((), jnp.result_type(*jax.tree.leaves(params)))
        term, y = self._problem(params, objective, time)
        order = self._error_order(term)
        given = None if self.first is None else jnp.asarray(self.first, time.dtype)
        dt, controller = self._controller.init(
            term, time, jnp.full_like(time, jnp.inf), y, given, None, self.solver.func, order
        )
        # The guess divides by the derivative's size; at a stationary point any step will do.
        dt = jnp.where(jnp.isfinite(dt) & (dt > 0), dt, 1.0).astype(time.dtype)
        solver = self.solver.init(term, time, dt, y, None)
        count = jnp.int32(0)
        return FlowState(time, dt, solver, controller, count, count, time)

    def advance(
        self, params: PyTree, state: FlowState, objective: Objective, rate: Array | None
    ) -> Advance:
        """One attempt of the solver."""
        return self.attempt(params, state, objective, rate, self.until)

    def attempt(
        self,
        params: PyTree,
        state: FlowState,
        objective: Objective,
        rate: Array | None,
        end: Array | float,
    ) -> Advance:
        """One attempt that goes no further than the time `end`, and lands on it exactly.

        The flow is autonomous, so each attempt starts at time zero. A rate only
        changes how the time is read: solvers, which keep velocities, never see it.
        """
        term, y0 = self._problem(params, objective, state.time)
        zero = jnp.zeros_like(state.time)
        pace = jnp.ones_like(zero) if rate is None else rate.astype(zero.dtype)
        left = (end - state.time) * pace if self.clock is None else jnp.inf
        last = state.dt >= left
        dt = jnp.where(last, left, state.dt)
        y1, error, _, solver, _ = self.solver.step(
            term, zero, dt, y0, None, state.solver, made_jump=False
        )
        # A stage outside of the loss's domain: a step to be rejected, as `diffeqsolve` has it.
        error = jax.tree.map(lambda leaf: jnp.where(jnp.isnan(leaf), jnp.inf, leaf), error)
        keep, _, next_end, _, controller, _ = self._controller.adapt_step_size(
            zero, dt, y0, y1, None, error, self._error_order(term), state.controller
        )
        keep = jnp.asarray(keep)
        # A controller that keeps a step starts the next one at its end, else at its beginning.
        next_dt = jnp.where(keep, next_end - dt, next_end).astype(dt.dtype)

        def kept(new: PyTree, old: PyTree) -> PyTree:
            return jax.tree.map(lambda a, b: jnp.where(keep, a, b), new, old)

        new_params, elapsed = (y1, dt) if self.clock is None else (y1[0], y1[1] - state.time)
        # Not a sum at the end, which could miss it by its rounding.
        time = jnp.where(last, end, state.time + elapsed / pace).astype(dt.dtype)
        loss, gradient = objective.loss_and_gradient(params)
        return Advance(
            params=kept(new_params, params),
            state=FlowState(
                time=kept(time, state.time),
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

    def observe(self, state: FlowState) -> dict[str, Array]:
        """The time so far."""
        return {"time": state.time}


def _is_infinite(value: Any) -> bool:
    return not np.ndim(value) and value == float("inf")


def _between(value: Any, low: float, high: float) -> bool:
    number = isinstance(value, float | int | np.number) and not isinstance(value, bool)
    number = number or (eqx.is_array(value) and not value.ndim)
    return number and bool(low < value < high)


def _params(y: PyTree, clock: AbstractClock | None) -> PyTree:
    return y if clock is None else y[0]


def _norm(tree: PyTree) -> Array:
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))
