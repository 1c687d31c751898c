"""The function that a sweep calls: what it keeps from one experiment to the next in a worker."""

import jax
import pytest

from tacit.experiments import Batch
from tacit.reproduction import _cell
from tacit.reproduction._cell import ExperimentCell


@pytest.fixture
def freed(monkeypatch):
    """How often compiled programs were let go."""
    found = []
    monkeypatch.setattr(jax, "clear_caches", lambda: found.append(True))
    monkeypatch.setattr(_cell, "_at_work", [])
    return found


def test_a_worker_forgets_the_programs_of_another_experiment(toy, freed):
    other = toy.with_name("other.py")
    other.write_text(toy.read_text().replace("toy/die", "toy/other"))

    def compute(place):
        cell = {"throws": 10, "kind": "fair", "seed": 0}
        values = {"sides": 6, "loaded": 0.0, "exact": True, "horizons": (0.5, 1.0)}
        made = ExperimentCell(place, 1, values)(Batch(0, (cell,)), values)
        assert list(made["outcome"]) == ["converged"]

    compute(str(toy))
    compute(str(toy))
    assert freed == []
    compute(str(other))
    assert len(freed) == 1
    compute(str(other))
    assert len(freed) == 1
