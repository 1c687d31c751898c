"""The solvers themselves: orders of convergence, stability, error estimates, the small solve.

`solve_positive` is tested by itself: in a flow the step's control would hide an inexact solve.
"""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.descent import Downhill, GaussNewton, Objective, StabilisedRungeKutta, Unrolled
from tacit.descent._small_solve import solve_positive


class Curved(eqx.Module):
    """Three residuals of two numbers without a common zero: the Hessian is not 2 JᵀJ anywhere."""

    def residuals(self, x):
        return jnp.stack([x[0] ** 2 + x[1] - 1, x[0] * x[1] - 0.5, jnp.sin(x[0]) - 0.3])

    def loss(self, x):
        return jnp.sum(self.residuals(x) ** 2)


class Quadratic(eqx.Module):
    """½ Σ a_i x_i², whose flow is x_i e^{−a_i t}; the a_i are static, as `fixed_steps` needs it."""

    rates: tuple[float, ...] = eqx.field(static=True)

    def residuals(self, x):
        return jnp.sqrt(jnp.asarray(self.rates, x.dtype) / 2) * x

    def loss(self, x):
        return jnp.sum(self.residuals(x) ** 2)


def term(problem):
    return diffrax.ODETerm(Downhill(Objective(problem, None, None), None))


@functools.partial(jax.jit, static_argnums=(0, 1))
def fixed_steps(solver, problem, start, h, steps):
    """So many steps of one size, and the last one's error estimate."""
    flow = term(problem)

    def step(_, carry):
        x, _, state = carry
        x, error, _, state, _ = solver.step(flow, 0.0, h, x, None, state, made_jump=False)
        return x, error, state

    state = solver.init(flow, 0.0, h, start, None)
    end, error, _ = jax.lax.fori_loop(0, steps, step, (start, jnp.zeros_like(start), state))
    return end, error


SOLVERS = [
    GaussNewton(),
    StabilisedRungeKutta(),  # at small steps: two stages
    StabilisedRungeKutta(margin=400.0),  # as many as would be stable at 400 times the size
]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_halving_the_step_quarters_the_error(solver):
    start, time = np.array([1.5, -0.8]), 1.0
    with jax.enable_x64(True):
        problem = Curved()
        exact, _ = fixed_steps(diffrax.Dopri8(), problem, jnp.asarray(start), time / 400, 400)
        counts = np.array([40, 80, 160, 320])
        errors = [
            np.linalg.norm(fixed_steps(solver, problem, jnp.asarray(start), time / n, n)[0] - exact)
            for n in counts
        ]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders[-1], 2, atol=0.1)
    np.testing.assert_allclose(orders, 2, atol=0.4)


@pytest.mark.parametrize("solver", SOLVERS[:2], ids=str)
def test_the_error_estimate_has_the_order_that_the_controller_is_told(solver):
    start, sizes = np.array([1.5, -0.8]), np.array([4e-3, 2e-3, 1e-3])
    with jax.enable_x64(True):
        problem = Curved()
        estimates = [
            np.linalg.norm(fixed_steps(solver, problem, jnp.asarray(start), h, 1)[1]) for h in sizes
        ]
    orders = np.log2(np.divide(estimates[:-1], estimates[1:]))
    np.testing.assert_allclose(orders, solver.error_order(term(problem)), atol=0.1)


def test_the_stabilised_estimate_is_the_local_error():
    start = np.array([1.5, -0.8])
    with jax.enable_x64(True):
        problem, h = Curved(), 1e-3
        solver = StabilisedRungeKutta(margin=400.0)
        end, estimate = fixed_steps(solver, problem, jnp.asarray(start), h, 1)
        exact, _ = fixed_steps(diffrax.Dopri8(), problem, jnp.asarray(start), h, 1)
    # It estimates the error of a method with infinitely many stages, so up to a moderate factor.
    ratio = np.linalg.norm(estimate) / np.linalg.norm(end - exact)
    assert 0.5 < ratio < 3


