"""An axis: its label, its scale, and the arithmetic that both renderers share.

Both renderers draw the same range and the same ticks because both ask here. On a symmetric log
axis values run linearly up to `threshold` and logarithmically beyond it:

    forward(v) = v / threshold                                    for |v| <= threshold,
    forward(v) = sign(v) (1 + log10(|v| / threshold))             beyond.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.draw._checks import check_choice, check_increasing, check_positive, checked_number
from tacit.draw._ticks import linear_ticks, log_ticks, number_texts, symlog_ticks

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
        check_choice("Axis", "scale", self.scale, SCALES)
        check_positive("Axis", "threshold", self.threshold)
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
        places = [float(place) for place in self.ticks]
        return dict(zip(places, number_texts(places), strict=True))

    def ticks_within(self, low: float, high: float) -> dict[float, str]:
        """Tick positions and texts for a range: the chosen ones, else round numbers."""
        chosen = self.tick_texts()
        if chosen is not None:
            return chosen
        if self.scale == "log":
            return log_ticks(low, high)
        if self.scale == "symlog":
            return symlog_ticks(low, high, threshold=self.threshold)
        return linear_ticks(low, high)

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
