"""Equal methods written twice are one program, unequal ones never; the programs kept are bounded.

Some tests look inside: a key that is too fine, or a bound, costs compilations alone.
"""

import types

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Averaged, Record, Stop, descend
from tacit.descent._by_value import ByValue
from tacit.descent._programs import Recent

START = np.array([1.0, 2.0, 3.0], np.float32)


def square(model):
    return jnp.sum(model**2)


def run(method, **options):
    return descend(START, square, method, stop=Stop(20), **options)


def own(array):
    """A user's transformation, whose closure holds an array."""

    def init(params):
        return optax.EmptyState()

    def update(gradient, state, params=None):
        return jax.tree.map(lambda g: -array * g, gradient), state

    return optax.GradientTransformation(init, update)


def staircase():
    return optax.piecewise_constant_schedule(0.1, {5: 0.5, 10: 0.1})


MAKERS = {
    "adam": lambda: optax.adam(1e-3),
    "chain": lambda: optax.chain(optax.clip(1.0), optax.adam(staircase())),
    "injected": lambda: optax.inject_hyperparams(optax.adam)(learning_rate=staircase(), b1=0.8),
    "masked": lambda: optax.masked(optax.sgd(0.1), mask=lambda params: True),
    "several steps": lambda: optax.MultiSteps(optax.sgd(0.1), 3).gradient_transformation(),
    "own": lambda: own(np.full(3, 0.1, np.float32)),
    "own, on the device": lambda: own(jnp.full(3, 0.1, jnp.float32)),
    "averaged": lambda: Averaged(optax.sgd(0.2), steps=4),
    "line search": lambda: optax.lbfgs(),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_written_inline_ten_times_it_compiles_once(make, compilations):
    run(make())
    with compilations() as seen:
        for _ in range(9):
            run(make())
    assert seen == []


def test_the_first_of_a_kind_is_compiled(compilations):
    with compilations() as seen:
        run(optax.adam(0.0625))
    assert len(seen) > 0


def test_inline_losses_and_measures_compile_once(compilations):
    def once(power):
        return descend(
            START,
            lambda model: jnp.sum(model**power),
            optax.sgd(0.01),
            stop=Stop(3),
            record=Record([1], {"norm": lambda model: jnp.sum(model**power)}),
        )

    first = once(2)
    with compilations() as seen:
        once(2)
    assert seen == []
    other = once(4)
    np.testing.assert_allclose(first.records["norm"], np.sum((START * 0.98) ** 2), rtol=1e-5)
    np.testing.assert_allclose(
        other.records["norm"], np.sum((START - 0.04 * START**3) ** 4), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (optax.sgd, (0.1, 0.2)),
        (own, (np.full(3, 0.1, np.float32), np.full(3, 0.2, np.float32))),
        (own, (jnp.full(3, 0.1), jnp.full(3, 0.2))),
        (
            lambda step: optax.sgd(optax.piecewise_constant_schedule(0.1, {step: 0.1})),
            (1, 2),
        ),
    ],
)
def test_other_numbers_are_another_program(make, values):
    first, second = (run(make(value)).model for value in values)
    assert np.abs(np.asarray(first) - np.asarray(second)).min() > 1e-3
    assert np.array_equal(run(make(values[0])).model, first)


SCALE = 1.0


def test_a_global_that_changes_is_another_program(monkeypatch):
    def make():
        def update(gradient, state, params=None):
            return jax.tree.map(lambda g: -0.1 * SCALE * g, gradient), state

        return optax.GradientTransformation(lambda params: optax.EmptyState(), update)

    first = run(make())
    monkeypatch.setitem(globals(), "SCALE", 0.5)
    assert not np.array_equal(run(make()).model, first.model)


def test_a_global_with_the_name_of_an_attribute_is_nothing_to_it(monkeypatch):
    class Model(eqx.Module):
        SCALE: jax.Array

    def loss(model):
        return (lambda model: jnp.sum(model.SCALE**2))(model)

    first = ByValue(loss)
    monkeypatch.setitem(globals(), "SCALE", 0.5)
    assert first == ByValue(loss)


STRENGTH, TABLE, ENTRIES, max = 1.0, {"s": 1.0}, [1.0], 1.0
OUTSIDE = types.ModuleType("outside")


class Strength:
    """As a plain object, a problem or a function; its class says something too."""

    s = 1.0

    def loss(self, model):
        return self.s * square(model)

    __call__ = loss


class Slotted:
    __slots__ = ("s",)

    def __call__(self, model):
        return self.s * square(model)


HELD, SLOTTED = Strength(), Slotted()


def helper(model):
    return STRENGTH * square(model)


def change_global(s):
    globals().update(STRENGTH=s, max=s)


