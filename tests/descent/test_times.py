"""Times of a flow: records carry them, and a flow that is asked for times lands on them."""

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.descent import (
    BoundedStep,
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

RATES = np.array([0.1, 1.0, 3.0])
START = np.array([1.0, -2.0, 0.5])
TIMES = [0.0, 0.25, 1.0, 1.0001, 4.0]


class Decay:
    """L = Σ aᵢ θᵢ² / 2, whose flow is θᵢ(t) = θᵢ(0) exp(−aᵢ t)."""

    def loss(self, model):
        return jnp.sum(self.residuals(model) ** 2)

    def residuals(self, model):
        return jnp.sqrt(jnp.asarray(RATES, model.dtype) / 2) * model


def exact(times, start=START):
    return start * np.exp(-RATES * np.asarray(times)[:, None])


MEASURES = {"x": lambda model: model}


@pytest.mark.parametrize(
    ("solver", "rtol", "tolerance"),
    [
        (diffrax.Tsit5(), 1e-9, 1e-7),
        (diffrax.Dopri8(), 1e-9, 1e-7),
        (Unrolled(diffrax.Tsit5()), 1e-9, 1e-7),
        (StabilisedRungeKutta(), 1e-6, 1e-4),
        (GaussNewton(), 1e-6, 1e-3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_flow_is_exact_at_the_times_asked_for(solver, rtol, tolerance):
    flow = GradientFlow(solver, rtol=rtol, atol=rtol / 100, until=5.0)
    result = descend(
        START, Decay(), flow, stop=Stop(100_000), record=Record.at_times(TIMES, MEASURES)
    )
    np.testing.assert_array_equal(result.records["time"], TIMES)
    np.testing.assert_array_equal(result.record_times, TIMES)
    np.testing.assert_allclose(result.records["x"], exact(TIMES), atol=tolerance)
    np.testing.assert_allclose(
        result.records["loss"], 0.5 * np.sum(RATES * exact(TIMES) ** 2, -1), atol=10 * tolerance
    )
    assert result.report["time"] == 5.0
    assert set(result.report) == {"time", "accepted", "rejected", "error"}
    assert result.record_steps.size == 0


def test_every_lane_lands_on_the_times_and_those_that_ended_show_their_end():
    starts = np.stack([START * scale for scale in (1.0, 10.0, 1e-4)])
    result = descend(
        Lanes(starts),
        Decay(),
        GradientFlow(),
        stop=Stop(2000, loss=1e-6),
        record=Record.at_times([0.5, 2.0, 30.0, 1000.0], MEASURES),
    )
    assert (result.outcome == "converged").all()
    ended = result.report["time"]
    assert ended[2] == 0.0  # it starts below the goal
    for lane in range(3):
        times = np.minimum([0.5, 2.0, 30.0, 1000.0], ended[lane])
        np.testing.assert_array_equal(result.records["time"][lane], times)
        np.testing.assert_allclose(
            result.records["x"][lane], exact(times, starts[lane]), atol=1e-6, rtol=1e-6
        )
        np.testing.assert_array_equal(result.records["x"][lane, -1], result.model[lane])


def test_a_rate_is_a_speed():
    result = descend(
        Lanes.stack([START] * 2),
        Decay(),
        GradientFlow(until=2.0),
        rate=[1.0, 0.5],
        stop=Stop(1000),
        record=Record.at_times([1.0, 2.0], MEASURES),
    )
    np.testing.assert_array_equal(result.records["time"], [[1.0, 2.0]] * 2)
    np.testing.assert_allclose(result.records["x"][0], exact([1.0, 2.0]), atol=1e-6)
    np.testing.assert_allclose(result.records["x"][1], exact([0.5, 1.0]), atol=1e-6)


def test_float32_and_more_lanes_than_a_block():
    rng = np.random.default_rng(0)
    starts = rng.normal(size=(150, 3)).astype(np.float32)
    result = descend(
        Lanes(starts),
        Decay(),
        GradientFlow(rtol=1e-5, atol=1e-7, until=2.0),
        stop=Stop(1000),
        record=Record.at_times([0.1, 0.7, 2.0], MEASURES),
    )
    assert result.records["x"].dtype == result.records["time"].dtype == np.float32
    decayed = exact([0.1, 0.7, 2.0], 1.0)
    np.testing.assert_allclose(result.records["x"], starts[:, None] * decayed, atol=1e-4)


def test_asking_for_times_costs_few_steps():
    flow = GradientFlow(until=10.0)
    plain = descend(START, Decay(), flow, stop=Stop(1000))
    asked = descend(START, Decay(), flow, stop=Stop(1000), record=Record.at_times([1.0, 2.0, 5.0]))
    # Each time cuts one step in two; the size that was wanted before the cut is not forgotten.
    assert plain.steps < asked.steps <= plain.steps + 2 * 3


@pytest.mark.parametrize("method", [GradientFlow(), BoundedStep()])
def test_records_at_steps_carry_the_time(method):
    class Bounded(Decay):
        def downhill(self, model):
            return self.loss(model), jnp.asarray(RATES) * model, jnp.asarray(3.0)

    whole = descend(START, Bounded(), method, stop=Stop(9), record=Record([0, 4, 9]))
    assert whole.records["time"][0] == 0.0
    for place, steps in ((1, 4), (2, 9)):
        short = descend(START, Bounded(), method, stop=Stop(steps))
        assert whole.records["time"][place] == short.report["time"] > 0
    assert whole.record_times is None


def test_a_clock_refuses_times():
    flow = GradientFlow(clock=HomogeneousClock(3))
    with pytest.raises(
        ValueError, match=r"with a clock, which cannot land on.*leave the clock out"
    ):
        descend(START, Decay(), flow, stop=Stop(5), record=Record.at_times([1.0]))


def test_times_that_float32_cannot_tell_apart():
    with pytest.raises(ValueError, match="rounded to the model's float32"):
        descend(
            START.astype(np.float32),
            Decay(),
            GradientFlow(),
            stop=Stop(5),
            record=Record.at_times([1.0, 1.0 + 1e-9]),
        )
