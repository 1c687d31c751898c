"""kernel/fig4 and table1: on a made-up recording always, on the real one where it is at hand."""

import os

import numpy as np
import pytest

from tacit.data import M1_FLINT, Recording
from tacit.experiments import Batch, UsageError
from tacit.experiments.kernel.table1 import Table1
from tacit.reproduction import reproduce


@pytest.fixture
def without_data(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)


@pytest.mark.parametrize("name", ["kernel/fig4", "kernel/table1"])
def test_without_the_data_there_is_one_sentence(name, without_data, tmp_path):
    with pytest.raises(UsageError, match=f"{name}: the data set m1_flint_run1 is not at hand"):
        reproduce(name, preset="smoke", results=tmp_path)
    assert not list(tmp_path.iterdir())  # nothing was begun


class MadeUp(Table1):
    """The experiment on a recording of which both directions are filters of the activity."""

    def recording(self):
        rng = np.random.default_rng(0)
        activity = rng.normal(size=(3000, 3))
        velocity = np.stack([activity[:, 0], np.roll(activity[:, 1], 1)], axis=1)
        return Recording(activity, 5 + 2 * velocity + 0.2 * rng.normal(size=(3000, 2)), 0.1)


def test_three_models_decode_a_made_up_recording():
    made_up = MadeUp.from_preset("smoke", steps=[0, 40], batch=32, rate=1e-3, length=5)
    cells = tuple({"portion": "whole", "seed": seed} for seed in (0, 1))
    found = made_up.cell(Batch(0, cells))
    assert found["r2"].shape == (2, 3, 2, 2)
    # All three begin at one response, and learn both directions but for the noise and the edge.
    np.testing.assert_allclose(found["r2"][:, 1:, 0], found["r2"][:, :1, 0].repeat(2, 1), rtol=1e-9)
    assert (found["r2"][:, :, 1] > 0.7).all()
    assert list(found["train_sequences"]) == [480, 480]
    assert list(found["outcome"]) == ["stopped", "stopped"]


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_smoke_on_the_recording(tmp_path):
    if (sentence := M1_FLINT.missing()) is not None:
        pytest.skip(sentence)
    made = reproduce("kernel/table1", preset="smoke", results=tmp_path)
    assert "paper" in made.claims[0].statement
    assert "ordering" in made.figure().caption
    scores = made.dataset["r2"].sel(model="scaled")
    # Thirty steps, from worse than a constant to better than one, in both directions.
    assert float(scores.isel(step=0).max()) < 0 < float(scores.isel(step=-1).min())
    assert (made.path / "figure.png").exists()
