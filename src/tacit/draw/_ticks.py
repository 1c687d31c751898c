"""Round numbers for axes and colour bars, and how they are written."""

import math
from collections.abc import Sequence
from itertools import pairwise

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROOM = 24  # characters that fit under a narrow axis
_SLACK = 1e-9  # so that an end that is a round number itself gets its tick


def number_text(value: float, digits: int = 6) -> str:
    """A number as a tick shows it: 0.25, −3, 2×10⁻⁷."""
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        text = f"{value:.{digits}g}"
        text = f"{value:.0f}" if "e" in text else text
    else:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        power = power_text(int(exponent))
        text = {"1": power, "-1": f"-{power}"}.get(mantissa, f"{mantissa}×{power}")
    return text.replace("-", "−")


def power_text(exponent: int) -> str:
    """A power of ten: 10⁻³."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def number_texts(values: Sequence[float]) -> list[str]:
    """Texts with as few digits as give all of `values` faithfully."""
    ordered = sorted(set(values))
    spacing = min((b - a for a, b in pairwise(ordered)), default=0.0)
    digits = next((d for d in range(1, 16) if _faithful(ordered, d, spacing)), 16)
    return [number_text(value, digits) for value in values]


def _faithful(values: Sequence[float], digits: int, spacing: float) -> bool:
    errors = (abs(float(f"{value:.{digits}g}") - value) for value in values)
    return all(
        error <= max(1e-3 * spacing, 1e-12 * abs(value))
        for error, value in zip(errors, values, strict=True)
    )


def linear_ticks(low: float, high: float) -> dict[float, str]:
    """Multiples of 1, 2 or 5 times a power of ten between two ends: as many as have room."""
    ticks = _multiples(low, high, most=8)
    texts = number_texts(ticks)
    if sum(map(len, texts)) > _ROOM:
        ticks = _multiples(low, high, most=5)
        texts = number_texts(ticks)
    return dict(zip(ticks, texts, strict=True))


def _multiples(low: float, high: float, *, most: int) -> list[float]:
    rough = (high - low) / most
    power = math.floor(math.log10(rough))
    lead = next(lead for lead in (1, 2, 5, 10) if lead * 10.0**power >= rough * (1 - _SLACK))
    step = lead * 10.0**power
    first, last = math.ceil(low / step - _SLACK), math.floor(high / step + _SLACK)
    # Rounded to the last digit of the step: 0.3, not 0.30000000000000004.
    return [round(count * step, -power) for count in range(first, last + 1)]


def log_ticks(low: float, high: float, *, most: int = 7) -> dict[float, str]:
    """Decades between two positive ends; steps of 1, 2 and 5 if they are too close for that."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = [power for power in powers if _within(10.0**power, low, high)]
    step = -(-len(inside) // most)
    decades = {10.0**power: power_text(power) for power in inside if power % step == 0}
    if len(decades) >= 2:
        return decades
    steps = [lead * 10.0**power for power in powers for lead in (1, 2, 5)]
    steps = [tick for tick in steps if _within(tick, low, high)]
    if len(steps) < 2:
        return linear_ticks(low, high)
    return dict(zip(steps, number_texts(steps), strict=True))


def symlog_ticks(low: float, high: float, *, threshold: float, most: int = 4) -> dict[float, str]:
    """Zero and signed decades of the threshold between two ends."""
    reach = max(abs(low), abs(high), threshold)
    decades = math.floor(math.log10(reach / threshold) + _SLACK)
    step = max(1, -(-decades // most))
    sizes = [threshold * 10.0**power for power in range(0, decades + 1, step)]
    ticks = [tick for tick in (*(-s for s in reversed(sizes)), 0.0, *sizes) if low <= tick <= high]
    if len(ticks) < 2:
        return linear_ticks(low, high)
    return {tick: number_text(tick, 3) for tick in ticks}


def _within(tick: float, low: float, high: float) -> bool:
    return low * (1 - _SLACK) <= tick <= high * (1 + _SLACK)
