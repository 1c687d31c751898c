"""Levenberg-Marquardt against linear algebra and SciPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

from tacit.descent import LevenbergMarquardt, Objective, Stop, descend


class Linear(eqx.Module):
    matrix: np.ndarray
    target: np.ndarray

    def residuals(self, x):
        return self.matrix @ x - self.target

    def loss(self, x):
        return jnp.sum(self.residuals(x) ** 2)


def test_underdetermined_linear_problem_gets_the_nearest_solution():
    rng = np.random.default_rng(0)
    matrix, target, start = rng.normal(size=(4, 11)), rng.normal(size=4), rng.normal(size=11)
    result = descend(start, Linear(matrix, target), LevenbergMarquardt(), stop=Stop(60, loss=1e-26))
    nearest = start + np.linalg.pinv(matrix) @ (target - matrix @ start)
    assert result.outcome == "converged"
    np.testing.assert_allclose(result.model, nearest, atol=1e-11)


def test_overdetermined_problem_agrees_with_scipy():
    rng = np.random.default_rng(1)
    times = np.linspace(0, 3, 25)
    data = 2.0 * np.exp(-1.3 * times) + 0.05 * rng.normal(size=25)

    class Decay(eqx.Module):
        data: np.ndarray

        def residuals(self, x):
            return x[0] * jnp.exp(-x[1] * times) - self.data

        def loss(self, x):
            return jnp.sum(self.residuals(x) ** 2)

    result = descend(np.array([1.0, 0.5]), Decay(data), LevenbergMarquardt(), stop=Stop(200))
    oracle = scipy.optimize.least_squares(
        lambda x: x[0] * np.exp(-x[1] * times) - data,
        [1.0, 0.5],
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    np.testing.assert_allclose(result.model, oracle.x, rtol=1e-6)
    # There is no zero: it ends because no step lowers the loss any more.
    assert result.outcome == "stalled"


def test_it_never_takes_a_step_uphill():
    def rosenbrock(x):
        return jnp.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])

    class Rosenbrock(eqx.Module):
        def residuals(self, x):
            return rosenbrock(x)

        def loss(self, x):
            return jnp.sum(rosenbrock(x) ** 2)

    from tacit.descent import Record

    result = descend(
        np.array([-1.2, 1.0]),
        Rosenbrock(),
        LevenbergMarquardt(),
        stop=Stop(100, loss=1e-24),
        record=Record.every(1, until=100),
    )
    assert result.outcome == "converged"
    assert (np.diff(result.records["loss"]) <= 0).all()
    np.testing.assert_allclose(result.model, [1, 1], atol=1e-10)


def test_a_problem_without_residuals_is_refused():
    with pytest.raises(ValueError, match=r"must have residuals\(model\).*Optax"):
        descend(np.ones(2), lambda x: jnp.sum(x**2), LevenbergMarquardt(), stop=Stop(3))


def test_bad_damping_is_refused():
    with pytest.raises(ValueError, match="damping"):
        LevenbergMarquardt(damping=-1.0)


def test_the_damping_follows_the_predicted_decrease():
    """One step of r(x) = x² − 1 from ½, by the definition: |r|² − |r + Jδ|² is predicted."""

    class Square(eqx.Module):
        target: np.ndarray

        def residuals(self, x):
            return x**2 - self.target

        def loss(self, x):
            return jnp.sum(self.residuals(x) ** 2)

    method = LevenbergMarquardt(damping=0.1)
    objective = Objective(Square(np.ones(1)), None, None)
    with jax.enable_x64(True):
        params = jnp.array([0.5])
        out = method.advance(params, method.init(params, objective), objective, None)
    r, slope = -0.75, 1.0
    mu = 0.1 * slope**2
    move = -slope * r / (slope**2 + mu)
    predicted = r**2 - (r + slope * move) ** 2
    gain = (r**2 - ((0.5 + move) ** 2 - 1) ** 2) / predicted
    assert out.params[0] == pytest.approx(0.5 + move, rel=1e-12)
    shrink = 1 - (2 * gain - 1) ** 3
    assert 0.4 < shrink < 0.95  # so that the damping depends on the gain
    assert out.state.damping == pytest.approx(0.1 * shrink, rel=1e-12)
    assert out.gradient_norm == pytest.approx(2 * abs(slope * r))


def test_the_damping_falls_to_a_third_at_most():
    """Of a linear problem the predicted decrease is the true one: 1 − (2 − 1)³ = 0 is less."""
    method = LevenbergMarquardt(damping=0.1)
    objective = Objective(Linear(np.eye(2), np.ones(2)), None, None)
    with jax.enable_x64(True):
        params = jnp.zeros(2)
        out = method.advance(params, method.init(params, objective), objective, None)
    assert out.state.damping == pytest.approx(0.1 / 3, rel=1e-12)


def test_the_damping_grows_faster_with_every_refusal():
    class Away(eqx.Module):
        sign: np.ndarray

        def residuals(self, x):  # its slope points away from its only minimum
            return 1 + x**2 * self.sign

        def loss(self, x):
            return jnp.sum(self.residuals(x) ** 2)

    method = LevenbergMarquardt(damping=1e-3)
    objective = Objective(Away(np.ones(1)), None, None)
    with jax.enable_x64(True):
        params = jnp.array([1e-3])
        state = method.init(params, objective)
        for growth in (4.0, 8.0, 16.0):
            state = method.advance(params, state, objective, None).state
            assert state.growth == growth
    assert state.damping == pytest.approx(1e-3 * 2 * 4 * 8)


def test_the_damping_grows_faster_with_each_refused_step_and_afresh_after_a_good_one():
    # Nielsen's rule: 2, then 4 times; one step that is taken starts it again. Steps on arctan
    # overshoot from afar and succeed near zero.
    class Bend(eqx.Module):
        def residuals(self, x):
            return jnp.arctan(x)

        def loss(self, x):
            return jnp.sum(self.residuals(x) ** 2)

    method, objective = LevenbergMarquardt(), Objective(Bend(), None, None, jnp.int32(0))
    far, near = jnp.array([20.0]), jnp.array([0.1])
    state, grown = method.init(far, objective), []
    for params in (far, far, near, far, far):
        out = method.advance(params, state, objective, None)
        grown.append(float(out.state.damping / state.damping))
        assert bool(jnp.all(out.params == params)) == (params is far)
        state = out.state
    assert grown[:2] == grown[3:] == pytest.approx([2, 4])
    assert grown[2] < 1
