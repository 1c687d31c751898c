"""Records of systems that are not linear, simulated: tanks, springs, friction, heat.

A seed draws everything: the input, the system with its constants, and the noise.
"""

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from benchmarks._defective_systems import Record
from benchmarks._drawn_systems import INPUTS

Floats = np.ndarray
Plant = Callable[[np.random.Generator, Floats], Floats]
_BEFORE = 200  # samples that run before the record, so that it does not begin at rest


def bent(seed: int) -> tuple[str, Record]:
    """Its description in words, and the record."""
    rng = np.random.default_rng([991, seed])
    length = int(rng.integers(300, 2000))
    inputs = {**INPUTS, "few steps": _few_steps}
    kind = str(rng.choice(list(inputs)))
    plant = str(rng.choice(list(PLANTS)))
    run = inputs[kind](rng, _BEFORE + length)
    run = (run - run.mean()) / run.std()
    clean = PLANTS[plant](rng, run)[_BEFORE:]
    decibels = rng.uniform(20, 50)
    noise = rng.normal(size=length)
    if rng.random() < 0.4:
        noise = lfilter([1], [1, -rng.uniform(0.7, 0.98)], noise)
    outputs = clean + 10 ** (-decibels / 20) * clean.std() * noise / noise.std()
    words = f"{plant}, {kind}, {decibels:.0f} dB, {length} samples"
    return words, Record(run[_BEFORE:, None], outputs[:, None])


def _few_steps(rng: np.random.Generator, length: int) -> Floats:
    """Three to nine steps in all, one of them in the first half."""
    times = np.sort(rng.integers(5, length - 5, int(rng.integers(2, 9))))
    inputs = np.full(length, rng.normal())
    for time in times:
        inputs[time:] = rng.normal()
    early = int(rng.uniform(0.1, 0.45) * length)
    inputs[early:] += rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
    return inputs


def _tanks(rng: np.random.Generator, inputs: Floats) -> Floats:
    """Two tanks, one above the other, which may run over; the level of the lower one."""
    first, _, second, _ = np.exp(rng.uniform(np.log(0.02), np.log(0.15), 4))
    pumped = np.clip(3 + 1.2 * inputs, 0, 10) * rng.uniform(0.6, 1.2)
    waves = rng.normal(size=len(inputs)) * rng.choice([0, 0.02])
    upper = lower = 3.0
    seen = np.zeros(len(inputs))
    for t in range(len(inputs)):
        seen[t] = lower
        over = max(upper - 10, 0) * 0.5
        given = first * 1.7 / 3 * pumped[t] + waves[t]
        upper = min(max(upper - first * np.sqrt(max(upper, 0)) + given, 0), 10)
        taken = second * np.sqrt(max(lower, 0))
        lower = min(max(lower + first * np.sqrt(upper) - taken + over, 0), 10)
    return seen


def _spring(rng: np.random.Generator, inputs: Floats) -> Floats:
    """A mass on a spring that stiffens, as Duffing's."""
    frequency, damping = rng.uniform(0.1, 0.8), rng.uniform(0.02, 0.3)
    cubic = rng.uniform(0.05, 1.0)
    place = speed = 0.0
    seen, parts = np.zeros(len(inputs)), 8
    for t in range(len(inputs)):
        seen[t] = place
        for _ in range(parts):
            pull = frequency * frequency * (inputs[t] - place - cubic * place**3)
            speed += (pull - 2 * damping * frequency * speed) / parts
            place += speed / parts
    return seen


def _friction(rng: np.random.Generator, inputs: Floats) -> Floats:
    """The speed of a mass that slides; the force follows the input with a delay."""
    dry, rate, _ = rng.uniform(0.05, 0.5), rng.uniform(0.02, 0.2), rng.uniform(0, 0.3)
    follows = rng.uniform(0.2, 0.8)
    speed = force = 0.0
    seen, parts = np.zeros(len(inputs)), 5
    for t in range(len(inputs)):
        seen[t] = speed
        for _ in range(parts):
            force += follows * (inputs[t] - force) / parts
            speed += rate * (force - dry * np.tanh(20 * speed) - speed) / parts
    return seen


def _converter(rng: np.random.Generator, inputs: Floats) -> Floats:
    """A converter's voltage against its duty; the current flows one way."""
    duty = np.clip(0.45 + 0.12 * inputs, 0.05, 0.95)
    rate, loss, load = rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.4)
    current = voltage = duty[0]
    seen, parts = np.zeros(len(inputs)), 8
    for t in range(len(inputs)):
        seen[t] = voltage
        for _ in range(parts):
            rise = rate * (duty[t] * (1 - 0.2 * current) - voltage - loss * current)
            charge = rate * (current - load * voltage * (1 + 0.3 * voltage))
            current = max(current + rise / parts, 0)
            voltage += charge / parts
    return seen


def _radiator(rng: np.random.Generator, inputs: Floats) -> Floats:
    """A body that is heated and radiates, seen by a slow thermometer."""
    rate, slow = np.exp(rng.uniform(np.log(0.005), np.log(0.1))), rng.uniform(0.05, 0.5)
    power = np.clip(1 + 0.5 * inputs, 0, None)
    outside = np.cumsum(rng.normal(size=len(inputs))) * rng.choice([0, 0.003])
    heat = shown = 1.0
    seen = np.zeros(len(inputs))
    for t in range(len(inputs)):
        seen[t] = shown
        heat += rate * (power[t] - 0.5 * heat**4 - 0.5 * heat + outside[t])
        shown += slow * (heat - shown)
    return seen


def _sensor(rng: np.random.Generator, inputs: Floats) -> Floats:
    """Two linear modes, seen by a sensor that is bent."""
    outer, inner = rng.uniform(0.6, 0.97), rng.uniform(0.3, 0.9)
    state = lfilter([1 - outer], [1, -outer], inputs)
    state = lfilter([0, 1 - inner], [1, -inner], state)
    state = state / state.std()
    return np.tanh(rng.uniform(0.2, 0.8) * state) + rng.uniform(0, 0.2) * state**2


PLANTS: dict[str, Plant] = {
    "tanks": _tanks,
    "spring": _spring,
    "friction": _friction,
    "converter": _converter,
    "radiator": _radiator,
    "sensor": _sensor,
}
