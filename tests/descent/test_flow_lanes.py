"""Gradient flow as a descent: lanes, clocks, times, outcomes, reports, precision, bad input.

One test looks inside, to force packing, which otherwise depends on measured times.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.descent import (
    AbstractClock,
    GaussNewton,
    GradientFlow,
    HomogeneousClock,
    Lanes,
    Record,
    StabilisedRungeKutta,
    Stop,
    Unrolled,
    descend,
)
from tacit.descent._plan import buckets
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern

DEPTH, LANES = 3, 24


def completions(dtype=np.float64):
    """2 × 2 completions of depth three: both patterns of depth/fig1, several scales and signs."""
    rng = np.random.default_rng(4)
    models, problems = [], []
    for lane in range(LANES):
        scale = np.array([1e-1, 1e-3, 1e-5, 1e-7])[lane % 4] ** (1 / DEPTH)
        factors = scale * rng.normal(size=(DEPTH, 2, 2))
        models.append(DeepFactorisation([factor.astype(dtype) for factor in factors]))
        pattern = Pattern.diagonal(2) if lane % 2 else Pattern.column(2, 2)
        target = rng.uniform(0.3, 2, size=(2, 2)) * rng.choice([-1, 1], size=(2, 2))
        problems.append(MatrixCompletion(target.astype(dtype), pattern))
    return Lanes.stack(models), Lanes.stack(problems)


def take(lanes, rows):
    with jax.enable_x64(True):
        return Lanes(jax.tree.map(lambda leaf: leaf[np.asarray(rows)], lanes.tree))


def factors_of(lanes):
    return np.stack([np.asarray(factor) for factor in lanes.tree.factors], axis=1)


PLAIN = GradientFlow(rtol=1e-9, atol=1e-12)
CLOCKED = GradientFlow(rtol=1e-9, atol=1e-12, clock=HomogeneousClock(DEPTH))


@pytest.fixture(scope="module")
def whole():
    """All lanes to a loss of 1e-12."""
    return descend(*completions(), PLAIN, stop=Stop(3000, loss=1e-12))


def square(model):
    return jnp.sum(model**2)


@pytest.mark.bits
def test_a_report_says_what_each_lane_did(whole):
    assert whole.outcomes == {"converged": LANES}
    assert (whole.loss <= 1e-12).all()
    assert set(whole.report) == {"time", "accepted", "rejected", "error"}
    # Attempts are steps. A lane that has ended stands still, whatever the others still do.
    np.testing.assert_array_equal(whole.report["accepted"] + whole.report["rejected"], whole.steps)
    assert np.unique(whole.steps).size > 10
    assert (whole.report["time"] > 0).all()
    # Deep factorisations leave a small start late: a time of order α^{2−L}.
    assert np.median(whole.report["time"][3::4]) > 10 * np.median(whole.report["time"][::4])
    assert (whole.report["error"] > 0).all()
    assert (whole.report["error"] < 1e-5).all()


@pytest.mark.bits
def test_a_lane_is_the_same_in_any_batch(whole):
    models, problems = completions()
    for rows in ([3, 22, 9, 14, 1, 8], [17]):
        part = descend(take(models, rows), take(problems, rows), PLAIN, stop=Stop(3000, loss=1e-12))
        assert_same_lanes(part, whole, rows)


@pytest.mark.bits
def test_an_unrolled_lane_is_the_same_in_any_batch(whole):
    models, problems = completions()
    method = GradientFlow(Unrolled(diffrax.Tsit5()), rtol=1e-9, atol=1e-12)
    all_of_them = descend(models, problems, method, stop=Stop(3000, loss=1e-12))
    alone = descend(models[17], problems[17], method, stop=Stop(3000, loss=1e-12))
    np.testing.assert_array_equal(
        np.stack([np.asarray(factor) for factor in alone.model.factors]),
        factors_of(all_of_them.model)[17],
    )
    assert alone.steps == all_of_them.steps[17]
    # Diffrax's own loop differs by rounding, which the step sizes of the beginning amplify.
    np.testing.assert_allclose(factors_of(all_of_them.model), factors_of(whole.model), atol=1e-6)
    np.testing.assert_allclose(all_of_them.steps, whole.steps, atol=5)


def assert_same_lanes(part, whole, rows):
    np.testing.assert_array_equal(factors_of(part.model), factors_of(whole.model)[rows])
    np.testing.assert_array_equal(part.steps, whole.steps[rows])
    for name, values in part.report.items():
        np.testing.assert_array_equal(values, whole.report[name][rows])


@pytest.mark.bits
def test_packing_keeps_every_lane_in_its_place(whole, monkeypatch):
    # Segments of a few steps, and packing whatever it costs: lanes move between programs often.
    monkeypatch.setattr("tacit.descent._plan.SECONDS", 1e-3)
    monkeypatch.setattr("tacit.descent._plan.FIRST", 4)
    monkeypatch.setattr(
        "tacit.descent._plan.Packing.bucket",
        lambda self, present, running, clock: buckets(present, running)[-1],
    )
    packed = descend(*completions(), PLAIN, stop=Stop(3000, loss=1e-12))
    assert packed.statistics.programs > 1
    assert_same_lanes(packed, whole, np.arange(LANES))


@pytest.mark.bits
def test_more_lanes_than_a_block_holds(whole):
    # Five copies of every lane, far apart: two blocks, made up anew as lanes end.
    models, problems = (take(lanes, np.tile(np.arange(LANES), 5)) for lanes in completions())
    many = descend(models, problems, PLAIN, stop=Stop(3000, loss=1e-12))
    for copy in range(5):
        rows = np.arange(copy * LANES, (copy + 1) * LANES)
        np.testing.assert_array_equal(factors_of(many.model)[rows], factors_of(whole.model))
        np.testing.assert_array_equal(many.steps[rows], whole.steps)
        for name, values in many.report.items():
            np.testing.assert_array_equal(values[rows], whole.report[name])


def test_a_clock_leaves_the_path_alone():
    # Where each lane is after so many steps of the clocked flow, the plain flow is at that time.
    models, problems = completions()
    clocked = descend(models, problems, CLOCKED, stop=Stop(45))
    times = clocked.report["time"]
    assert times.max() > 100 * times.min()
    until = 1.0  # with the rate as the unit of time, every lane has its own
    plain = descend(
        models,
        problems,
        GradientFlow(rtol=1e-9, atol=1e-12, until=until),
        stop=Stop(3000),
        rate=times / until,
    )
    assert plain.outcomes == {"stopped": LANES}
    np.testing.assert_array_equal(plain.report["time"], until)
    np.testing.assert_allclose(factors_of(clocked.model), factors_of(plain.model), atol=2e-7)


def test_a_clock_with_a_rate(whole):
    models, problems = completions()
    fast = descend(models, problems, CLOCKED, stop=Stop(3000, loss=1e-12), rate=10.0)
    assert fast.outcomes == {"converged": LANES}
    # The goal is passed within a step, so times agree to a step only.
    np.testing.assert_allclose(10 * fast.report["time"], whole.report["time"], rtol=0.3)
    np.testing.assert_allclose(factors_of(fast.model), factors_of(whole.model), atol=1e-5)


def test_until_is_exact_without_a_clock_and_passed_with_one():
    class Double(AbstractClock):
        def rate(self, params):
            return jnp.asarray(2.0, params.dtype)

    for until in (1 / 3, 7.7):  # whose sums would round
        result = descend(np.ones(2), square, GradientFlow(until=until), stop=Stop(1000))
        assert result.outcome == "stopped"
        assert result.report["time"] == until
        np.testing.assert_allclose(result.model, np.exp(-2 * until), atol=1e-8)
    result = descend(np.ones(2), square, GradientFlow(until=0.3, clock=Double()), stop=Stop(1000))
    time = result.report["time"]
    assert result.outcome == "stopped"
    assert 0.3 <= time < 0.4
    np.testing.assert_allclose(result.model, np.exp(-2 * time), rtol=1e-7)


def test_outcomes_are_told_apart():
    def loss(model):
        x = model["x"]
        bowl, bottomless, broken = x**2, -(x**4), jnp.sqrt(x**2)
        return jnp.stack([bowl, 1e-6 * bowl, bottomless, broken])[model["kind"]]

    # reaches its goal; is slow, so that time runs out; has no bottom; has no slope where it starts
    start = {"x": np.array([1.0, 1.0, 1.0, 0.0]), "kind": np.arange(4)}
    goals = np.array([1e-9, 1e-9, -np.inf, -np.inf])
    result = descend(
        Lanes(start), loss, GradientFlow(rtol=1e-4, until=100.0), stop=Stop(2500, loss=goals)
    )
    assert result.outcome.tolist() == ["converged", "stopped", "diverged", "stalled"]
    assert result.loss[0] <= 1e-9
    assert result.report["time"][1] == 100.0
    np.testing.assert_allclose(result.report["time"][2], 1 / 8, rtol=1e-3)  # x⁻² = 1 − 8 t
    assert result.model.tree["x"][3] == 0.0  # where it was
    assert result.report["accepted"][3] == 0


def test_other_ways_to_end():
    def run(stop, **options):
        return descend(np.ones(2), square, GradientFlow(**options), stop=stop)

    assert run(Stop(3)).outcome == "stopped"
    assert run(Stop(3)).steps == 3
    steep = run(Stop(1000, gradient=1e-3))
    assert steep.outcome == "converged"
    assert 2 * np.linalg.norm(steep.model) <= 1e-3
    assert run(Stop(1000, diverged=0.5)).outcome == "diverged"  # where it starts
    # An explicit method's noise floor: it does not get there, and patience says so.
    floor = run(Stop(10_000, loss=1e-30, patience=100), rtol=1e-3, atol=1e-3)
    assert floor.outcome == "stalled"


def test_a_step_out_of_the_domain_is_taken_again():
    # x^1.5 is NaN below zero, where a long step leads.
    result = descend(
        np.array([1e-3, 1.0]),
        lambda x: jnp.sum(x**1.5),
        GradientFlow(rtol=1e-3, atol=1e-6),
        stop=Stop(3000, loss=1e-7),
    )
    assert result.outcome == "converged"
    assert result.report["rejected"] > 0


def test_the_error_is_that_of_accepted_steps():
    # The first attempt is far too long: its estimate is large, and no error of the result.
    method = GradientFlow(rtol=1e-6, atol=1e-8, first=100.0, until=1.0)
    result = descend(np.ones(2), square, method, stop=Stop(1000))
    assert result.report["rejected"] > 0
    assert 0 < result.report["error"] < 1e-5


def test_records_show_every_attempt():
    result = descend(
        np.ones(2),
        square,
        GradientFlow(rtol=1e-6),
        stop=Stop(20),
        record=Record.every(1, until=20, x=lambda x: x),
    )
    losses = result.records["loss"]
    assert (np.diff(losses) <= 0).all()  # equal where an attempt was rejected
    assert losses[-1] == result.loss
    np.testing.assert_array_equal(result.records["x"][-1], result.model)
    assert result.report["accepted"] == np.sum(np.diff(losses) < 0)


def test_a_controller_of_ones_own():
    # Euler's method with constant steps is gradient descent.
    method = GradientFlow(diffrax.Euler(), controller=diffrax.ConstantStepSize(), first=0.1)
    result = descend(np.array([3.0, -1.0]), square, method, stop=Stop(7))
    np.testing.assert_allclose(result.model, 0.8**7 * np.array([3.0, -1.0]), rtol=1e-12)
    np.testing.assert_allclose(result.report["time"], 0.7)
    assert result.report["accepted"] == 7
    assert result.report["rejected"] == 0


@pytest.mark.parametrize(
    "solver", [diffrax.Tsit5(), GaussNewton(), StabilisedRungeKutta()], ids=str
)
def test_float32_stays_float32(solver):
    class Quadratic(eqx.Module):
        rates: np.ndarray

        def residuals(self, model):
            return jnp.sqrt(self.rates / 2) * model

        def loss(self, model):
            return jnp.sum(self.residuals(model) ** 2)

    rates = np.array([0.5, 5.0, 50.0], np.float32)
    result = descend(
        np.ones(3, np.float32),
        Quadratic(rates),
        GradientFlow(solver, rtol=1e-4, atol=1e-5, until=1.0),
        stop=Stop(3000),
    )
    assert result.outcome == "stopped"
    np.testing.assert_allclose(result.model, np.exp(-rates), atol=1e-3)
    for array in (result.model, result.loss, result.report["time"], result.report["error"]):
        assert np.asarray(array).dtype == np.float32


def test_a_clock_in_float32():
    result = descend(
        *completions(np.float32),
        GradientFlow(rtol=1e-5, atol=1e-7, clock=HomogeneousClock(DEPTH)),
        stop=Stop(1000, loss=1e-8),
    )
    assert result.outcomes == {"converged": LANES}
    assert factors_of(result.model).dtype == np.float32
    assert result.report["time"].dtype == np.float32


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": 0.0}, "rtol: received 0.0, it must lie in"),
        ({"rtol": 2.0}, "rtol"),
        ({"atol": float("nan")}, "atol"),
        ({"until": 0.0}, "until: received 0.0, it must be a time above 0"),
        ({"until": float("nan")}, "until"),
        ({"first": 0.0}, "first"),
        ({"solver": "tsit5"}, "solver: received 'tsit5', it must be a Diffrax solver"),
        ({"solver": diffrax.Tsit5}, "solver: received the class Tsit5, it must"),
    ],
)
def test_wrong_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        GradientFlow(**options)


def test_wrong_combinations_are_refused():
    def run(method):
        descend(np.ones(2), square, method, stop=Stop(3))

    with pytest.raises(ValueError, match=r"it must have residuals\(model\)"):
        run(GradientFlow(GaussNewton()))
    with pytest.raises(
        ValueError, match="clock: received HomogeneousClock, it must be None for GaussNewton"
    ):
        run(GradientFlow(GaussNewton(), clock=HomogeneousClock(3)))
    with pytest.raises(ValueError, match=r"method: received .*does not provide error estimates"):
        run(GradientFlow(diffrax.Euler()))
    with pytest.raises(ValueError, match="degree: received 0, it must be"):
        HomogeneousClock(0)
    with pytest.raises(
        ValueError,
        match=r"most: received 1, it must be an integer from 2 to 10,000",
    ):
        StabilisedRungeKutta(most=1)
    for solver in (diffrax.Heun(), diffrax.Kvaerno5(), "tsit5"):
        with pytest.raises(ValueError, match="such as Tsit5"):
            Unrolled(solver)
