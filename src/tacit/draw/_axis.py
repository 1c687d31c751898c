"""An axis: its label, its scale, and the arithmetic that both renderers share.

Both renderers draw the same range and the same ticks because both ask here. On a symmetric log
axis values run linearly up to `threshold` and logarithmically beyond it:

    forward(v) = v / threshold                                    for |v| <= threshold,
    forward(v) = sign(v) (1 + log10(|v| / threshold))             beyond.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit._doors import text
from tacit.draw._checks import (
    check_choice,
    check_increasing,
    check_listed,
    check_positive,
    checked_number,
)

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


def linear_ticks(low: float, high: float, *, most: int = 8) -> dict[float, str]:
    """Multiples of 1, 2 or 5 times a power of ten between two ends: as many as have room."""
    ticks = _multiples(low, high, most=most)
    texts = number_texts(ticks)
    if most > 5 and sum(map(len, texts)) > _ROOM:
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


Floats: TypeAlias = NDArray[np.float64]

SCALES = ("linear", "log", "symlog")
_PADDING = 0.04  # of the range, on either side of the data


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    **Arguments**
    - `label`: plain text (Unicode, no markup): both renderers show it character by character.
    - `scale`: "linear", "log" or "symlog".
    - `limits`: the two ends; either may be None, to be taken from the data.
    - `ticks`: positions, or a mapping from position to text; chosen for the data if None.
    - `threshold`: where a "symlog" axis turns from linear to logarithmic.
    """

    label: str
    _: KW_ONLY
    scale: str = "linear"
    limits: Sequence[SupportsFloat | None] | None = None
    ticks: Sequence[SupportsFloat] | Mapping[float, str] | NDArray | None = None
    threshold: float | int = 1.0

    def __post_init__(self) -> None:
        text("Axis.label", self.label)
        check_choice("Axis", "scale", self.scale, SCALES)
        check_positive("Axis", "threshold", self.threshold)
        for name, given in (("limits", self.limits), ("ticks", self.ticks)):
            check_listed("Axis", name, given)
        if self.limits is not None and len(self.limits) != 2:
            raise ValueError(
                f"Axis.limits: received {self.limits}, they must be two ends (either may be None)"
            )
        ends = [end for end in self.limits or () if end is not None]
        for name, values in (("limits", ends), ("ticks", list(self.tick_texts() or ()))):
            array = np.array([checked_number("Axis", name, value) for value in values])
            if self.scale == "log" and (array <= 0).any():
                raise ValueError(
                    f"Axis.{name}: received {values}, it must be above 0 on a log scale"
                )
            check_increasing("Axis", name, array, strictly=True)

    def tick_texts(self) -> dict[float, str] | None:
        """Chosen tick positions with their texts, or None if the renderer is to choose."""
        if self.ticks is None:
            return None
        if isinstance(self.ticks, Mapping):
            return {float(place): text for place, text in self.ticks.items()}
        places = [checked_number("Axis", "ticks", place) for place in self.ticks]
        return dict(zip(places, number_texts(places), strict=True))

    def ticks_within(self, low: float, high: float, *, most: int | None = None) -> dict[float, str]:
        """Tick positions and texts for a range: the chosen ones, else round numbers.

        With `most` there are fewer; of chosen ones some have no text then.
        """
        chosen = self.tick_texts()
        if chosen is not None:
            step = 1 if most is None else max(1, -(-len(chosen) // most))
            kept = enumerate(chosen.items())
            return {place: text if n % step == 0 else "" for n, (place, text) in kept}
        fewer: dict[str, int] = {} if most is None else {"most": most}
        if self.scale == "log":
            return log_ticks(low, high, **fewer)
        if self.scale == "symlog":
            return symlog_ticks(low, high, threshold=self.threshold, **fewer)
        return linear_ticks(low, high, **fewer)

    def showable(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which values have a place on this axis: finite ones, above zero if it is a log axis."""
        array = np.asarray(values, dtype=np.float64)
        return np.isfinite(array) & ((array > 0) | (self.scale != "log"))

    def forward(self, values: ArrayLike) -> Floats:
        """Values to positions along the axis, up to an affine map; NaN where there is none."""
        array = np.asarray(values, dtype=np.float64)
        array = np.where(self.showable(array), array, np.nan)
        if self.scale == "log":
            return np.log10(array)
        if self.scale == "symlog":
            ratio = np.abs(array) / self.threshold
            bent = np.where(ratio <= 1, ratio, 1 + np.log10(np.maximum(ratio, 1)))
            return np.sign(array) * bent
        return array

    def backward(self, positions: ArrayLike) -> Floats:
        """The inverse of `forward`."""
        array = np.asarray(positions, dtype=np.float64)
        if self.scale == "log":
            return np.power(10.0, np.clip(array, -307, 308))
        if self.scale == "symlog":
            size = np.abs(array)
            bent = np.where(size <= 1, size, np.power(10.0, np.clip(size - 1, 0, 308)))
            return np.sign(array) * bent * self.threshold
        return array

    def edges(self, centres: ArrayLike) -> Floats:
        """The n + 1 edges of cells around n ascending centres, halfway between them as drawn."""
        middle = self.forward(centres)
        if len(middle) == 1:
            return self.backward(np.array([middle[0] - 0.5, middle[0] + 0.5]))
        inner = (middle[:-1] + middle[1:]) / 2
        first, last = 2 * middle[0] - inner[0], 2 * middle[-1] - inner[-1]
        return self.backward(np.concatenate([[first], inner, [last]]))

    def span(self, values: ArrayLike, *, padded: bool) -> tuple[float, float]:
        """The range to draw so that `values` are seen: the limits where given, else the data's."""
        positions = self.forward(values)
        # Divergence can come near the largest float, where a range would overflow.
        # On a log scale the last decades are kept as room, where `backward` ends.
        least, most = (-306.5, 306.5) if self.scale == "log" else (-1e300, 1e300)
        positions = np.clip(positions[np.isfinite(positions)], least, most)
        low, high = (float(positions.min()), float(positions.max())) if positions.size else (0, 1)
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            # One value only: a decade on bent scales, else room in proportion to the value.
            room = 0.5 if self.scale != "linear" else 0.5 * abs(low) or 0.5
            low, high = low - room, high + room
        elif padded and positions.size:
            room = _PADDING * (high - low)
            low, high = low - room, high + room
        chosen = self.limits or (None, None)
        fixed = [None if end is None else float(self.forward(float(end))) for end in chosen]
        width = high - low
        if fixed[0] is not None:
            low = fixed[0]
            high = high if high > low else low + width
        if fixed[1] is not None:
            high = fixed[1]
            low = low if low < high else high - width
        ends = self.backward(np.array([low, high]))
        return float(ends[0]), float(ends[1])
