"""Recorded calls of `tacit.descent`."""

import tempfile
from pathlib import Path

import diffrax
import jax
import numpy as np
import optax
from recorded import Fresh, call

from tacit.descent import (
    Averaged,
    FirstBelow,
    GaussNewton,
    GradientFlow,
    HomogeneousClock,
    Lanes,
    Record,
    Stage,
    Stop,
    Warm,
)

KEY = jax.random.key(0)
START = {"w": np.array([1.0, 2.0])}


def bowl(model: dict) -> jax.Array:
    """A quadratic loss."""
    return (model["w"] ** 2).sum()


def size(model: dict) -> jax.Array:
    """A measure."""
    return abs(model["w"]).max()


STOP = Stop(3)
STAGE = Stage("one", bowl, optax.sgd(0.1), STOP)
CALLS = {
    "descend": call(
        "", {"loss_or_problem": "as:loss returns-nan", "rate": "nan inf minus-inf"},
        "a lane that diverges is an outcome",
        
        model=START, loss_or_problem=bowl, method=optax.sgd(0.1), stop=STOP,
        record=Record([0, 2], {"size": size}), key=None, rate=0.5, hyperparameters=None,
        progress=None, title="descent",
    ),
    "descent.run_schedule": call(model=START, stages=[STAGE], progress=None, title="both"),
    "descent.cosine": call(rate=0.1, steps=10),
    "descent.coupled_decay": call(
        name="sgd", rate=0.1, decay=1e-4, momentum=0.9, nesterov=False, second=0.999
    ),
    "descent.keep_programs": call(folder=Fresh(lambda: Path(tempfile.mkdtemp()))),
    "descent.set_progress_place": call(words="batch 1/2"),
    "descent.Checkpoint": call(
        "", {"seconds": "inf"}, "", path=Fresh(lambda: Path(tempfile.mkdtemp()) / "c"), seconds=30.0
    ),
    "descent.Averaged": call(method=optax.sgd(0.1), steps=3),
    "descent.BoundedStep": call(fraction=0.3),
    "descent.Cold": call(
        "", {"model": "text number nan empty"}, "",
        model=START),
    "descent.FirstBelow": call(method=optax.sgd(0.1), fraction=0.1),
    "descent.GradientFlow": call(
        solver=diffrax.Tsit5(), rtol=1e-8, atol=1e-10, until=3.0, clock=HomogeneousClock(2),
        controller=None, first=0.1,
    ),
    "descent.HomogeneousClock": call(degree=2),
    "descent.Lanes": call(tree={"w": np.ones((3, 2))}, axes=()),
    "descent.Lanes.stack": call(items=[START, START]),
    "descent.Lanes.grid": call(
        "", {"make": "as:tree", "a": "text last-text last-huge-integer"}, "",
        make=lambda a: {"w": np.array([1.0 * a])}, a=[1.0, 2.0]),
    "descent.Lanes.take": call(self=Lanes({"w": np.ones((3, 2))}), rows=[0, 2]),
    "descent.LevenbergMarquardt": call(damping=1e-3, smallest=1e-15, largest=1e14),
    "descent.LossFunction": call(
        "", {"function": "returns-text returns-nan"}, "",
        function=bowl),
    "descent.OptaxMethod": call(transformation=optax.sgd(0.1)),
    "descent.Record": call(steps=[0, 2], measures={"size": size}, times=None),
    "descent.Record.every": call(interval=2, until=6),
    "descent.Record.at_times": call(times=[0.0, 1.0], measures={"size": size}),
    "descent.StabilisedRungeKutta": call(most=10, iterations=2, margin=1.2),
    "descent.Stage": call(
        "",
        {
            "problem": "as:loss_or_problem returns-text returns-nan",
            "key": "text number nan empty", "rate": "nan inf minus-inf",
        },
        "a Stop has no bound on the loss unless it is given one",
        name="one", problem=bowl, method=optax.sgd(0.1), stop=STOP, start=Warm(), record=None,
        rate=0.5, key=None, hyperparameters=None,
    ),
    "descent.Stop": call(
        "", {"loss": "inf minus-inf"}, "",
        
        steps=5, loss=1e-6, gradient=1e-6, diverged=1e6, patience=3, progress=1e-3
    ),
    "descent.Unrolled": call(solver=diffrax.Tsit5()),
    "descent.Warm": call(after="one", best=False),
    "descent.lane_keys": call("numbers", stream=1, numbers=(np.array([1, 2]),)),
    "descent.log_spaced_steps": call(last=100, count=5),
    "descent.torch_defaults": call(name="adam"),
}  # fmt: skip
RECORDS = {
    "descent.AbstractClock": "abstract",
    "descent.AbstractMethod": "abstract",
    "descent.Advance": "what a method returns",
    "descent.BoundedCurvature": "a protocol",
    "descent.DescentResult": "what descend returns",
    "descent.Downhill": "what a solver sees",
    "descent.DrawnGradient": "without arguments",
    "descent.FlowState": "the state of a flow",
    "descent.GaussNewton": "without arguments",
    "descent.LeastSquares": "a protocol",
    "descent.Objective": "what a method sees",
    "descent.Outcome": "an enumeration",
    "descent.Problem": "a protocol",
    "descent.ScheduleResult": "what run_schedule returns",
    "descent.Statistics": "part of a DescentResult",
    "descent.Stateful": "a protocol",
    "descent.Stochastic": "a protocol",
}
_ = (Averaged, FirstBelow, GaussNewton, GradientFlow, KEY)
