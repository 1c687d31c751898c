"""Records whose inputs step a few times only: one to four times in the half that is fitted.

A seed draws everything: when the steps come, the system with its constants, and the noise.
"""

import numpy as np
from scipy.signal import lfilter

from benchmarks._bent_systems import PLANTS, Plant
from benchmarks._defective_systems import Record
from benchmarks._drawn_systems import modes_of

Floats = np.ndarray
_BEFORE = 600  # samples under the first level, so that the record begins settled, or nearly so


def stepped(seed: int) -> tuple[str, Record]:
    """Its description in words, and the record."""
    rng = np.random.default_rng([1213, seed])
    half = int(rng.integers(120, 700))
    kind, times = _times(rng, half)
    inputs = _levels(rng, [*times, *_later_times(rng, half)], 2 * half)
    run = np.concatenate([np.full(_BEFORE, inputs[0]), inputs])
    plant = str(rng.choice(["linear", *PLANTS]))
    make: Plant = _linear if plant == "linear" else PLANTS[plant]
    clean = make(rng, run)[_BEFORE:]
    decibels = rng.uniform(20, 50)
    noise = rng.normal(size=2 * half)
    if rng.random() < 0.4:
        noise = np.asarray(lfilter([1], [1, -rng.uniform(0.7, 0.98)], noise))
    outputs = clean + 10 ** (-decibels / 20) * clean.std() * noise / noise.std()
    words = f"{plant}, {kind}, {decibels:.0f} dB, {2 * half} samples"
    return words, Record(inputs[:, None], outputs[:, None])


def _times(rng: np.random.Generator, half: int) -> tuple[str, list[int]]:
    """One to four steps in the first half, anywhere or in one quarter of it."""
    count = int(rng.integers(1, 5))
    if rng.random() < 0.5:
        return f"{count} steps", _drawn_times(rng, 0.05 * half, 0.9 * half, count)
    quarter = int(rng.integers(0, 4))
    begin, end = (quarter / 4 + 0.02) * half, (quarter / 4 + 0.2) * half
    words = f"{count} steps in quarter {quarter + 1}"
    return words, _drawn_times(rng, begin, end, count)


def _later_times(rng: np.random.Generator, half: int) -> list[int]:
    """Two to six steps in the second half, the first of them early."""
    first = int(half * (1 + rng.uniform(0.02, 0.2)))
    return [first, *_drawn_times(rng, 1.2 * half, 1.9 * half, int(rng.integers(1, 6)))]


def _drawn_times(rng: np.random.Generator, begin: float, end: float, count: int) -> list[int]:
    return sorted(int(one) for one in rng.uniform(begin, end, count))


def _levels(rng: np.random.Generator, times: list[int], length: int) -> Floats:
    """A level of −1 to 1 from each time on, at least 0.4 from the one before."""
    level = rng.uniform(-1, 1)
    inputs = np.full(length, level)
    for time in times:
        other = level
        while abs(other - level) < 0.4:
            other = rng.uniform(-1, 1)
        inputs[time:] = level = other
    return inputs


def _linear(rng: np.random.Generator, inputs: Floats) -> Floats:
    """One to four modes; the slowest lasts for 25 samples and a twelfth of the fitted half."""
    return modes_of(rng, len(inputs) // 4, inputs)[1](inputs)
