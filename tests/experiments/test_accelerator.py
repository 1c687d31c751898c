"""How it is known, without JAX, that an accelerator is there; and what it changes.

It looks inside to stand in for the machine's devices and JAX's plug-ins.
"""

import subprocess
import sys

import pytest

from tacit.experiments import _accelerator
from tacit.reproduction import find_experiment


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


def test_it_is_known_without_jax():
    code = (
        "import sys; from tacit.experiments import accelerated; accelerated(); "
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
