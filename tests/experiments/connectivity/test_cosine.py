"""figs5: one vector for input and output, the eigenvalue of the cosine, the smallest preset."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from tacit.experiments.connectivity.figs5 import DT, PAPER_EPOCHS, FigS5
from tacit.models import RateRNN, identity
from tacit.problems import Cosine
from tacit.reproduction import reproduce


def test_input_and_output_are_one_vector_of_norm_one():
    model = FigS5(width=30).network(0.5, 3)
    m, w = np.asarray(model.inputs[:, 0]) / np.sqrt(30), np.asarray(model.outputs[0]) * np.sqrt(30)
    np.testing.assert_allclose(m, w, rtol=1e-5)
    assert np.linalg.norm(m) == pytest.approx(1, rel=1e-5)


def test_the_marginal_pair_is_the_cosine():
    """A rotation with that eigenvalue, from the kick on, is the target exactly."""
    value = FigS5(frequency=0.2).theory.marginal
    assert abs(1 + DT * (value - 1)) == pytest.approx(1, abs=1e-12)
    turn = np.array([[value.real, -value.imag], [value.imag, value.real]])
    model = RateRNN(turn, np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]), dt=DT,
                    nonlinearity=identity)  # fmt: skip
    trials = Cosine().sample(jax.random.key(0), 1, dtype=np.float64)
    outputs = np.asarray(model.run(np.asarray(trials.inputs)))
    np.testing.assert_allclose(outputs, np.asarray(trials.targets), atol=1e-9)


def test_steps_without_loss_do_not_change_the_gradient():
    figs5 = FigS5(width=12)
    model = figs5.network(0.5, 1)

    def slope(task):
        trials = task.sample(jax.random.key(0), 1)
        return jax.grad(lambda m: trials.loss(m.run(trials.inputs)))(model).W

    short, whole = slope(figs5.task(10.0)), slope(figs5.task())
    assert np.abs(whole).max() > 1e-4
    np.testing.assert_allclose(short, whole, atol=1e-6 * float(jnp.abs(whole).max()))


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
    data = run.dataset
    np.testing.assert_allclose(data["loss"].isel(step=0), 1.0)
    assert np.all(data["loss"].isel(step=-1).values < 1)
    assert np.abs(data["leading"].sel(g=0.0).values.imag).max() < 1e-3
    assert np.abs(data["leading"].sel(g=0.8).values.imag).min() > 0.1
    assert np.all(data["stable_rate"].values > 0)
    assert (run.path / "figure.png").stat().st_size > 10_000
    paper = run.paper_figure()
    assert len(paper.panels) == 4
    labels = [mark.label for mark in paper.panels[1].marks]
    assert not any(label and "of" in label for label in labels)  # one network: nothing to count


def stored(needed, figs5):
    """Ten networks with g = 0.8 that learned after so many epochs."""
    epochs, count = figs5.stored_epochs, len(figs5.seed)
    value = figs5.theory.marginal
    return xarray.Dataset(
        {
            "outcome": ("seed", ["converged"] * count),
            "loss": (("seed", "step"), np.full((count, epochs.size), 0.01)),
            "epochs_needed": ("seed", np.full(count, float(needed))),
            "leading": (("seed", "step"), np.full((count, epochs.size), 1.001 * value)),
            "stable_rate": ("seed", np.full(count, 0.2)),
        },
        coords={"step": epochs, "seed": list(figs5.seed)},
    ).expand_dims({"g": [0.8]})


def test_learning_after_the_papers_epochs_is_not_as_published():
    figs5 = FigS5(g=0.8)
    assert PAPER_EPOCHS in figs5.stored_epochs
    soon, late = (
        {claim.name: claim.verdict for claim in figs5.claims(stored(needed, figs5))}
        for needed in (420, 1500)
    )
    assert set(soon.values()) == {"holds"}
    assert late["g = 0.8: learned"] == "fails"
    assert late["g = 0.8: when"] == "fails"


def test_the_papers_claims_are_silent_away_from_its_setting():
    for other in ({"periods": 4.0}, {"slower": 3.0}, {"fraction": 0.01}):
        figs5 = FigS5(g=0.8, **other)
        places = {claim.place for claim in figs5.claims(stored(420, figs5))}
        assert places == {"ours"}
    small = FigS5(g=0.8, width=64)
    assert "g = 0.8: when" not in {claim.name for claim in small.claims(stored(420, small))}
