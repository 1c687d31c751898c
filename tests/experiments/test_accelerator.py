"""How it is known, without JAX, that an accelerator is there; and what it changes.

It looks inside to stand in for the machine's devices and JAX's plug-ins.
"""

import subprocess
import sys
import threading

import equinox as eqx
import jax
import numpy as np
import pytest

from tacit.experiments import _accelerator
from tacit.experiments.connectivity import change, threads
from tacit.reproduction import _run, find_experiment, reproduce


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with a device and a plugin of JAX."""
    device = tmp_path / "device"
    device.touch()
    monkeypatch.setattr(_accelerator, "_DEVICES", (str(device),))
    monkeypatch.setattr(_accelerator, "entry_points", lambda group: ["plugin"])
    for name in ("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    return device


def test_a_device_a_plugin_and_nothing_against_it(machine, monkeypatch):
    ask = _accelerator.accelerated.__wrapped__
    assert ask()
    for name, value in (("JAX_PLATFORMS", "cpu"), ("CUDA_VISIBLE_DEVICES", "")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not ask()
    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    assert ask()
    monkeypatch.setattr(_accelerator, "entry_points", lambda group: [])
    assert not ask()
    monkeypatch.undo()
    machine.unlink()
    monkeypatch.setattr(_accelerator, "_DEVICES", (str(machine),))
    assert not ask()


def test_networks_of_a_task_are_one_batch_on_an_accelerator(monkeypatch):
    experiment = find_experiment("connectivity/fig2").from_preset("paper")
    asker = sys.modules[type(experiment).grid.__module__]
    for there, batches in ((False, 33), (True, 3)):
        monkeypatch.setattr(asker, "accelerated", lambda there=there: there)
        grid = experiment.grid()
        assert grid.batch_count() == batches
        assert len(grid) == sum(len(batch) for batch in grid.batches()) == 264


@pytest.mark.parametrize("there", [False, True])
def test_the_host_uses_its_cores_beside_an_accelerator(monkeypatch, there):
    monkeypatch.setattr(threads, "accelerated", lambda: there)

    def square(number):
        return number**2, threading.current_thread()

    found = threads.in_threads(square, range(40))
    assert [number for number, _ in found] == [number**2 for number in range(40)]
    assert (threading.main_thread() in {thread for _, thread in found}) is not there


def test_matrices_for_threads_are_the_same_on_the_host(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(5, 5))
    assert threads.for_threads(matrix) is matrix
    monkeypatch.setattr(threads, "accelerated", lambda: True)
    given = threads.for_threads(matrix)
    assert isinstance(given, jax.Array)
    assert given.dtype == np.float64  # whatever JAX's settings are
    np.testing.assert_array_equal(given, matrix)
    monkeypatch.setattr(threads.jax, "devices", no_cpu)
    assert threads.for_threads(matrix) is matrix


def no_cpu(name):
    raise RuntimeError(f"unknown backend {name}")


def test_networks_measured_in_threads_are_the_same(monkeypatch, tmp_path):
    def run(name):
        return reproduce("connectivity/fig1", preset="smoke", results=tmp_path / name, seeds=2)

    # What is installed is not compared with its text: these functions would be refused.
    monkeypatch.setattr("tacit.reproduction._fingerprint.own_file", lambda *_: None)
    alone = run("alone").dataset
    for room in (threads, _run):
        monkeypatch.setattr(room, "accelerated", lambda: True)
    beside = run("beside").dataset
    assert set(alone) == set(beside)
    for name in alone:
        if alone[name].dtype.kind in "fc":
            np.testing.assert_allclose(beside[name], alone[name], rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(beside[name], alone[name])


def test_losses_with_other_matrices_are_the_same_on_an_accelerator(monkeypatch):
    experiment = find_experiment("connectivity/fig2").from_preset("smoke")
    task, keys = experiment.problem("flip-flop"), experiment.keys(0)
    model = experiment.start(task, 12, 0.9, keys[0])
    trials = task.sample(keys[2], 8)
    matrices = np.random.default_rng(0).normal(0, 0.3, (3, 12, 12))
    found = []
    for there in (False, True):
        monkeypatch.setattr(change, "accelerated", lambda there=there: there)
        found.append(change.losses(model, matrices, trials))
    one_by_one = [
        float(change.loss(eqx.tree_at(lambda m: m.W, model, W.astype("float32")), trials))
        for W in matrices
    ]
    np.testing.assert_allclose(found, [one_by_one, one_by_one], rtol=1e-5)
    assert len(set(one_by_one)) == 3


def test_it_is_known_without_jax():
    code = (
        "import sys; from tacit.experiments import accelerated; accelerated(); "
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
