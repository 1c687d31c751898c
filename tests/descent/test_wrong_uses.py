"""Wrong uses of `descend`: each gives one sentence with the argument, what it was and a remedy."""

import re

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import (
    Averaged,
    BoundedStep,
    GaussNewton,
    GradientFlow,
    Lanes,
    LevenbergMarquardt,
    Record,
    Stop,
    descend,
)


class Point(eqx.Module):
    """A model with a shape of its own."""

    x: jax.Array | np.ndarray

    def __call__(self, y):
        return self.x * y


class Target(eqx.Module):
    """A problem."""

    centre: jax.Array | np.ndarray

    def loss(self, model):
        return jnp.sum((model.x - self.centre) ** 2)


class Masked(eqx.Module):
    """A problem with a mask, which must have the model's shape."""

    mask: jax.Array | np.ndarray

    def loss(self, model):
        return jnp.sum((self.mask * model.x) ** 2)


def square(model):
    return jnp.sum(model.x**2)


def noisy(model, *, key):
    return square(model) + jax.random.normal(key)


POINT = Point(np.ones(2))
POINTS = Lanes.stack([POINT] * 3)
ADAM = optax.adam(1e-3)
INJECTED = optax.inject_hyperparams(optax.adam)(1e-3)


def run(model=POINT, loss=square, method=ADAM, **options):
    return descend(model, loss, method, **{"stop": Stop(2), **options})


