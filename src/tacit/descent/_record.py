"""What to look at on the way, and when: measures computed inside the compiled program."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Measure = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """Measures of the model at chosen steps. Step s is the iterate after s updates.

    Arguments:
    - `steps`: increasing step numbers. Those beyond the budget are refused.
    - `measures`: named functions of one model, traceable by JAX, each returning an array. The
      loss is always recorded beside them, under `loss`.

    A lane that ended before a step shows the iterate at which it ended.
    """

    steps: Sequence[int]
    measures: Mapping[str, Measure] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = np.asarray(self.steps)
        if steps.ndim != 1 or steps.size == 0 or not np.issubdtype(steps.dtype, np.integer):
            raise ValueError(f"steps must be a list of whole numbers, got {self.steps!r}")
        if steps[0] < 0 or (np.diff(steps) <= 0).any():
            raise ValueError(f"steps must increase from at least 0, got {self.steps!r}")
        if "loss" in self.measures:
            raise ValueError("measures must not use the name 'loss': it is recorded always")
        for name, measure in self.measures.items():
            if not callable(measure):
                raise ValueError(f"measures[{name!r}] must be a function, got {measure!r}")
        object.__setattr__(self, "steps", steps.astype(np.int64))

    @classmethod
    def every(cls, interval: int, *, until: int, **measures: Measure) -> "Record":
        """Records at 0, `interval`, 2 `interval`, … up to and including `until`."""
        if interval < 1:
            raise ValueError(f"interval must be at least 1 step, got {interval!r}")
        return cls(range(0, until + 1, interval), measures)
