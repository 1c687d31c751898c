"""A slider: a parameter with its bounds, the places where it can stand, and how it is read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np


@final
@dataclass(frozen=True)
class Slider:
    """A number that the reader chooses.

    **Arguments:**

    - `name`: of the parameter, as in the address of an answer.
    - `label`: words beside the slider.
    - `values`: where it can stand, ascending. Whole numbers make a slider of whole numbers. What
      lies between two of them is read too, beyond the first and the last nothing is.
    - `start`: where it stands first, one of the values.
    """

    name: str
    label: str
    values: tuple[float, ...]
    start: float

    def __post_init__(self) -> None:
        if list(self.values) != sorted(set(self.values)) or len(self.values) < 2:
            raise ValueError(
                f"values: received {self.values!r}, they must be two or more, ascending"
            )
        if self.start not in self.values:
            raise ValueError(f"start: received {self.start!r}, it must be one of {self.values!r}")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are meant."""
        return all(isinstance(value, int) for value in self.values)

    @property
    def place(self) -> int:
        """Which of the values it stands at first."""
        return self.values.index(self.start)

    def read(self, text: str) -> float:
        """The number that a text means; a `ValueError` in words if it is none of the slider's."""
        low, high = self.values[0], self.values[-1]
        try:
            number = int(text) if self.whole else float(text)
        except ValueError:
            number = np.nan
        if not low <= number <= high:
            kind = "a whole number" if self.whole else "a number"
            shown = text if len(text) <= 40 else f"{text[:40]}…"
            raise ValueError(
                f"{self.name}: received {shown!r}, it must be {kind} from {low:g} to {high:g}"
            )
        return number


def powers(low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` numbers in equal ratios, to three digits."""
    return tuple(float(f"{value:.3g}") for value in np.geomspace(low, high, count))


def even(low: float, high: float, step: float) -> tuple[float, ...]:
    """Numbers in equal steps, both ends included."""
    count = round((high - low) / step) + 1
    return tuple(round(float(value), 6) for value in np.linspace(low, high, count))


def read_all(sliders: Iterable[Slider], given: Mapping[str, list[str]]) -> dict[str, float]:
    """All values, in the sliders' order; a `ValueError` in words if one is wrong or unknown."""
    known = {slider.name: slider for slider in sliders}
    for name, texts in given.items():
        if name not in known:
            raise ValueError(f"{name[:40]!r} is no parameter here, there are {', '.join(known)}")
        if len(texts) != 1:
            raise ValueError(f"{name}: received {len(texts)} values, it must be one")
    return {
        name: slider.read(given[name][0]) if name in given else slider.start
        for name, slider in known.items()
    }
