"""Records of simulated systems, each with a defect that measured ones have.

A system is drawn, excited and spoilt by one seed, so that fresh draws are had by another one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

Floats = np.ndarray


class Record(NamedTuple):
    """Inputs (time, inputs) and outputs (time, outputs)."""

    U: Floats
    Y: Floats


def coloured_noise(rng: np.random.Generator) -> Record:
    """White input, noise of 10 dB that lasts for 20 samples."""
    U = rng.normal(size=(1000, 1))
    clean = _filtered(_pairs(rng, 1, (0.7, 0.9)), U[:, 0], rng)
    return _spoilt(U, clean, 10, _lasting(rng, 1000, 0.95))


def feedback(rng: np.random.Generator) -> Record:
    """A slow system under proportional control; the set point moves, the output is disturbed."""
    length, pole, gain = 1500, rng.uniform(0.9, 0.97), rng.uniform(1, 3)
    target = held(rng, length, 40)
    disturbance = 0.1 * _lasting(rng, length, 0.8)
    state, U, Y = 0.0, np.zeros((length, 1)), np.zeros((length, 1))
    for t in range(length):
        Y[t] = state + disturbance[t]
        U[t] = gain * (target[t] - Y[t]) + 0.1 * rng.normal()
        state = pole * state + (1 - pole) * U[t, 0]
    return Record(U, Y)


def quantised_output(rng: np.random.Generator) -> Record:
    """The sensor tells about ten levels apart."""
    U = held(rng, 1000, 5)[:, None]
    clean = _filtered([rng.uniform(0.8, 0.95), rng.uniform(0.3, 0.7)], U[:, 0], rng)
    step = (clean.max() - clean.min()) / 10
    return Record(U, (step * np.round(clean / step))[:, None])


def drift(rng: np.random.Generator) -> Record:
    """A random walk as large as the signal is added to the output."""
    U = rng.normal(size=(1200, 1))
    clean = _filtered([*_pairs(rng, 1, (0.6, 0.9)), rng.uniform(0.5, 0.9)], U[:, 0], rng)
    walk = np.cumsum(rng.normal(size=1200))
    return Record(U, (clean + clean.std() / walk.std() * (walk - walk[0]))[:, None])


def short_record(rng: np.random.Generator) -> Record:
    """A hundred samples in all, 20 dB."""
    U = rng.normal(size=(100, 1))
    return _spoilt(U, _filtered(_pairs(rng, 1, (0.6, 0.9)), U[:, 0], rng), 20, rng.normal(size=100))


def delay(rng: np.random.Generator) -> Record:
    """The input acts after nine samples."""
    U = held(rng, 1000, 3)[:, None]
    late = np.concatenate([np.zeros(9), U[:-9, 0]])
    clean = _filtered([rng.uniform(0.85, 0.95)], late, rng)
    return _spoilt(U, clean, 20, rng.normal(size=1000))


def nearly_integrating(rng: np.random.Generator) -> Record:
    """A memory of 500 samples in a record of 1,500."""
    U = held(rng, 1500, 10)[:, None]
    clean = _filtered([0.998, rng.uniform(0.5, 0.9)], U[:, 0], rng)
    return _spoilt(U, clean, 30, rng.normal(size=1500))


def resonances(rng: np.random.Generator) -> Record:
    """Three lightly damped pairs."""
    U = rng.normal(size=(2000, 1))
    clean = _filtered(_pairs(rng, 3, (0.98, 0.997)), U[:, 0], rng)
    return _spoilt(U, clean, 20, rng.normal(size=2000))


def two_by_two(rng: np.random.Generator) -> Record:
    """Two inputs and two outputs, each pair with a system of its own."""
    U = np.stack([held(rng, 1000, 4), held(rng, 1000, 6)], axis=1)
    answers = [
        sum(
            _filtered([rng.uniform(0.6, 0.95)], U[:, i], rng, size=rng.normal() + 2 * (i == o))
            for i in range(2)
        )
        for o in range(2)
    ]
    clean = np.stack(answers, axis=1)
    return Record(U, clean + 0.1 * clean.std(axis=0) * rng.normal(size=clean.shape))


def few_sines(rng: np.random.Generator) -> Record:
    """An input of six sines: nothing is known between them."""
    time = np.arange(1000)
    angles = np.sort(rng.uniform(0.02, 1.5, 6))
    U = np.sin(np.outer(time, angles) + rng.uniform(0, 2 * np.pi, 6)).sum(axis=1)[:, None]
    clean = _filtered([*_pairs(rng, 1, (0.8, 0.95)), rng.uniform(0.5, 0.9)], U[:, 0], rng)
    return _spoilt(U, clean, 20, rng.normal(size=1000))


def few_steps(rng: np.random.Generator) -> Record:
    """Steps that last for a hundred samples."""
    U = held(rng, 1200, 100)[:, None]
    clean = _filtered([*_pairs(rng, 1, (0.85, 0.95)), rng.uniform(0.8, 0.95)], U[:, 0], rng)
    return _spoilt(U, clean, 25, rng.normal(size=1200))


def disturbed_states(rng: np.random.Generator) -> Record:
    """As much of the state comes from disturbances as from the input."""
    U = rng.normal(size=(1500, 1))
    poles = [rng.uniform(0.9, 0.97), rng.uniform(0.6, 0.8)]
    driven = _filtered(poles, U[:, 0] + rng.normal(size=1500), rng)
    return _spoilt(U, driven, 30, rng.normal(size=1500))


def saturated_input(rng: np.random.Generator) -> Record:
    """The actuator saturates: what acts is tanh of what is recorded."""
    U = 1.5 * _lasting(rng, 1500, 0.8)[:, None]
    clean = _filtered(_pairs(rng, 1, (0.8, 0.95)), np.tanh(U[:, 0]), rng)
    return _spoilt(U, clean, 30, rng.normal(size=1500))


def outliers(rng: np.random.Generator) -> Record:
    """One sample in fifty is far off."""
    U = rng.normal(size=(1000, 1))
    clean = _filtered([rng.uniform(0.7, 0.9), -rng.uniform(0.3, 0.7)], U[:, 0], rng)
    noise = rng.normal(size=1000) * np.where(rng.random(1000) < 0.02, 50, 1)
    return Record(U, (clean + 0.05 * clean.std() * noise)[:, None])


DEFECTS: dict[str, Callable[[np.random.Generator], Record]] = {
    make.__name__.replace("_", " "): make
    for make in (
        coloured_noise, feedback, quantised_output, drift, short_record, delay, nearly_integrating,
        resonances, two_by_two, few_sines, few_steps, disturbed_states, saturated_input, outliers,
    )
}  # fmt: skip


def _pairs(rng: np.random.Generator, count: int, sizes: tuple[float, float]) -> list[complex]:
    """Poles of size within `sizes`; each stands for a conjugate pair."""
    return [rng.uniform(*sizes) * np.exp(1j * rng.uniform(0.1, 2.5)) for _ in range(count)]


def _filtered(
    poles: list, signal: Floats, rng: np.random.Generator, *, size: float | None = None
) -> Floats:
    """The sum of the modes' answers, each as large as the others but for a random factor."""
    total = np.zeros(len(signal))
    for pole in poles:
        if isinstance(pole, complex):
            answer = lfilter(
                [0, 1, rng.uniform(-0.9, 0.9)], [1, -2 * pole.real, abs(pole) ** 2], signal
            )
        else:
            answer = lfilter([0, 1 - abs(pole)], [1, -pole], signal)
        weight = rng.uniform(0.5, 2) * rng.choice([-1, 1]) if size is None else size
        total += weight * answer / max(answer.std(), 1e-12)
    return total


def held(rng: np.random.Generator, length: int, mean: int) -> Floats:
    """Levels that last for a random time, `mean` samples on average."""
    changes = rng.random(length) < 1 / mean
    return rng.normal(size=length)[np.maximum.accumulate(np.where(changes, np.arange(length), 0))]


def _lasting(rng: np.random.Generator, length: int, pole: float) -> Floats:
    """Noise of unit deviation with the correlation `pole` from sample to sample."""
    return np.asarray(lfilter([np.sqrt(1 - pole**2)], [1, -pole], rng.normal(size=length)))


def _spoilt(U: Floats, clean: Floats, decibels: float, noise: Floats) -> Record:
    size = 10 ** (-decibels / 20) * clean.std() / noise.std()
    return Record(U, (clean + size * noise)[:, None])
