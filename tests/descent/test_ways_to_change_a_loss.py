"""Ways to change what a loss reads between two calls: the second answer is the new one's."""

import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Stop, descend


class Holder:
    def __init__(self, target):
        self.target = target

    def loss(self, w):
        return jnp.sum((w - self.target) ** 2)


@dataclasses.dataclass(slots=True)
class Slots:
    target: float

    def loss(self, w):
        return jnp.sum((w - self.target) ** 2)


class Hidden:
    __slots__ = ("__target", "unset")

    def __init__(self, target):
        self.__target = target

    def __call__(self, w):
        return jnp.sum((w - self.__target) ** 2)

    def become(self, target):
        self.__target = target


class Both(Slots):  # slots, and a dictionary beside them
    pass


def of_global(space):
    return lambda w: jnp.sum((w - space["target"]) ** 2)


def closure(box):
    return lambda w: jnp.sum((w - box[0]) ** 2)


def attribute(thing):
    return lambda w: jnp.sum((w - thing.target) ** 2)


def put(thing, value):
    thing.target = value


# What holds the target 1, the loss of it, and what makes the target 3.
WAYS = {
    "a dict": ({"target": 1.0}, of_global, lambda d: d.update(target=3.0)),
    "a list": ([1.0], closure, lambda box: box.__setitem__(0, 3.0)),
    "an array of JAX in a list": (
        [jnp.float32(1.0)], closure, lambda box: box.__setitem__(0, jnp.float32(3.0))),
    "an array of 32 bits in place": (
        np.ones(1, np.float32), closure, lambda a: a.__setitem__(0, 3.0)),
    "an attribute": (Holder(1.0), attribute, lambda h: put(h, 3.0)),
    "a bound method": (Holder(1.0), lambda h: h.loss, lambda h: put(h, 3.0)),
    "a module": (types.SimpleNamespace(target=1.0), attribute, lambda m: put(m, 3.0)),
    "slots": (Slots(1.0), lambda s: s.loss, lambda s: put(s, 3.0)),
    "slots with hidden names": (Hidden(1.0), lambda s: s, lambda s: s.become(3.0)),
    "slots beside a dictionary": (Both(1.0), attribute, lambda s: put(s, 3.0)),
    "the slots of a base": (Both(1.0), lambda s: s.loss, lambda s: put(s, 3.0)),
}  # fmt: skip


def trained(loss):
    return float(descend(jnp.zeros(1), loss, optax.sgd(0.1), stop=Stop(50)).model[0])


@pytest.mark.parametrize("name", WAYS)
def test_a_target_that_was_changed_is_the_new_one(name):
    holder, of, change = WAYS[name]
    assert trained(of(holder)) == pytest.approx(1.0, abs=1e-3)
    change(holder)
    assert trained(of(holder)) == pytest.approx(3.0, abs=1e-3)


def test_what_is_the_same_shares_its_program_by_its_slots():
    from tacit.descent._by_value import ByValue

    one, two = ByValue(Slots(1.0)), ByValue(Slots(1.0))
    assert one == two
    assert ByValue(Slots(2.0)) != one
    assert ByValue(bytearray(b"a")) != ByValue(bytearray(b"a"))  # of no known content


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_an_array_that_jax_keeps_the_old_numbers_of_is_refused(dtype):
    target = np.ones(1, dtype)
    assert trained(closure(target)) == trained(closure(target)) == pytest.approx(1.0, abs=1e-3)
    target[:] = 3
    with pytest.raises(
        ValueError, match=f"NumPy array of {target.dtype} that was changed in place"
    ):
        trained(closure(target))
    assert trained(closure(target.copy())) == pytest.approx(3.0, abs=1e-3)
    with jax.enable_x64(True):  # there JAX takes it as it is
        assert trained(closure(target)) == pytest.approx(3.0, abs=1e-3)
