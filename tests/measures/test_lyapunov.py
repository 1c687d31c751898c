"""The largest Lyapunov exponent against eigenvalues, and against two trajectories."""

import numpy as np
import pytest

from tacit.measures import largest_lyapunov_exponent


def connectivity(size, g, seed=0):
    return g * np.random.default_rng(seed).standard_normal((size, size)) / np.sqrt(size)


def test_at_a_stable_origin_it_is_the_leading_eigenvalue():
    W = connectivity(40, 0.5)
    W = (W + W.T) / 2  # so that the leading eigenvalue is real
    for dt in (0.1, 0.5):
        leading = np.log(np.abs(1 - dt + dt * np.linalg.eigvalsh(W)).max()) / dt
        found = largest_lyapunov_exponent(W, dt=dt, time=2000.0, warm_up=300.0)
        assert found == pytest.approx(leading, rel=1e-3)


def test_without_connectivity_a_step_forgets_its_share():
    assert largest_lyapunov_exponent(np.zeros((3, 3)), dt=0.5) == pytest.approx(np.log(0.5) / 0.5)
    assert largest_lyapunov_exponent(np.zeros((3, 3)), dt=1.0) == -np.inf


def test_a_chaotic_network_parts_two_trajectories_as_fast():
    W, dt = connectivity(200, 3.0), 0.5
    x = np.random.default_rng(1).standard_normal(200)
    for _ in range(400):
        x = (1 - dt) * x + dt * W @ np.tanh(x)
    rates = []
    for trial in range(20):
        nudge = np.random.default_rng(trial).standard_normal(200)
        y = x + 1e-9 * nudge / np.linalg.norm(nudge)
        distances = []
        for _ in range(160):
            x, y = ((1 - dt) * z + dt * W @ np.tanh(z) for z in (x, y))
            distances.append(np.linalg.norm(x - y))
        rates.append(np.log(distances[-1] / distances[79]) / (80 * dt))
    found = largest_lyapunov_exponent(W, dt=dt, time=1000.0)
    assert found > 0.1
    assert found == pytest.approx(np.mean(rates), abs=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"W": np.ones((2, 3))}, "W: received the shape"),
        ({"W": np.zeros((0, 0))}, "W: received the shape"),
        ({"dt": 0.0}, "dt: received 0.0"),
        ({"time": 0.1}, "time: received 0.1"),
        ({"time": np.nan}, "time: received nan"),
        ({"warm_up": -1.0}, "warm_up: received -1.0"),
    ],
)
def test_wrong_input_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        largest_lyapunov_exponent(**{"W": np.eye(2), **options})
