"""Records of systems drawn at random, with the inputs and defects that measured ones have.

A seed draws everything: the input, one to four modes, a bend, and what disturbs the output.
"""

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from benchmarks._defective_systems import Record, held

Floats = np.ndarray
_BEFORE = 300  # samples that run before the record, so that it does not begin at rest


def drawn(seed: int) -> tuple[str, Record]:
    """Its description in words, and the record."""
    rng = np.random.default_rng([77, seed])
    length = int(rng.integers(400, 2400))
    kind = str(rng.choice(list(INPUTS)))
    inputs = INPUTS[kind](rng, length)
    inputs = inputs / inputs.std()
    run = np.concatenate([inputs[:_BEFORE], inputs])
    modes, plant = modes_of(rng, length, run)
    bend = str(rng.choice(["straight", "straight", "saturated input", "cubic output"]))
    acting = np.tanh(rng.uniform(0.3, 0.9) * run) if bend == "saturated input" else run
    clean = plant(acting)
    if bend == "cubic output":
        clean = clean + rng.uniform(0.01, 0.06) * clean**3 / clean.var()
    noise = str(rng.choice(["white noise", "coloured noise", "pushed", "pushed", "drift"]))
    decibels = rng.uniform(15, 35) if noise == "drift" else rng.uniform(10, 40)
    disturbance = _disturbance(rng, noise, len(run), plant)
    size = 10 ** (-decibels / 20) * clean.std() / disturbance.std()
    outputs = (clean + size * disturbance)[-length:]
    words = f"{kind}, {modes}, {bend}, {noise}, {decibels:.0f} dB, {length} samples"
    return words, Record(inputs[:, None], outputs[:, None])


def _sweep(rng: np.random.Generator, length: int) -> Floats:
    period = int(rng.uniform(0.3, 1.2) * length)
    frequency = np.resize(np.linspace(0.002, rng.uniform(0.1, 0.4), period), length)
    return np.sin(2 * np.pi * np.cumsum(frequency))


def _odd_lines(rng: np.random.Generator, length: int) -> Floats:
    """Equal sines at odd multiples of one frequency: the second half of a period mirrors it."""
    period = int(rng.choice([256, 512, 1024]))
    lines = np.arange(1, int(period * rng.uniform(0.1, 0.45)), 2)
    phases = rng.uniform(0, 2 * np.pi, len(lines))
    return np.cos(2 * np.pi * np.outer(np.arange(length), lines) / period + phases).sum(axis=1)


INPUTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "white input": lambda rng, length: rng.normal(size=length),
    "sweep": _sweep,
    "odd lines": _odd_lines,
    "held levels": lambda rng, length: held(rng, length, rng.uniform(3, 20)),
    "long steps": lambda rng, length: held(rng, length, rng.uniform(40, 100)),
    "slow input": lambda rng, length: np.asarray(
        lfilter([1], [1, -rng.uniform(0.7, 0.95)], rng.normal(size=length))
    ),
}


def modes_of(
    rng: np.random.Generator, length: int, run: Floats
) -> tuple[str, Callable[[Floats], Floats]]:
    """One to four modes, each as large as the others but for a random factor."""
    style = str(rng.choice(["resonant", "slow", "mixed"]))
    modes = []
    for _ in range(int(rng.integers(1, 5))):
        if style == "resonant" or (style == "mixed" and rng.random() < 0.5):
            size, angle = np.exp(-1 / rng.uniform(5, 400)), 2 * np.pi * rng.uniform(0.02, 0.3)
            top, bottom = [0, 1, rng.uniform(-0.9, 0.9)], [1, -2 * size * np.cos(angle), size**2]
        else:
            pole = np.exp(-1 / np.exp(rng.uniform(np.log(1.5), np.log(length / 6))))
            top, bottom = [0, 1 - pole], [1, -pole]
        weight = rng.uniform(0.3, 2) * rng.choice([-1, 1])
        unit = max(float(lfilter(top, bottom, run).std()), 1e-12)
        modes.append((weight / unit * np.array(top), bottom))

    def plant(signal: Floats) -> Floats:
        return np.asarray(sum(lfilter(top, bottom, signal) for top, bottom in modes))

    return style, plant


def _disturbance(
    rng: np.random.Generator, kind: str, length: int, plant: Callable[[Floats], Floats]
) -> Floats:
    """A push acts where the input does, and so has the system's own colour."""
    white = rng.normal(size=length)
    if kind == "coloured noise":
        return np.asarray(lfilter([1], [1, -rng.uniform(0.7, 0.98)], white))
    if kind == "pushed":
        return plant(np.asarray(lfilter([1], [1, -rng.choice([0, 0.8])], white)))
    if kind == "drift":
        return np.cumsum(white) + rng.normal(size=length)
    return white
