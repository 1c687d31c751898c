"""kernel/fig1, fig2 and width at their smallest presets, against independent computations."""

import numpy as np
import pytest

from tacit.experiments import UsageError
from tacit.reproduction import reproduce


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
    experiment = fig1.experiment
    x, y, *_ = experiment.data(1)
    n, rate = experiment.width[0], experiment.rate
    student = experiment.students(np.array([0, 1]), n, nu_w=experiment.nu_w, salt=1)[1]
    W, F, C = (np.asarray(part) for part in (student.W, student.F, student.C))
    root, epochs = np.sqrt(n), experiment.epochs[4]
    for _ in range(epochs):
        h, states = np.zeros((len(x), n)), []
        for t in range(experiment.length):
            h = h @ W.T / root + x[:, t] @ F.T
            states.append(h)
        dW, dF, dC, later = 0 * W, 0 * F, 0 * C, np.zeros((len(x), n))
        for t in reversed(range(experiment.length)):
            error = 2 * (states[t] @ C.T / root - y[:, t])  # of the squared error without ½
            dC += error.T @ states[t] / root
            later = later @ W / root + error @ C / root
            dF += later.T @ x[:, t]
            if t:
                dW += later.T @ states[t - 1] / root
        W, F, C = W - rate * dW, F - rate * dF, C - rate * dC
    h, outputs = np.zeros((len(x), n)), []
    for t in range(experiment.length):
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


def test_epochs_must_increase():
    with pytest.raises(UsageError, match="epochs: received"):
        reproduce("kernel/fig1", preset="smoke", epochs=[0, 5, 5])
