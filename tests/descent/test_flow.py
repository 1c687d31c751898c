"""Gradient flow against `diffeqsolve`, against closed forms and against what it conserves."""

import functools
import itertools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.descent import (
    GaussNewton,
    GradientFlow,
    HomogeneousClock,
    Lanes,
    StabilisedRungeKutta,
    Stop,
    Unrolled,
    descend,
)
from tacit.models import DeepFactorisation, Dense, Diagonal, LinearRNN
from tacit.problems import MatrixCompletion, Pattern, PopulationLoss
from tacit.theory.depth import disconnected_limit, limit_singular_values, reduced_flow

# The order-two solvers hold their tolerance by small steps, so they get a looser one.
SOLVERS = {
    "tsit5": (diffrax.Tsit5(), 1e-9),
    "unrolled": (Unrolled(diffrax.Tsit5()), 1e-9),
    "dopri8": (diffrax.Dopri8(), 1e-10),
    "gauss-newton": (GaussNewton(), 1e-5),
    "stabilised": (StabilisedRungeKutta(), 1e-6),
}
TIME = 2.5


def linear_rnn():
    """An unbalanced dense linear RNN and the impulse response that it learns."""
    rng = np.random.default_rng(0)
    model = LinearRNN(
        Dense(0.4 * rng.normal(size=(3, 3))),
        0.7 * rng.normal(size=(3, 1)),
        0.3 * rng.normal(size=(1, 3)),
    )
    with jax.enable_x64(True):
        target = jnp.asarray(0.7 ** np.arange(5))[:, None, None]
        return model, PopulationLoss(target, jnp.ones(5))


def completion():
    """An unbalanced factorisation of depth three and a matrix, half of it observed."""
    rng = np.random.default_rng(1)
    model = DeepFactorisation([0.8 * rng.normal(size=(3, 3)) for _ in range(3)])
    mask = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]], bool)
    return model, MatrixCompletion(rng.normal(size=(3, 3)), mask)


PROBLEMS = {"linear RNN": linear_rnn, "completion": completion}


@functools.cache
def reference(name):
    """The end point of `diffeqsolve` at a tight tolerance."""
    model, problem = PROBLEMS[name]()
    with jax.enable_x64(True):
        params, rest = eqx.partition(model, eqx.is_inexact_array)

        def downhill(t, y, args):
            gradient = eqx.filter_grad(problem.loss)(eqx.combine(y, rest))
            return jax.tree.map(lambda leaf: -leaf, eqx.filter(gradient, eqx.is_inexact_array))

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(downhill),
            diffrax.Dopri8(),
            0.0,
            TIME,
            None,
            params,
            stepsize_controller=diffrax.PIDController(rtol=1e-12, atol=1e-13),
        )
        return flat(jax.tree.map(lambda leaf: leaf[-1], solution.ys))


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


def conserved(model):
    """What a flow leaves as it is: how far neighbouring maps are from being balanced."""
    if isinstance(model, LinearRNN):
        # Both B and C have the inner product Σ_j r_j C A^j B with their gradients.
        return np.sum(np.square(model.B)) - np.sum(np.square(model.C))
    factors = [np.asarray(factor) for factor in model.factors]
    return np.stack([b.T @ b - a @ a.T for a, b in itertools.pairwise(factors)])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_flow_agrees_with_diffeqsolve_and_conserves_what_flows_do(problem, solver):
    method, rtol = SOLVERS[solver]
    start, loss = PROBLEMS[problem]()
    result = descend(
        start,
        loss,
        GradientFlow(method, rtol=rtol, atol=rtol / 100, until=TIME),
        stop=Stop(20_000),
    )
    assert result.outcome == "stopped"
    assert result.report["time"] == TIME
    error = np.abs(flat(result.model) - reference(problem)).max()
    assert error < 10 * rtol
    # The reported accuracy is the true one, give or take what the flow does to errors.
    assert error < 10 * result.report["error"]

    assert np.abs(flat(result.model) - flat(start)).max() > 0.1
    assert np.abs(conserved(start)).max() > 0.1
    assert np.abs(conserved(result.model) - conserved(start)).max() < 10 * rtol


