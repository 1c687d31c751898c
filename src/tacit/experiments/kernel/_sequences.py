"""Teachers and noisy sequences of the kernel paper's synthetic experiments, in NumPy."""

import numpy as np


def teacher_response(
    rng: np.random.Generator, *, units: int, inputs: int, nu_w: float, length: int
) -> np.ndarray:
    """The impulse response (length, 1, inputs) of a random RNN in the scaling of (1)."""
    W = rng.normal(0, np.sqrt(nu_w), (units, units)) / np.sqrt(units)
    states = rng.normal(size=(units, inputs))
    C = rng.normal(size=(1, units)) / np.sqrt(units)
    found = []
    for _ in range(length):
        found.append(C @ states)
        states = W @ states
    return np.stack(found)


def outputs_of(response: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The outputs (sequences, time, outputs) of a response for x (sequences, time, inputs)."""
    time = x.shape[1]
    y = np.zeros((*x.shape[:2], response.shape[1]))
    for j in range(min(time, len(response))):
        y[:, j:] += x[:, : time - j] @ response[j].T
    return y


def with_noise(rng: np.random.Generator, y: np.ndarray, *, decibels: float) -> np.ndarray:
    """The outputs with white noise at a signal-to-noise ratio."""
    power = np.mean(y**2) * 10 ** (-decibels / 10)
    return y + np.sqrt(power) * rng.normal(size=y.shape)
