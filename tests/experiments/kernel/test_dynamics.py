"""kernel/fig1, fig2 and width at their smallest presets, against independent computations."""

import numpy as np
import pytest

from tacit.experiments import UsageError, find_experiment, load_reference, reproduce
from tacit.experiments.kernel._dynamics import _data
from tacit.experiments.kernel._sequences import outputs_of, with_noise


@pytest.fixture(scope="module")
def fig1(tmp_path_factory):
    return reproduce("kernel/fig1", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_models_start_together_and_learn(fig1):
    data = fig1.dataset.isel(width=0)
    assert fig1.outcomes == {"stopped": 2}
    np.testing.assert_allclose(data["gap"].isel(step=0), 0, atol=1e-12)
    train = data["train"]
    first, last = train.isel(step=0), train.isel(step=-1)
    np.testing.assert_allclose(first.max("model"), first.min("model"), rtol=1e-10)
    assert (last < 0.25 * first).all()
    # The network's own kernel predicts it better than the limit does.
    assert float(data["gap"].sel(model="start").isel(step=-1).mean()) < float(
        data["gap"].sel(model="limit").isel(step=-1).mean()
    )


def test_one_student_equals_back_propagation_by_hand(fig1):
    """The RNN of seed 1, its gradients written out sequence by sequence in NumPy."""
    from tacit.experiments.kernel._students import parameters_of, wide_students

    config = fig1.config
    x, y, *_ = _data(1, config)
    n = config.width[0]
    W, F, C = parameters_of(wide_students([0, 1], width=n, nu_w=config.nu_w, salt=1), 1)
    root, epochs = np.sqrt(n), config.epochs[4]
    for _ in range(epochs):
        h, states = np.zeros((len(x), n)), []
        for t in range(config.length):
            h = h @ W.T / root + x[:, t] @ F.T
            states.append(h)
        dW, dF, dC, later = 0 * W, 0 * F, 0 * C, np.zeros((len(x), n))
        for t in reversed(range(config.length)):
            error = 2 * (states[t] @ C.T / root - y[:, t])  # of the squared error without ½
            dC += error.T @ states[t] / root
            later = later @ W / root + error @ C / root
            dF += later.T @ x[:, t]
            if t:
                dW += later.T @ states[t - 1] / root
        W, F, C = W - config.rate * dW, F - config.rate * dF, C - config.rate * dC
    h, outputs = np.zeros((len(x), n)), []
    for t in range(config.length):
        h = h @ W.T / root + x[:, t] @ F.T
        outputs.append(h @ C.T / root)
    expected = np.mean((np.stack(outputs, axis=1) - y) ** 2)
    found = fig1.dataset["train"].sel(model="rnn", seed=1, step=epochs)
    np.testing.assert_allclose(float(found.item()), expected, rtol=1e-9)


def test_fig2_and_width_run(tmp_path):
    for name in ("kernel/fig2", "kernel/width"):
        made = reproduce(name, preset="smoke", results=tmp_path)
        assert made.claims
        assert (tmp_path / name / "figure.png").exists()
        gap = made.dataset["gap"].sel(model="limit").max("step").mean("seed").values
        assert gap[-1] < gap[0]  # wider is nearer


def test_the_noise_has_the_ratio_asked_for():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(200, 50, 1))
    noisy = with_noise(rng, y, decibels=20)
    np.testing.assert_allclose(np.mean(y**2) / np.mean((noisy - y) ** 2), 100, rtol=0.05)


def test_outputs_are_convolutions():
    rng = np.random.default_rng(1)
    L, x = rng.normal(size=(4, 2, 3)), rng.normal(size=(5, 6, 3))
    slow = np.zeros((5, 6, 2))
    for t in range(6):
        for j in range(min(t + 1, 4)):
            slow[:, t] += x[:, t - j] @ L[j].T
    np.testing.assert_allclose(outputs_of(L, x), slow, atol=1e-12)


def test_epochs_must_increase():
    with pytest.raises(UsageError, match="epochs: received"):
        reproduce("kernel/fig1", preset="smoke", epochs=[0, 5, 5])


@pytest.mark.parametrize("name", ["kernel/fig1", "kernel/fig2", "kernel/width"])
def test_the_committed_reference_is_as_expected(name):
    claims = load_reference(find_experiment(name), "quick")
    assert claims is not None
    assert all(claim.as_expected for claim in claims)