def test_the_balanced_product_of_two_numbers_is_logistic():
    # x = a b with a = b and loss ½ (x − w)²: a' = −(x − w) a, hence x' = 2 x (w − x).
    # A rate is a factor on the speed, so lanes of several rates are several times of one flow.
    start, target, times = 1e-3, 1.5, np.array([0.5, 1.0, 2.0, 4.0])
    number = DeepFactorisation([np.full((1, 1), np.sqrt(start))] * 2)
    result = descend(
        Lanes.stack([number] * 4),
        MatrixCompletion(np.full((1, 1), target), np.ones((1, 1), bool)),
        GradientFlow(until=1.0),
        stop=Stop(5000),
        rate=times,
    )
    product = np.prod([np.asarray(factor)[:, 0, 0] for factor in result.model.tree.factors], axis=0)
    logistic = target / (1 + (target / start - 1) * np.exp(-2 * target * times))
    np.testing.assert_allclose(product, logistic, rtol=2e-7)
    np.testing.assert_array_equal(result.report["time"], 1.0)


def test_disconnected_completion_ends_at_its_closed_form():
    # Lanes of several scales and of both signs at once, each against its own limit (Prop. 4.1).
    rng = np.random.default_rng(2)
    scales = np.repeat([1e-6, 1e-3, 1e-1, 1.0], 6)
    first, second = scales[:, None, None] * rng.normal(size=(2, 24, 3, 3))
    targets = rng.uniform(0.3, 2, size=(24, 3, 3)) * rng.choice([-1, 1], size=(24, 3, 3))
    result = descend(
        Lanes.stack([DeepFactorisation(pair) for pair in zip(first, second, strict=True)]),
        Lanes.stack([MatrixCompletion(target, Pattern.diagonal(3)) for target in targets]),
        GradientFlow(atol=1e-14),
        stop=Stop(5000, loss=1e-15),
    )
    assert result.outcomes == {"converged": 24}
    limit = disconnected_limit(second, first, np.eye(3, dtype=bool), targets)
    reached = [np.asarray(factor) for factor in result.model.tree.factors]
    np.testing.assert_allclose(reached[1], limit.A, rtol=0, atol=1e-6)
    np.testing.assert_allclose(reached[0], limit.B, rtol=0, atol=1e-6)
    np.testing.assert_allclose(reached[1] @ reached[0], limit.product, rtol=0, atol=1e-6)


def test_depth_ten_from_a_tiny_scale():
    # Theorem 3.3 at αᴸ = 1e-10, where gradient descent would need about 1e9 steps.
    scale = 1e-10**0.1
    family = {"depth": 10, "scale": scale, "ratio": 100.0, "blocks": 3}

    def run(stop):
        return descend(
            DeepFactorisation.coupled(3, 10, scale=scale, ratio=100.0),
            MatrixCompletion(np.eye(3), Pattern.diagonal(3)),
            GradientFlow(
                diffrax.Dopri8(), rtol=1e-10, atol=1e-13, clock=HomogeneousClock(degree=10)
            ),
            stop=stop,
        )

    result = run(Stop(1000, loss=1e-22))
    assert result.outcome == "converged"
    assert result.steps < 200
    limit = limit_singular_values(**family)
    values = np.asarray(result.model.product_singular_values(balanced=True))
    np.testing.assert_allclose(values, [limit.first, limit.others, limit.others], rtol=1e-9)

    for steps in (20, 45, 60):  # before, in and after the escape
        result = run(Stop(steps))
        reduced = reduced_flow(float(result.report["time"]), **family)
        expected = [reduced.first, reduced.second, reduced.second]
        for factor in result.model.factors:
            values = np.linalg.svd(np.asarray(factor), compute_uv=False)
            np.testing.assert_allclose(values, expected, rtol=1e-8)


def test_long_times_take_few_steps():
    # Balanced diagonal students of lowdim, to time 1e10, where explicit steps would stay below 1.
    rng = np.random.default_rng(3)
    students = [
        LinearRNN(Diagonal(rng.normal(0, scale, 12)), rng.normal(0, scale, (12, 1)))
        for scale in (1e-2, 0.1, 0.3, 0.5)
    ]
    target = np.mean(np.array([-0.9, 0.2, 0.8])[:, None] ** np.arange(8), axis=0)
    with jax.enable_x64(True):
        problem = PopulationLoss(jnp.asarray(target)[:, None, None], jnp.ones(8))
    result = descend(
        Lanes.stack(students),
        problem,
        GradientFlow(GaussNewton(), rtol=1e-3, atol=1e-6, until=1e10),
        stop=Stop(2000),
    )
    assert result.outcomes == {"stopped": 4}
    np.testing.assert_array_equal(result.report["time"], 1e10)
    assert (result.steps < 500).all()
    assert (result.loss < 1e-12).all()