# What is done, the argument that the sentence names, a word on what was received, the remedy.
WRONG = {
    # stop
    "a number for stop": (lambda: run(stop=100), "stop", "100", r"Stop\(100\)"),
    "no stop at all": (lambda: run(stop=None), "stop", "None", r"Stop\(1000\)"),
    "the class Stop": (lambda: run(stop=Stop), "stop", "class Stop", r"Stop\(1000\)"),
    "negative steps": (lambda: run(stop=Stop(-5)), "steps", "-5", r"Stop\(1000\)"),
    "steps in words": (lambda: run(stop=Stop("100")), "steps", "'100'", r"Stop\(1000\)"),
    "endless steps": (lambda: run(stop=Stop(np.inf)), "steps", "inf", r"Stop\(1000\)"),
    "half a patience": (lambda: run(stop=Stop(5, patience=2.5)), "patience", "2.5", "None"),
    "a goal in words": (lambda: run(stop=Stop(5, loss="low")), "loss", "'low'", "leave it out"),
    "a goal for each of four": (
        lambda: run(POINTS, stop=Stop(5, loss=np.zeros(4))), "stop.loss", r"\(4,\)", "or 3",
    ),
    # record
    "a dictionary for record": (
        lambda: run(record={"x": square}), "record", r"\['x'\]", r"Record\(\[",
    ),
    "a list for record": (lambda: run(record=[0, 1]), "record", "a list of 2", r"Record\(\["),
    "a record beyond the budget": (
        lambda: run(record=Record([0, 9])), "record.steps", "9", "raise the budget",
    ),
    "an untraceable measure": (
        lambda: run(record=Record([1], {"norm": lambda m: float(m.x[0])})),
        "measures", "ConcretizationTypeError", "jax.numpy",
    ),
    "a measure that branches": (
        lambda: run(record=Record([1], {"sign": lambda m: 1.0 if m.x[0] > 0 else 0.0})),
        "measures", "TracerBoolConversionError", "jax.numpy",
    ),
    "a measure of NumPy": (
        lambda: run(record=Record([1], {"rank": lambda m: np.linalg.norm(m.x)})),
        "measures", "TracerArrayConversionError", "jax.numpy",
    ),
    "a measure that returns nothing": (
        lambda: run(record=Record([1], {"norm": lambda m: None})),
        "measures", "NoneType", "one array",
    ),
    "a measure that returns a dictionary": (
        lambda: run(record=Record([1], {"all": lambda m: {"x": m.x, "y": m.x}})),
        "measures", "dict", "a measure of its own",
    ),
    "a measure that returns a word": (
        lambda: run(record=Record([1], {"word": lambda m: "yes"})), "measures", "str", "arrays",
    ),
    "a measure with two arguments": (
        lambda: run(record=Record([1], {"both": lambda m, n: m.x})), "measures", "'n'", "one model",
    ),
    "a record of an array": (
        lambda: run(record=Record([1], {"x": POINT.x})), "measures", "array", "lambda model",
    ),
    "a measure called time of a flow": (
        lambda: run(method=GradientFlow(), record=Record([1], {"time": square})),
        "measures", "'time'", "another name",
    ),
    "times of a discrete method": (
        lambda: run(record=Record.at_times([1.0])), "record", "OptaxMethod", "GradientFlow",
    ),
    "times beyond the flow's end": (
        lambda: run(method=GradientFlow(until=1.0), record=Record.at_times([2.0])),
        "record.times", "2.0", "raise until",
    ),
    "times that decrease": (
        lambda: run(method=GradientFlow(), record=Record.at_times([2.0, 1.0])),
        "times", r"\[2.0, 1.0\]", "sort",
    ),
    # model
    "a list of models": (lambda: run([POINT, POINT]), "model", "a list of 2", r"Lanes.stack\("),
    "a stacked tree": (
        lambda: run(Point(np.ones((3, 2))), Target(np.ones((4, 2)))), "model", "Point", r"Lanes\(",
    ),
    "a stacked tree, whose losses are many": (
        lambda: run(Point(np.ones((3, 2))), lambda m: jnp.sum(m.x**2, -1)),
        "loss_or_problem", r"\(3,\)", r"Lanes\(model\)",
    ),
    "an empty tree": (lambda: run({}), "model", r"keys \[\]", "arrays of floats"),
    "integers": (lambda: run(Point(np.array([1, 2]))), "model", "int64", "arrays of floats"),
    "complex numbers": (lambda: run(Point(np.ones(2) + 1j)), "model", "complex", "real and imag"),
    "mixed precision in a flow": (
        lambda: run(
            {"a": np.ones(2), "b": np.ones(2, np.float32)},
            lambda m: jnp.sum(m["a"] * m["b"]),
            GradientFlow(),
        ),
        "model", "float32 and float64", "the same",
    ),
    "a class": (lambda: run(Point), "model", "class Point", r"Point\(…\)"),
    "lanes of different shapes": (
        lambda: run(Lanes.stack([Point(np.ones(2)), Point(np.ones(3))])), "items", r"\(3,\)", "one",
    ),
    "lanes of different structures": (
        lambda: run(Lanes.stack([POINT, np.ones(2)])), "items", "structures", "share",
    ),
    # loss_or_problem
    "swapped model and loss": (
        lambda: run(square, POINT.x), "loss_or_problem", r"shape \(2,\)", "the order is",
    ),
    "swapped loss and method": (
        lambda: run(POINT, ADAM, square), "loss_or_problem", "Transformation", "the order is",
    ),
    "swapped problem and model": (
        lambda: run(Target(np.ones(2)), POINT), "loss_or_problem", "Target", "one model",
    ),
    "a problem that is no function": (lambda: run(loss=3.0), "loss_or_problem", "3.0", "order"),
    "the class of a problem": (
        lambda: run(loss=Target), "loss_or_problem", "class Target", r"Target\(…\)",
    ),
    "a loss that returns a pair": (
        lambda: run(loss=lambda m: (square(m), m.x)), "loss_or_problem", "tuple of 2", "alone",
    ),
    "a loss that returns nothing": (
        lambda: run(loss=lambda m: None), "loss_or_problem", "None", "return the loss",
    ),
    "a loss that is an array": (
        lambda: run(loss=lambda m: m.x**2), "loss_or_problem", r"\(2,\)", "mean or sum",
    ),
    "a complex loss": (
        lambda: run(loss=lambda m: square(m) + 1j), "loss_or_problem", "complex", "jnp.real",
    ),
    "a whole number for a loss": (
        lambda: run(loss=lambda m: jnp.sum(m.x > 0)), "loss_or_problem", "int", "float",
    ),
    "a loss that branches": (
        lambda: run(loss=lambda m: square(m) if m.x[0] > 0 else 0.0),
        "loss_or_problem", "TracerBoolConversionError", "jax.numpy",
    ),
    "a loss of NumPy": (
        lambda: run(loss=lambda m: np.linalg.norm(m.x)),
        "loss_or_problem", "TracerArrayConversionError", "jax.numpy",
    ),
    "a loss of another model": (
        lambda: run(loss=lambda m: jnp.sum(m.y)), "loss_or_problem", "'y'", "one model",
    ),
    "a mask of another shape": (
        lambda: run(loss=Masked(np.ones(3))), "loss_or_problem", r"\(3,\)", "one model",
    ),
    "problems for other lanes": (
        lambda: run(POINTS, Lanes(Masked(np.ones((4, 2))))),
        "loss_or_problem", "4 lanes", "one for each lane",
    ),
    # method
    "a method not called": (
        lambda: run(method=optax.adam), "method", "function adam", r"optax.adam\(1e-3\)",
    ),
    "a rate for a method": (lambda: run(method=1e-3), "method", "0.001", r"optax.sgd\(0.001\)"),
    "a word for a method": (lambda: run(method="adam"), "method", "'adam'", r"optax.adam\("),
    "a list of methods": (lambda: run(method=[ADAM]), "method", "a list of 1", "optax.adam"),
    "the class of a method": (
        lambda: run(method=GradientFlow), "method", "class GradientFlow", r"GradientFlow\(…\)",
    ),
    "a solver for a method": (
        lambda: run(method=diffrax.Tsit5()), "method", "Tsit5", r"GradientFlow\(Tsit5\(\)\)",
    ),
    "a method averaged by class": (
        lambda: run(method=Averaged(LevenbergMarquardt, steps=3)),
        "method", "class LevenbergMarquardt", "instance",
    ),
    "the class of a solver": (
        lambda: run(method=GradientFlow(diffrax.Tsit5)), "solver", "class Tsit5", r"Tsit5\(\)",
    ),
    "a clock that is a number": (
        lambda: run(method=GradientFlow(clock=3)), "clock", "3", "HomogeneousClock",
    ),
    "a flow that ends at once": (
        lambda: run(method=GradientFlow(until=0.0)), "until", "0.0", "leave it out",
    ),
    "a flow that ends in words": (
        lambda: run(method=GradientFlow(until="1")), "until", "'1'", "leave it out",
    ),
    "a tolerance of zero": (
        lambda: run(method=GradientFlow(rtol=0.0)), "rtol", "0.0", "rtol=1e-8",
    ),
    "a problem without residuals": (
        lambda: run(method=LevenbergMarquardt()), "residuals", "function square", "Optax",
    ),
    "a solver's problem without residuals": (
        lambda: run(method=GradientFlow(GaussNewton())), "residuals", "function square", "Optax",
    ),
    "a method that fails": (
        lambda: run(method=optax.GradientTransformation(lambda p: (), lambda g, s, p: g)),
        "method", "TypeError", "made with",
    ),
    "a problem without downhill": (
        lambda: run(method=BoundedStep()), "downhill", "function square", "Optax",
    ),
    # key
    "a number for a key": (lambda: run(loss=noisy, key=0), "key", "0", r"jax.random.key\(0\)"),
    "no key": (lambda: run(loss=noisy), "key", "None", r"jax.random.key\(0\)"),
    "a key without need": (
        lambda: run(key=jax.random.key(0)), "key", "draws no random data", "leave key out",
    ),
    "keys without lanes": (
        lambda: run(POINTS, noisy, key=jax.random.split(jax.random.key(0), 3)),
        "key", r"\(3,\)", "Lanes",
    ),
    "keys for other lanes": (
        lambda: run(POINTS, noisy, key=Lanes(jax.random.split(jax.random.key(0), 2))),
        "key", "2 lanes", "one for each lane",
    ),
    # rate and hyperparameters
    "rates for other lanes": (lambda: run(POINTS, rate=[1.0, 2.0]), "rate", r"\(2,\)", "or 3"),
    "a rate that is NaN": (lambda: run(rate=np.nan), "rate", "nan", "finite"),
    "a rate in words": (lambda: run(rate="fast"), "rate", "'fast'", "one number"),
    "a schedule for a rate": (
        lambda: run(rate=optax.constant_schedule(1.0)), "rate", "function", "one number",
    ),
    "hyperparameters of a plain method": (
        lambda: run(hyperparameters={"b1": 0.5}), "hyperparameters", "'b1'", "inject_hyperparams",
    ),
    "hyperparameters of a flow": (
        lambda: run(method=GradientFlow(), hyperparameters={"b1": 0.5}),
        "hyperparameters", "GradientFlow", "inject_hyperparams",
    ),
    "an unknown hyperparameter": (
        lambda: run(method=INJECTED, hyperparameters={"beta": 0.5}),
        "hyperparameters", "'beta'.*'b1', 'b2'", "inject_hyperparams",
    ),
    "hyperparameters for other lanes": (
        lambda: run(POINTS, method=INJECTED, hyperparameters={"b1": [0.5, 0.6]}),
        r"hyperparameters\['b1'\]", r"\(2,\)", "or 3",
    ),
    "hyperparameters without names": (
        lambda: run(method=INJECTED, hyperparameters=0.5), "hyperparameters", "0.5", "dictionary",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("use", "argument", "received", "remedy"), WRONG.values(), ids=WRONG)
def test_one_sentence_says_what_to_do(use, argument, received, remedy):
    with pytest.raises(ValueError, match=argument) as caught:
        use()
    message = str(caught.value)
    assert caught.match(received)
    assert caught.match(remedy)
    assert "\n" not in message
    assert ". " not in message.replace("e.g. ", "")
    assert len(message) < 450
    assert re.match(r"[\w.\[\]']+: received .*, .*\bmust .*; .", message), message
    assert type(caught.value) is ValueError
    assert not getattr(caught.value, "__notes__", ())  # JAX adds some to what passes through it
