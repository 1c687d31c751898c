"""Precision at every public door, under JAX's own settings.

float64 goes in and float64 comes out; float32 stays float32; no setting changes. What a linear RNN
computes is tested beside the models.
"""

import jax
import numpy as np
import optax
import pytest

from tacit import measures, problems
from tacit.descent import GaussNewton, GradientFlow, LevenbergMarquardt, Record, Stop, descend
from tacit.models import (
    BY_VECTORS,
    Dense,
    Diagonal,
    LinearRNN,
    RateRNN,
    ScaledConv,
    ScaledLinearRNN,
)


@pytest.mark.parametrize("dtype", [np.dtype("float64"), np.dtype("float32")], ids=str)
def test_every_door_keeps_the_precision_of_its_input(dtype):
    assert not jax.config.jax_enable_x64
    seen = {}

    def note(name, value):
        for leaf in jax.tree.leaves(value):
            if hasattr(leaf, "dtype") and leaf.dtype.kind in "fc":
                seen.setdefault(name, set()).add(leaf.dtype.name)

    key = jax.random.key(0)
    target = LinearRNN.random(Dense, 4, scale=0.3, dtype=dtype, key=key)
    problem = problems.PopulationLoss.of(target, 4, longest=6)
    note("loss", (problem, problem.loss(target), problem.residuals(target), problem.zero_loss()))

    # Every method, on one kind of model or the other: each is a program to compile.
    adam, flow = optax.adam(1e-3), GradientFlow(rtol=1e-3, atol=1e-5)
    implicit = GradientFlow(GaussNewton(), rtol=1e-3, atol=1e-5)
    for kind, balanced, methods in (
        (Dense, False, (adam, implicit)),
        (Diagonal, True, (adam, LevenbergMarquardt(), flow)),
    ):
        start = LinearRNN.random(kind, 4, scale=0.1, balanced=balanced, dtype=dtype, key=key)
        problem = problems.PopulationLoss.of(start, 4, longest=6)
        for method in methods:
            result = descend(
                start,
                problem,
                method,
                stop=Stop(3),
                record=Record([0, 2], {"width": lambda m: m.B.sum()}),
            )
            name = f"{kind.__name__} {type(method).__name__}"
            note(name, (result.model, result.best))
            note(name, (result.loss, result.best_loss, result.records))
    scaled = ScaledLinearRNN.random(4, nu_w=0.3, dtype=dtype, key=key)
    conv = ScaledConv.from_impulse_response(np.ones((5, 1, 1), dtype), np.arange(1.0, 6.0))
    x = np.ones((2, 5, 1), dtype)
    for name, model in (("ScaledLinearRNN", scaled), ("ScaledConv", conv)):
        note(name, (model, model.impulse_response(5), model.simulate(x[0])))
        problem = problems.SequenceLoss.of(x, x)
        note(name + " loss", (problem, problem.loss(model)))
        note(name + " descent", descend(model, problem, optax.sgd(1e-3), stop=Stop(2)).model)

    rate = RateRNN.random(
        5, inputs=2, outputs=2, g=0.5, parametrisation=BY_VECTORS, dtype=dtype, key=key
    )
    task = problems.FlipFlop(duration=8.0)
    trials = task.sample(key, 2, dtype=dtype)
    note(
        "tasks",
        [
            t.sample(key, 2, dtype=dtype)
            for t in (task, problems.Mante(), problems.Romo(), problems.Simple(), problems.Cosine())
        ],
    )
    outputs = rate.run(np.asarray(trials.inputs))
    note("RateRNN", (rate, rate.input_map, rate.output_map, outputs, trials.loss(outputs)))
    result = descend(rate, problems.TaskLoss(task, 2), optax.adam(1e-3), stop=Stop(2), key=key)
    note("RateRNN descent", (result.model, result.best, result.loss))

    matrix = np.arange(12, dtype=dtype).reshape(3, 4) + np.eye(3, 4, dtype=dtype)
    rows = {
        "effective_rank": measures.effective_rank(matrix),
        "effective_rank_squared": measures.effective_rank_squared(matrix),
        "stable_rank": measures.stable_rank(matrix),
        "hankel": measures.hankel(matrix[0]),
        "extrapolation_error": measures.extrapolation_error(matrix[0], matrix[1], start=1),
        "balancedness": measures.balancedness(matrix[:, :1], matrix[:, :1].T),
        "change_singular_values": measures.change_singular_values(matrix, 2 * matrix),
        "truncated": measures.truncated(matrix, 1),
        "with_truncated_change": measures.with_truncated_change(matrix, 2 * matrix, 1),
    }
    for name, value in rows.items():
        seen["measures." + name] = {np.asarray(value).dtype.name}
    assert not jax.config.jax_enable_x64
    assert len(seen) > 20
    for name, kinds in seen.items():
        # Measures on NumPy arrays compute in float64 whatever comes in.
        allowed = {"float64"} if name.startswith("measures.") else {dtype.name}
        assert kinds == allowed, f"{name}: {kinds}"
