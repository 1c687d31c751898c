"""Precision at every public door, in a process with JAX's own defaults.

float64 goes in and float64 comes out; float32 stays float32; no setting changes.
"""

import json
import subprocess
import sys

import pytest

CODE = """
import json, warnings
warnings.simplefilter("error")
import jax, numpy as np, optax
assert not jax.config.jax_enable_x64
import tacit
from tacit import measures, problems
from tacit.descent import (
    GaussNewton, GradientFlow, LevenbergMarquardt, Record, Stop, descend
)
from tacit.models import (
    BY_VECTORS, ConjugatePairs, Dense, Diagonal, LinearRNN, RateRNN, ScaledConv, ScaledLinearRNN,
    Symmetric,
)

seen = {}
def note(name, value):
    for leaf in jax.tree.leaves(value):
        if hasattr(leaf, "dtype") and leaf.dtype.kind in "fc":
            seen.setdefault(name, set()).add(leaf.dtype.name)

DTYPE = np.dtype("@")
key = jax.random.key(0)
# Each kind once, half of them balanced: each is a program to compile.
for kind in (Diagonal, ConjugatePairs, Symmetric, Dense):
    balanced = kind in (Diagonal, Symmetric)
    model = LinearRNN.random(kind, 4, scale=0.3, balanced=balanced, dtype=DTYPE, key=key)
    name = f"{kind.__name__} {balanced}"
    note(name, model)
    note(name, model.impulse_response(6))
    note(name, model.response_jacobian(6))
    note(name, model.simulate(np.ones((5, 1), DTYPE)))
    note(name, model.hankel_singular_values(length=6))
    note(name, model.transition.matrix())
    note(name, model.transition.krylov(model.B, 3))
    problem = problems.PopulationLoss.of(model, 4, longest=6)
    note(name + " loss", problem)
    note(name + " loss", (problem.loss(model), problem.residuals(model), problem.zero_loss()))

# Every method, on one kind of model or the other: each is a program to compile.
adam, flow = optax.adam(1e-3), GradientFlow(rtol=1e-3, atol=1e-5)
implicit = GradientFlow(GaussNewton(), rtol=1e-3, atol=1e-5)
for kind, balanced, methods in (
    (Dense, False, (adam, implicit)), (Diagonal, True, (adam, LevenbergMarquardt(), flow))
):
    start = LinearRNN.random(kind, 4, scale=0.1, balanced=balanced, dtype=DTYPE, key=key)
    problem = problems.PopulationLoss.of(start, 4, longest=6)
    for method in methods:
        result = descend(
            start, problem, method, stop=Stop(3),
            record=Record([0, 2], {"width": lambda m: m.B.sum()}),
        )
        name = f"{kind.__name__} {type(method).__name__}"
        note(name, (result.model, result.best))
        note(name, (result.loss, result.best_loss, result.records))
realised = LinearRNN.from_impulse_response(np.asarray(0.5 ** np.arange(8), DTYPE), 1)
note("realisation", realised)

scaled = ScaledLinearRNN.random(4, nu_w=0.3, dtype=DTYPE, key=key)
conv = ScaledConv.from_impulse_response(np.ones((5, 1, 1), DTYPE), np.arange(1.0, 6.0))
x = np.ones((2, 5, 1), DTYPE)
for name, model in (("ScaledLinearRNN", scaled), ("ScaledConv", conv)):
    note(name, (model, model.impulse_response(5), model.simulate(x[0])))
    problem = problems.SequenceLoss.of(x, x)
    note(name + " loss", (problem, problem.loss(model)))
    note(name + " descent", descend(model, problem, optax.sgd(1e-3), stop=Stop(2)).model)

rate = RateRNN.random(5, inputs=2, outputs=2, g=0.5, parametrisation=BY_VECTORS, dtype=DTYPE,
                      key=key)
task = problems.FlipFlop(duration=8.0)
trials = task.sample(key, 2, dtype=DTYPE)
note("tasks", [t.sample(key, 2, dtype=DTYPE) for t in (
    task, problems.Mante(), problems.Romo(), problems.Simple(), problems.Cosine()
)])
outputs = rate.run(np.asarray(trials.inputs))
note("RateRNN", (rate, rate.input_map, rate.output_map, outputs, trials.loss(outputs)))
result = descend(rate, problems.TaskLoss(task, 2), optax.adam(1e-3), stop=Stop(2), key=key)
note("RateRNN descent", (result.model, result.best, result.loss))

matrix = np.arange(12, dtype=DTYPE).reshape(3, 4) + np.eye(3, 4, dtype=DTYPE)
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
print(json.dumps({name: sorted(kinds) for name, kinds in seen.items()}))
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_door_keeps_the_precision_of_its_input(dtype, environment_in_short):
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("@", dtype)],
        env=environment_in_short,  # dtypes are asked for, not bits
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen) > 20
    for name, kinds in seen.items():
        # Measures on NumPy arrays compute in float64 whatever comes in.
        allowed = ["float64"] if name.startswith("measures.") else [dtype]
        assert kinds == allowed, f"{name}: {kinds}"