def change_inside(s):
    TABLE["s"] = ENTRIES[0] = HELD.s = SLOTTED.s = OUTSIDE.s = s


def change_class(s):
    Strength.s = s


def masked(s):
    weights = np.ma.MaskedArray(np.full(3, 2.0, np.float32), mask=[s == 1.0] * 3)
    return lambda model: jnp.sum(jnp.asarray(weights.filled(1.0)) * model**2)


CHANGES = {
    "a helper's global": (change_global, lambda s: lambda model: helper(model)),
    "a helper's global, one function": (change_global, lambda s: helper),
    "a global named like a builtin": (change_global, lambda s: lambda model: max * square(model)),
    "a dictionary": (change_inside, lambda s: lambda model: TABLE["s"] * square(model)),
    "a list": (change_inside, lambda s: lambda model: ENTRIES[0] * square(model)),
    "an object": (change_inside, lambda s: lambda model: HELD.s * square(model)),
    "an object with slots": (change_inside, lambda s: lambda model: SLOTTED(model)),
    "a module": (change_inside, lambda s: lambda model: OUTSIDE.s * square(model)),
    "a problem": (change_inside, lambda s: HELD),
    "a callable with slots": (change_inside, lambda s: SLOTTED),
    "a class": (change_class, lambda s: Strength()),
    "a mask": (lambda s: None, masked),
}


@pytest.mark.parametrize(("change", "make"), CHANGES.values(), ids=CHANGES)
def test_what_changed_between_two_calls_is_seen(change, make, monkeypatch):
    for owner, name in ((Strength, "s"), (HELD, "s")):
        monkeypatch.setattr(owner, name, 1.0)
    for name in ("STRENGTH", "max"):
        monkeypatch.setitem(globals(), name, 1.0)
    losses = []
    for s in (1.0, 2.0, 1.0):
        change(s)
        losses.append(float(descend(START, make(s), optax.sgd(0.0), stop=Stop(1)).loss))
    np.testing.assert_allclose(losses, [14.0, 28.0, 14.0])


def test_equal_problems_of_a_class_of_ones_own_are_one_program(compilations):
    def once(s):
        problem = Strength()
        problem.s = s
        return descend(START, problem, optax.sgd(0.01), stop=Stop(2))

    once(3.0)
    with compilations() as seen:
        once(3.0)
    assert seen == []
    with compilations() as seen:
        once(5.0)
    assert len(seen) > 0


class Opaque(bytearray):
    """Nothing of it can be read."""


def closed_over(value):
    return lambda: value


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0, True, np.float64(1), np.float32(1), "1", b"1", 1 + 0j),
        (0.0, -0.0),
        ((1, 2), [1, 2], {1: 2}, {1, 2}),
        (np.zeros(2), np.zeros((1, 2)), np.zeros(2, np.float32), jnp.zeros(2)),
        (jnp.asarray(1.0), jnp.float32(1.0)),  # of a weak type, and of a strict one
        (np.sin, np.cos, jnp.sin, jnp.cos),
        (jax.random.key(0), jax.random.key(1)),
        (Opaque(1), Opaque(1)),
    ],
)
def test_closures_over_different_values_differ(values):
    keys = [ByValue(closed_over(value)) for value in values]
    assert len(set(keys)) == len(values)
    assert set(keys) == {ByValue(key.value) for key in keys}


@pytest.mark.parametrize(
    "make",
    [
        lambda: 0.1,
        lambda: (1, [2.0, {"a": np.arange(3)}]),
        lambda: jnp.arange(3),
        lambda: jax.random.key(3),
        lambda: {1.0, 2.0},
        lambda: closed_over(closed_over(3)),
        lambda: np.nan,
    ],
)
def test_closures_over_equal_values_are_equal(make):
    first, second = ByValue(closed_over(make())), ByValue(closed_over(make()))
    assert first == second
    assert hash(first) == hash(second)


def test_a_function_may_refer_to_itself():
    def make():
        def countdown(n):
            return n and countdown(n - 1)

        return countdown

    assert ByValue(make()) == ByValue(make())


def test_what_is_not_used_is_forgotten():
    kept, made = Recent(2), []

    def get(key):
        return kept.get(key, lambda: made.append(key) or key)

    for key in "abacab":
        get(key)
    assert made == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_programs_are_let_go(monkeypatch, compilations):
    monkeypatch.setattr("tacit.descent._programs._PROGRAMS", Recent(1))
    run(optax.sgd(0.11))
    with compilations() as seen:
        run(optax.sgd(0.11))
        assert seen == []
        run(optax.sgd(0.12))
        run(optax.sgd(0.11))
    assert len(seen) == 2
