"""figs5: one vector for input and output, the eigenvalue of the cosine, the smallest preset."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from tacit.experiments import reproduce
from tacit.experiments.connectivity.figs5 import DT, PAPER_EPOCHS, FigS5
from tacit.models import RateRNN, identity
from tacit.problems import Cosine


def test_input_and_output_are_one_vector_of_norm_one():
    model = FigS5(width=30).network(0.5, 3)
    m, w = np.asarray(model.inputs[:, 0]) / np.sqrt(30), np.asarray(model.outputs[0]) * np.sqrt(30)
    np.testing.assert_allclose(m, w, rtol=1e-5)
    assert np.linalg.norm(m) == pytest.approx(1, rel=1e-5)


def test_the_marginal_pair_is_the_cosine():
    """A rotation with that eigenvalue, from the kick on, is the target exactly."""
    value = FigS5(frequency=0.2).marginal
    assert abs(1 + DT * (value - 1)) == pytest.approx(1, abs=1e-12)
    turn = np.array([[value.real, -value.imag], [value.imag, value.real]])
    model = RateRNN(turn, np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]), dt=DT,
                    nonlinearity=identity)  # fmt: skip
    trials = Cosine().sample(jax.random.key(0), 1, dtype=np.float64)
    outputs = np.asarray(model.run(np.asarray(trials.inputs)))
    np.testing.assert_allclose(outputs, np.asarray(trials.targets), atol=1e-9)


def test_without_connectivity_the_gradient_has_one_direction():
    model = FigS5(width=12).network(0.0, 1)
    trials = Cosine(duration=5.0).sample(jax.random.key(0), 1)
    slope = jax.jit(jax.grad(lambda m: trials.loss(m.run(trials.inputs))))(model).W
    w = np.asarray(model.outputs[0], np.float64)
    along = np.outer(w, w) / (w @ w)
    size = float(jnp.sum(slope * along))
    np.testing.assert_allclose(slope, size * along, atol=1e-5 * abs(size))


def test_smoke(tmp_path):
    run = reproduce("connectivity/figs5", preset="smoke", results=tmp_path)
    data = run.dataset.sel(slower=1.0)
    np.testing.assert_allclose(data["loss"].isel(step=0), 1.0)
    assert np.all(data["loss"].isel(step=-1).values < 1)
    assert np.abs(data["leading"].sel(g=0.0).values.imag).max() < 1e-3
    assert np.abs(data["leading"].sel(g=0.8).values.imag).min() > 0.1
    assert (run.path / "figure.png").stat().st_size > 10_000


def test_late_and_early_learning_are_two_claims():
    """A network that learns after the paper's last epoch has learned, but not by then."""
    figs5 = FigS5(g=0.8, slower=1.0, seed=range(10))
    epochs = figs5.stored_epochs
    assert PAPER_EPOCHS in epochs
    late = np.where(epochs <= 1500, 0.9, 0.01)
    value = figs5.marginal
    data = xarray.Dataset(
        {
            "outcome": ("seed", ["converged"] * 10),
            "loss": (("seed", "step"), np.tile(late, (10, 1))),
            "leading": (("seed", "step"), np.full((10, epochs.size), value)),
        },
        coords={"step": epochs, "seed": list(figs5.seed)},
    ).expand_dims({"g": [0.8], "slower": [1.0]})
    verdicts = {claim.name: claim.verdict for claim in figs5.claims(data)}
    assert verdicts == {
        "g = 0.8, the paper's rates: learned": "holds",
        "g = 0.8, the paper's rates: eigenvalue": "holds",
        "g = 0.8, the paper's rates: by epoch 1000": "fails",
    }


def test_losses_that_oscillate_end_at_their_median():
    losses = np.array(
        [[1.0, 0.9, 0.01, 0.9, 0.9, 0.9, 0.01], [1.0, 0.9, 0.01, 0.9, 0.01, 0.01, 0.01]]
    )
    assert [FigS5(fraction=0.05).learned(each) for each in losses] == [False, True]
