"""A small LSTM that is trained here: its change is low-rank, and is stored small; and memory."""

import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.checkpoints import (
    MeasuredLoss,
    ModelStart,
    NormTolerance,
    compress,
    inspect,
    open_checkpoint,
    restore,
)
from tacit.descent import Stop, descend
from tacit.models import StackedLSTM

ARGUMENTS = {"width": 24, "layers": 1, "inputs": 3}


def named(model):
    return {
        "lstm.weight_ih_l0": np.asarray(model.input_weights[0]),
        "lstm.weight_hh_l0": np.asarray(model.recurrent_weights[0]),
        "lstm.bias_l0": np.asarray(model.biases[0]),
        "out.weight": np.asarray(model.readout),
        "out.bias": np.asarray(model.readout_bias),
    }


def model_of(found):
    keys = "lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_l0"
    parts = ([found[key]] for key in keys)
    return StackedLSTM(*parts, found["out.weight"], found["out.bias"])


@pytest.fixture(scope="module")
def trained():
    """Before and after, and the loss: the sum of the first inputs of ten steps."""
    inputs = jax.random.normal(jax.random.key(1), (64, 10, 3))
    target, lengths = inputs[:, :, 0].sum(axis=1), jnp.full(64, 10)

    def loss(model):
        return jnp.mean((model.outputs_after(inputs, lengths)[:, 0] - target) ** 2)

    start = StackedLSTM.random(**ARGUMENTS, key=jax.random.key(0))
    result = descend(start, loss, optax.adam(0.02), stop=Stop(150))
    assert float(loss(result.model)) < 0.1 * float(loss(start))
    return named(start), named(result.model), jax.jit(loss)


def test_an_lstm_there_and_back(trained, tmp_path):
    before, after, loss = trained
    found = inspect(before, after).by_name["lstm.weight_hh_l0"]
    assert len(found.gates) == 4
    assert found.spectrum.stable_rank < 6  # of 24

    def measured(path):
        with open_checkpoint(path) as weights:
            return float(loss(model_of({n: weights.tensor(n) for n in weights.specs})))

    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    start = ModelStart("StackedLSTM", 0, (), ARGUMENTS)
    made = compress(before, after, small, NormTolerance(0.25), start=start)
    assert restore(small, back).differs == ()
    assert made.worst <= 0.25
    by_loss = compress(
        before, after, small, MeasuredLoss(measured, 0.5, 30), start=start, force=True
    )
    restore(small, back, force=True)
    reference = float(loss(model_of(after)))
    assert measured(back) == pytest.approx(by_loss.choice.loss, rel=1e-6)
    assert measured(back) <= 1.5 * reference
    assert by_loss.choice.evaluations <= 30


def test_memory_is_that_of_a_few_tensors(tmp_path):
    """Three times the largest tensor, and what blocks and narrow matrices take."""
    rng = np.random.default_rng(0)
    before = {f"{n}.weight": rng.standard_normal((1500, 1200), np.float32) for n in range(3)}
    left, right = rng.standard_normal((1500, 4), np.float32), rng.standard_normal((4, 1200))
    change = left @ right.astype(np.float32)
    after = {name: array + change for name, array in before.items()}
    largest = change.nbytes
    tracemalloc.start()
    inspect(before, after)
    made = compress(before, after, tmp_path / "s.safetensors", NormTolerance(0.01))
    restore(made.path, tmp_path / "back.safetensors", before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.rank for one in made.tensors.values()] == [4, 4, 4]
    assert peak < 3 * largest + (48 << 20)
