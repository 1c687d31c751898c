"""A stabilised explicit solver: Runge-Kutta-Chebyshev of order two.

The scheme and its coefficients are those of Sommeijer, Shampine and Verwer, "RKC: an explicit
solver for parabolic PDEs", J. Comput. Appl. Math. 88 (1997). With s stages it is stable along the
negative real axis, where a gradient flow's spectrum lies near a minimum, up to about 0.65 s²: the
cost of a step grows like the root of its size.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from diffrax import RESULTS
from jax.flatten_util import ravel_pytree

from tacit._doors import check_fields, number, whole
from tacit._types import Array, Float, PyTree
from tacit.descent._solver import FlowSolver

_DAMPING = 2 / 13
_PROPORTIONAL = 1e-4  # the tolerance at which a step may err by the tolerance itself


class _State(eqx.Module):
    direction: Array  # the flat estimate of the eigenvector of the largest curvature
    radius: Float[Array, ""]
    velocity: Array  # f at the step's beginning


class StabilisedRungeKutta(FlowSolver):
    """RKC2 with as many stages as the step needs, by a running estimate of the spectral radius.

    Each step refines the estimate by `iterations` products with the Jacobian (power iteration from
    the last direction) and takes `margin` times it. Steps that would need more than `most` stages
    are rejected.

    `GradientFlow` holds its steps to tol^{3/2} × 100, below a tolerance of 1e-4: a method of order
    two whose steps err by tol each accumulates tol^{2/3}; so what accumulates is proportional to
    the tolerance.
    """

    most: int = 60
    iterations: int = 2
    margin: float = 1.2

    def __check_init__(self) -> None:
        check_fields(self, most=whole(2, 10_000), iterations=whole(1, 10_000), margin=number(1))
        if self.most < 2 or self.iterations < 1 or not self.margin >= 1:
            raise ValueError(
                f"most, iterations, margin: received {self.most!r}, {self.iterations!r} and "
                f"{self.margin!r}, they must be at least 2, 1 and 1; leave them out for the "
                "defaults"
            )

    def order(self, terms: Any) -> int:
        """Two."""
        return 2

    def error_order(self, terms: Any) -> int:
        """The estimate is of the local error itself, of order three."""
        return 3

    def local_tolerance(self, tolerance: float) -> float:
        """What a step may err by, so that the errors of all steps are of the tolerance's size."""
        return tolerance * min(1.0, tolerance / _PROPORTIONAL) ** 0.5

    def init(self, terms: Any, t0: Any, t1: Any, y0: PyTree, args: Any) -> _State:
        """Begin with a direction that no symmetry of the problem can have made orthogonal."""
        field, flat = _flat_field(terms, t0, y0, args)
        index = jnp.arange(1, flat.size + 1, dtype=flat.dtype)
        direction = jnp.cos(index * index)
        radius, direction = self._radius(field, flat, direction / jnp.linalg.norm(direction), 8)
        return _State(direction, radius, field(flat))

    def _radius(
        self, field: Callable[[Array], Array], point: Array, direction: Array, iterations: int
    ) -> tuple[Array, Array]:
        """The size of the Jacobian along the direction that it stretches most."""

        def stretch(_: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            _, direction = carry
            _, stretched = jax.jvp(field, (point,), (direction,))
            radius = jnp.linalg.norm(stretched)
            safe = jnp.where(radius > 0, radius, 1.0)
            return radius, jnp.where(radius > 0, stretched / safe, direction)

        # A loop, not unrolled: the field is compiled once here.
        return jax.lax.fori_loop(0, iterations, stretch, (jnp.zeros((), point.dtype), direction))

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: PyTree,
        args: Any,
        solver_state: _State,
        made_jump: Any,
    ) -> tuple[PyTree, PyTree, dict[str, PyTree], _State, RESULTS]:
        """The stages of one step, by the three-term recursion."""
        field, start = _flat_field(terms, t0, y0, args)
        _, unravel = ravel_pytree(y0)
        h = t1 - t0
        f0 = solver_state.velocity
        # The curvature may have grown within the last step: the larger estimate counts.
        radius, direction = self._radius(field, start, solver_state.direction, self.iterations)
        wanted = 1 + jnp.ceil(
            jnp.sqrt(1 + 1.54 * self.margin * h * jnp.maximum(radius, solver_state.radius))
        )
        stages = jnp.clip(jnp.nan_to_num(wanted, nan=self.most), 2, self.most)
        w0 = 1 + _DAMPING / stages**2
        angle = jnp.arccosh(w0)
        w1 = _first(angle, stages) / _second(angle, stages)

        def b(j: Array) -> Array:  # b₀ = b₁ = b₂
            j = jnp.maximum(j, 2.0)
            return _second(angle, j) / _first(angle, j) ** 2

        def a(j: Array) -> Array:
            return 1 - b(j) * jnp.cosh(j * angle)

        def stage(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            j, before, now = carry
            mu = 2 * b(j) * w0 / b(j - 1)
            nu = -b(j) / b(j - 2)
            weight = 2 * b(j) * w1 / b(j - 1)
            new = (
                (1 - mu - nu) * start
                + mu * now
                + nu * before
                + weight * h * field(now)
                - a(j - 1) * weight * h * f0
            )
            return j + 1, now, new

        two = jnp.full_like(stages, 2.0)
        first = start + b(two) * w1 * h * f0
        _, _, end = jax.lax.while_loop(lambda carry: carry[0] <= stages, stage, (two, start, first))
        f1 = field(end)
        error = 0.8 * (start - end) + 0.4 * h * (f0 + f1)
        error = jnp.where(wanted > self.most, jnp.inf, error)
        y1 = unravel(end)
        state = _State(direction, radius, f1)
        return y1, unravel(error), {"y0": y0, "y1": y1}, state, RESULTS.successful  # type: ignore[return-value]


def _flat_field(
    terms: Any, t0: Any, y0: PyTree, args: Any
) -> tuple[Callable[[Array], Array], Array]:
    flat, unravel = ravel_pytree(y0)
    return lambda point: ravel_pytree(terms.vf(t0, unravel(point), args))[0], flat


def _first(angle: Array, j: Array) -> Array:
    """T_j'(cosh θ): the derivative of the Chebyshev polynomial."""
    return j * jnp.sinh(j * angle) / jnp.sinh(angle)


def _second(angle: Array, j: Array) -> Array:
    """T_j''(cosh θ)."""
    slope = j * jnp.sinh(j * angle) * jnp.cosh(angle) / jnp.sinh(angle)
    return (j**2 * jnp.cosh(j * angle) - slope) / jnp.sinh(angle) ** 2