@pytest.mark.parametrize(
    "solver", [diffrax.Tsit5(), diffrax.Dopri5(), diffrax.Dopri8(), diffrax.Bosh3()], ids=str
)
def test_unrolled_solvers_take_the_steps_of_the_solver(solver):
    with jax.enable_x64(True):
        start = jnp.asarray([1.5, -0.8])
        ours, our_error = fixed_steps(Unrolled(solver), Curved(), start, 0.05, 3)
        theirs, their_error = fixed_steps(solver, Curved(), start, 0.05, 3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    np.testing.assert_allclose(our_error, their_error, rtol=0, atol=1e-15)
    assert Unrolled(solver).error_order(term(Curved())) == solver.error_order(term(Curved()))


STIFF = Quadratic((1.0, 30.0, 900.0, 2e4))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "solver", [GaussNewton(), StabilisedRungeKutta(most=80)], ids=["gauss-newton", "stabilised"]
)
def test_steps_far_beyond_an_explicit_methods_stability(solver, dtype):
    # h ρ = 1,000, where Euler's method needs h ρ ≤ 2. Fast modes die, the slow one is followed.
    h, steps = 0.05, 40
    with jax.enable_x64(True):
        start = jnp.ones(4, dtype)
        end, _ = fixed_steps(solver, STIFF, start, jnp.asarray(h, dtype), steps)
    assert end.dtype == dtype
    np.testing.assert_allclose(end[0], np.exp(-h * steps), rtol=2e-3)
    assert np.abs(end[1:]).max() < 1e-4


@pytest.mark.parametrize("most", [10, 40, 150])
def test_the_stabilised_solver_is_stable_as_far_as_its_stages_reach(most):
    # The largest step that it takes: 1 + √(1 + 1.54 · margin · h ρ) stages.
    solver, largest = StabilisedRungeKutta(most=most), STIFF.rates[-1]
    h = ((most - 1) ** 2 - 1) / (1.54 * solver.margin * largest) * (1 - 1e-9)
    with jax.enable_x64(True):
        start = jnp.asarray([1.0, 1.0, 1.0, 1.0])
        end, error = fixed_steps(solver, STIFF, start, h, 200)
        assert np.isfinite(error).all()
        assert np.abs(end).max() <= 1
        # Beyond it a step is refused.
        _, error = fixed_steps(solver, STIFF, start, 1.1 * h, 1)
        assert np.isinf(error).all()


def test_the_estimate_of_the_spectral_radius():
    solver, flow = StabilisedRungeKutta(), term(Quadratic((3.0, 50.0, 49.0, 1.0)))

    @jax.jit
    def radii(start):
        state = solver.init(flow, 0.0, 0.1, start, None)

        def step(_, carry):
            x, state = carry
            x, _, _, state, _ = solver.step(flow, 0.0, 0.1, x, None, state, made_jump=False)
            return x, state

        return state.radius, jax.lax.fori_loop(0, 5, step, (start, state))[1].radius

    with jax.enable_x64(True):
        first, later = (float(radius) for radius in radii(jnp.ones(4)))
    assert 45 < first <= 50 + 1e-9
    assert 49 < later <= 50 + 1e-9


@pytest.mark.parametrize("size", [1, 2, 7, 20])
@pytest.mark.parametrize("condition", [1e0, 1e4, 1e12])
def test_solve_positive_agrees_with_numpy(size, condition):
    rng = np.random.default_rng(size)
    count = 16
    rotations = np.linalg.qr(rng.normal(size=(count, size, size)))[0]
    values = np.geomspace(1, 1 / condition, size) if size > 1 else np.ones(1)
    matrices = (rotations * values) @ np.swapaxes(rotations, 1, 2)
    matrices = (matrices + np.swapaxes(matrices, 1, 2)) / 2
    vectors = rng.normal(size=(count, size))
    with jax.enable_x64(True):
        solved = np.asarray(jax.jit(jax.vmap(solve_positive))(matrices, vectors))
    oracle = np.linalg.solve(matrices, vectors[..., None])[..., 0]
    error = np.linalg.norm(solved - oracle, axis=1) / np.linalg.norm(oracle, axis=1)
    assert error.max() < 100 * size * condition * np.finfo(float).eps
    # Backward stability, which no condition number excuses.
    residuals = np.linalg.norm((matrices @ solved[..., None])[..., 0] - vectors, axis=1)
    scale = np.linalg.norm(solved, axis=1) + np.linalg.norm(vectors, axis=1)
    assert (residuals / scale).max() < 100 * size * np.finfo(float).eps


def test_solve_positive_says_nan_where_it_cannot():
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    singular = np.zeros((2, 2))
    negative = -np.eye(2)
    fine = np.array([[4.0, 1.0], [1.0, 3.0]])
    with jax.enable_x64(True):
        solved = jax.jit(jax.vmap(solve_positive))(
            np.stack([indefinite, singular, negative, fine]), np.ones((4, 2))
        )
    assert np.isnan(solved).any(axis=1).tolist() == [True, True, True, False]
    np.testing.assert_allclose(solved[3], np.linalg.solve(fine, np.ones(2)), rtol=1e-14)


def test_solve_positive_keeps_float32():
    solved = jax.jit(solve_positive)(jnp.eye(3, dtype=jnp.float32), jnp.ones(3, jnp.float32))
    assert solved.dtype == jnp.float32
