"""Whose a checkpoint is: the same program in every process, and no other."""

import json
import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Checkpoint, Stop, descend
from tacit.descent import _loop as loop
from tacit.descent import _plan as plan
from tacit.descent._by_value import value_key
from tacit.descent._owner import owner_of

FILE = """
import functools
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tacit.descent import Checkpoint, Lanes, Record, Stop, descend
from tacit.descent import _descend

TARGET = TARGET_VALUE
KINDS = {"a", "b", "c"}
owners, leave = [], False
def noted(checkpoint, *rest, made=_descend.keeper_of):
    keeper = made(checkpoint, *rest)
    owners.append(keeper.owner)
    if leave:
        raise KeyError
    return keeper
_descend.keeper_of = noted

class Net(eqx.Module):
    w: jax.Array
    act: object = eqx.field(static=True, default=jax.nn.tanh)

@jax.jit
def squared(x):
    return x**2

def loss(net):
    return jnp.sum(squared(net.act(net.w) - TARGET)) * len(KINDS)

class Scaled:
    __slots__ = ("by",)
    def __init__(self, by):
        self.by = by
    def __call__(self, net):
        return self.by * loss(net)

def run(path, loss=loss, method=None, steps=3):
    descend(Net(jnp.ones(3)), loss, method or optax.adam(1e-2), stop=Stop(steps),
            checkpoint=Checkpoint(path, seconds=1e9), record=Record([0], {"w": lambda n: n.w}))
"""
MAIN = """
import dataclasses, json, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("error")
import program
from program import jax, optax
chained = optax.chain(optax.clip(1.0), optax.sgd(0.1, momentum=0.9))
path = sys.argv[1] + "/run.npz"
for method in (optax.sgd(0.1), optax.adam(1e-3), optax.adam(1e-2), chained):
    program.run(path, method=method)
program.run(path, loss=program.functools.partial(jax.jit(lambda k, n: k * program.loss(n)), 2.0))
program.run(path, loss=program.Scaled(2.0))
from tacit.reproduction import find_experiment
kind = find_experiment("depth/fig18-29")
one = kind.from_preset("smoke")
batch = next(iter(one.grid().batches()))
own = {name: batch.values(name) for name in batch.cells[0]}
program.leave = True
try:
    made = kind.for_batch({**one.axes(), **one.constants(), **own})
    made.cell(dataclasses.replace(batch, scratch=Path(sys.argv[1])))
except KeyError:
    pass
print(json.dumps(program.owners))
"""


def owners(folder, seed, target="2.0"):
    (folder / "program.py").write_text(FILE.replace("TARGET_VALUE", target))
    done = subprocess.run(
        [sys.executable, "-B", "-c", MAIN, str(folder)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_program_has_one_owner_in_every_process_and_another_program_another(tmp_path):
    first, other = owners(tmp_path, "1"), owners(tmp_path, "2")
    assert first == other
    assert len(set(first)) == 7  # none was passed over, and the last is of depth/fig18-29
    changed = owners(tmp_path, "1", "3.0")
    assert not set(first[:-1]) & set(changed[:-1])
    assert first[-1] == changed[-1]


def trained(path, loss, method=None, steps=20, start=0.0, **options):
    return float(
        descend(
            jnp.full(1, start), loss, method or optax.sgd(0.01), stop=Stop(steps),
            checkpoint=path if path is None else Checkpoint(path, seconds=0), **options,
        ).model[0]
    )  # fmt: skip


class Fit(eqx.Module):
    targets: jax.Array

    def loss(self, model):
        return jnp.sum((model - self.targets) ** 2)


def loss_with(target):
    return lambda w: jnp.sum((w - target) ** 2)


class KilledError(Exception):
    """As if the process had ended there."""


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """A checkpoint of a descent that was killed on its way."""
    monkeypatch.setattr(plan, "FIRST", 8)
    count, segment = 0, loop.run_segment

    def some(*args):
        nonlocal count
        count += 1
        if count > 1:
            raise KilledError
        return segment(*args)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "run_segment", some)
        with pytest.raises(ValueError, match="KilledError"):
            trained(tmp_path / "run", loss_with(1.0))
    assert (tmp_path / "run").exists()
    clocks = []

    def noted(kind, fixed, lanes, clock):
        clocks.append(int(clock))
        return segment(kind, fixed, lanes, clock)

    monkeypatch.setattr(loop, "run_segment", noted)
    return tmp_path / "run", clocks


def test_the_same_descent_goes_on(killed):
    path, clocks = killed
    assert trained(path, loss_with(1.0)) == trained(None, loss_with(1.0))
    assert clocks[0] == 8


@pytest.mark.parametrize(
    "other",
    [
        {"loss": loss_with(3.0)},
        {"loss": lambda w: jnp.sum((w - 1.0) ** 4)},
        {"loss": lambda w: jnp.sum((w + 1.0) ** 2)},
        {"method": optax.sgd(0.02)},
        {"method": optax.adam(0.01)},
        {"loss": Fit(jnp.ones(1))},
        {"steps": 21},
        {"start": 0.5},
        {"rate": 2.0},
    ],
    ids=["target", "constant", "code", "rate", "method", "problem", "steps", "start", "factor"],
)
def test_another_descent_begins_anew(killed, other):
    path, clocks = killed
    other = {"loss": loss_with(1.0), **other}
    assert trained(path, **other) == trained(None, **other)
    assert clocks[0] == 0


def test_code_is_told_by_its_constants_and_by_what_it_does_with_them():
    functions = [lambda w: w * 2.0, lambda w: w * 3.0, lambda w: w + 2.0]
    assert len({owner_of(value_key(function), ()) for function in functions}) == 3
    again = [lambda w: w * 2.0, lambda w: w * 2.0]
    assert len({owner_of(value_key(function), ()) for function in again}) == 1


def test_so_does_one_with_other_data_and_one_in_another_precision(killed):
    path, clocks = killed
    for targets in (jnp.ones(1), 3 * jnp.ones(1)):
        assert trained(path, Fit(targets)) == trained(None, Fit(targets))
    trained(path, loss_with(1.0))
    with jax.default_matmul_precision("float32"):
        trained(path, loss_with(1.0))
    with jax.enable_x64(True):
        trained(path, loss_with(1.0))
    assert clocks[0] == 0
    assert clocks.count(0) == 7


def test_what_has_no_owner_says_so_and_begins_anew(tmp_path):
    table = np.array([object()])
    with pytest.warns(UserWarning, match="checkpoint: .* begins anew"):
        trained(tmp_path / "run", lambda w: jnp.sum(w**2) * len(table))
