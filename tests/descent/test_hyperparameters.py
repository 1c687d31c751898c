"""Hyperparameters of each lane: a lane with its own is the run alone with it."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Averaged, Lanes, Stage, Stop, descend, run_schedule

START = np.array([1.0, -2.0, 0.5])
B1 = [0.0, 0.5, 0.9, 0.99]


def bowl(model):
    return jnp.sum(jnp.array([1.0, 10.0, 100.0]) * model**2)


def injected(**numbers):
    return optax.inject_hyperparams(optax.adam)(learning_rate=1e-2, **numbers)


def chained(**numbers):
    clip = optax.inject_hyperparams(optax.clip)(max_delta=100.0)
    return optax.chain(clip, injected(**numbers))


def averaged(**numbers):
    return Averaged(injected(**numbers), steps=5)


@pytest.mark.parametrize("make", [injected, chained, averaged])
def test_each_lane_is_its_own_run(make):
    lanes = Lanes.stack([START] * 4)
    together = descend(lanes, bowl, make(), hyperparameters={"b1": B1}, stop=Stop(50))
    for lane, b1 in enumerate(B1):
        alone = descend(START, bowl, make(b1=b1), stop=Stop(50))
        np.testing.assert_array_equal(together.model[lane], alone.model)
        single = descend(START, bowl, make(), hyperparameters={"b1": b1}, stop=Stop(50))
        np.testing.assert_array_equal(single.model, alone.model)
    ends = np.asarray(together.model.tree)
    assert all(np.abs(ends[i] - ends[i + 1]).max() > 1e-6 for i in range(3))


def test_several_at_once_and_after_lanes_were_taken_out(monkeypatch):
    monkeypatch.setattr("tacit.descent._plan.FIRST", 4)
    monkeypatch.setattr(
        "tacit.descent._plan.Packing.bucket",
        lambda self, present, running, clock: max(2, -(-running // 4)) if running < 4 else present,
    )
    rates, b2 = np.geomspace(1e-3, 1e-1, 8), np.linspace(0.9, 0.999, 8)
    goals = np.where(np.arange(8) % 3 == 0, 0.0, 50.0)
    together = descend(
        Lanes.stack([START] * 8),
        bowl,
        injected(),
        hyperparameters={"learning_rate": rates, "b2": b2},
        stop=Stop(60, loss=goals),
    )
    for lane in (0, 3, 6):
        alone = descend(
            START,
            bowl,
            optax.inject_hyperparams(optax.adam)(learning_rate=rates[lane], b2=b2[lane]),
            stop=Stop(60, loss=0.0),
        )
        np.testing.assert_array_equal(together.model[lane], alone.model)


def test_a_scheduled_number_cannot_be_set():
    method = optax.inject_hyperparams(optax.adam)(optax.linear_schedule(0.1, 0.0, 10))
    with pytest.raises(ValueError, match=r"'learning_rate'\]: received .* not a schedule"):
        descend(START, bowl, method, hyperparameters={"learning_rate": 0.1}, stop=Stop(2))


def test_stages_have_them_too():
    stage = Stage("only", bowl, injected(), Stop(10), hyperparameters={"b1": 0.5})
    alone = descend(START, bowl, injected(b1=0.5), stop=Stop(10))
    np.testing.assert_array_equal(run_schedule(START, [stage])["only"].model, alone.model)
