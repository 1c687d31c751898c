"""Every door of descent refuses wrong input in words."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Lanes, Record, Stop, descend


def square(model):
    return jnp.sum(model**2)


def run(model=None, loss=square, method=None, **options):
    options.setdefault("stop", Stop(2))
    model = np.ones(2) if model is None else model
    return descend(model, loss, optax.sgd(0.1) if method is None else method, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "no arrays"}, "no arrays at all"),
        ({"model": {"n": np.array([1, 2])}}, "int64, it must hold floating-point arrays"),
        ({"loss": 3}, "loss_or_problem"),
        ({"method": "adam"}, "method: received 'adam', it must be an Optax transformation"),
        ({"rate": np.ones(3)}, r"rate: received the shape \(3,\), it must"),
        ({"stop": Stop(2, loss=np.ones(4))}, r"stop.loss: received the shape \(4,\), it must"),
        ({"record": Record([0, 5])}, "up to 5, they must not pass stop.steps = 2"),
        ({"loss": lambda model, *, key: square(model)}, "key: received None, it must be a key"),
        (
            {
                "loss": lambda model, *, key: square(model),
                "key": Lanes(jax.random.split(jax.random.key(0), 3)),
            },
            "key: received 3 lanes, it must have as many as model, 1",
        ),
    ],
)
def test_descend(options, words):
    with pytest.raises(ValueError, match=words):
        run(**options)


def test_problems_for_another_number_of_lanes():
    class Problem(eqx.Module):
        centre: np.ndarray

        def loss(self, model):
            return jnp.sum((model - self.centre) ** 2)

    with pytest.raises(ValueError, match="received 2 lanes, it must have as many as model, 3"):
        run(model=Lanes(np.ones((3, 2))), loss=Lanes(Problem(np.ones((2, 2)))))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"steps": -1}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"steps": True}, "steps"),
        ({"steps": 1, "loss": np.nan}, "loss"),
        ({"steps": 1, "gradient": -1.0}, "gradient"),
        ({"steps": 1, "diverged": 0.0}, "diverged"),
        ({"steps": 1, "patience": 0}, "patience"),
        ({"steps": 1, "progress": 1.0}, "progress"),
    ],
)
def test_stop(options, name):
    with pytest.raises(ValueError, match=name):
        Stop(**options)


@pytest.mark.parametrize(
    ("steps", "measures", "words"),
    [
        ([], {}, "steps"),
        ([0.5], {}, "steps"),
        ([3, 2], {}, "increase"),
        ([-1, 2], {}, "increase"),
        ([1], {"loss": square}, "'loss'"),
        ([1], {"rank": 3}, "measures"),
    ],
)
def test_record(steps, measures, words):
    with pytest.raises(ValueError, match=words):
        Record(steps, measures)


def test_record_every():
    assert Record.every(3, until=7).steps.tolist() == [0, 3, 6]
    with pytest.raises(ValueError, match="interval"):
        Record.every(0, until=5)


def test_lanes():
    with pytest.raises(ValueError, match="items: received none"):
        Lanes.stack([])
    with pytest.raises(ValueError, match="no arrays"):
        Lanes("text")
    with pytest.raises(ValueError, match="leading lane axis"):
        Lanes({"a": np.ones(3), "b": np.ones(2)})
    with pytest.raises(ValueError, match="leading lane axis"):
        Lanes({"a": np.ones(3), "b": np.array(1.0)})
    with pytest.raises(ValueError, match="different structures"):
        Lanes.stack([{"a": np.ones(2)}, {"b": np.ones(2)}])
    with pytest.raises(ValueError, match="different shapes"):
        Lanes.stack([np.ones(2), np.ones(3)])
    with pytest.raises(ValueError, match=r"items: received 1\.0 and others at one place"):
        Lanes.stack([{"a": np.ones(2), "s": 1.0}, {"a": np.ones(2), "s": 2.0}])
    assert Lanes.stack(np.full(2, i) for i in range(3)).count == 3  # any iterable
    lanes = Lanes.stack([np.zeros(2), np.ones(2)])
    assert len(lanes) == 2
    assert [float(np.asarray(item).sum()) for item in lanes] == [0.0, 2.0]
    np.testing.assert_array_equal(lanes[-1], np.ones(2))
    with pytest.raises(IndexError, match="lane 2 of 2"):
        lanes[2]


def test_lanes_are_taken_and_replaced_by_number():
    lanes = Lanes({"a": np.arange(8.0).reshape(4, 2), "name": "kept"})
    taken = lanes.take(np.array([3, 1, 1]))
    np.testing.assert_array_equal(taken.tree["a"], [[6, 7], [2, 3], [2, 3]])
    assert taken.tree["name"] == "kept"
    changed = lanes.replaced(np.array([0, 2]), Lanes({"a": -np.ones((2, 2)), "name": "kept"}))
    np.testing.assert_array_equal(changed.tree["a"], [[-1, -1], [2, 3], [-1, -1], [6, 7]])
    np.testing.assert_array_equal(lanes.tree["a"][0], [0, 1])  # the original is left alone
