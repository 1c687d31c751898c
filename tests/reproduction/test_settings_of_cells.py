"""Cells that go on after a kill, and the precision that they are computed in."""

import json
import subprocess
import sys

import numpy as np
import pytest

TOY = """
import jax
import jax.numpy as jnp
import optax
from tacit.descent import Checkpoint, Stop, descend
from tacit.experiments import Experiment, Variable, swept
HEAD
TARGET = 1.0

class Toy(Experiment):
    '''A toy.'''
    id, figure = "mine/toy", "ours"
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    presets = {"smoke": {}, "quick": {}}

    def variables(self):
        return {"value": Variable("value")}

    def cell(self, batch):
        found = []
        for seed in batch.column("seed"):
            start = jax.random.normal(jax.random.key(int(seed)), (3,))
            result = descend(
                start, lambda w: jnp.sum((w - TARGET) ** 2), optax.sgd(0.01), stop=Stop(20),
                checkpoint=Checkpoint(batch.scratch / f"{seed}.run", seconds=0),
            )
            found.append(float(result.model[0]))
        return {"value": found}
"""
RUN = """
import json, sys
from tacit.reproduction import reproduce
made = reproduce(sys.argv[1], preset="smoke", results=sys.argv[2])
print(json.dumps([made.dataset["value"].values.tolist(), list(made.warnings)]))
"""
KILLED = """
import os
from tacit.descent import _loop, _plan
_plan.FIRST, plain, calls = 8, _loop.run_segment, []
def some(*args):
    calls.append(1)
    if len(calls) > 1:
        os.kill(os.getpid(), 9)
    return plain(*args)
_loop.run_segment = some
"""
NOTED = """
from tacit.descent import _loop
plain = _loop.run_segment
def noted(kind, fixed, lanes, clock):
    print("clock", int(clock))
    return plain(kind, fixed, lanes, clock)
_loop.run_segment = noted
"""


@pytest.fixture
def run(tmp_path, environment_in_short):
    """Run the experiment with a text in a process of its own; its values and warnings."""

    def run(head="", *, results="results", before="", target="1.0", killed=False, **environment):
        file = tmp_path / "toy.py"
        file.write_text(TOY.replace("HEAD", head).replace("TARGET = 1.0", f"TARGET = {target}"))
        done = subprocess.run(
            [sys.executable, "-B", "-c", before + RUN, str(file), str(tmp_path / results)],
            env={**environment_in_short, **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode == -9) == killed, done.stderr
        lines = done.stdout.splitlines()
        clocks = [int(line.split()[1]) for line in lines if line.startswith("clock")]
        return (None, None, clocks) if killed else (*json.loads(lines[-1]), clocks)

    return run


def test_a_killed_cell_goes_on_in_a_new_process_and_not_with_other_code(run, tmp_path):
    run(before=KILLED, killed=True)
    assert len(list((tmp_path / "results").rglob("*.run"))) == 1
    values, _, clocks = run(before=NOTED)
    assert clocks[0] == 8  # not from the start
    assert values == run(results="whole")[0]
    run(before=KILLED, killed=True, results="edited")
    values, _, clocks = run(before=NOTED, results="edited", target="3.0")
    assert clocks[0] == 0
    assert values == run(results="fresh", target="3.0")[0]
    assert not list(tmp_path.rglob("*.run"))


def test_what_is_set_in_the_process_does_not_choose_the_precision_and_the_file_does(run):
    plain, warnings, _ = run()
    assert warnings == []
    other = {"JAX_ENABLE_X64": "1", "JAX_DEFAULT_MATMUL_PRECISION": "float32"}
    held, warnings, _ = run(results="held", **other)
    assert held == plain
    assert "JAX_ENABLE_X64 is set, and its cells are computed without" in warnings[0]
    double, warnings, _ = run('jax.config.update("jax_enable_x64", True)', results="double")
    assert warnings == []
    assert not np.isclose(double, plain).all()  # other draws
    assert np.float32(double).tolist() != double
    assert np.float32(plain).tolist() == plain
