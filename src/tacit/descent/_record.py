"""What to look at on the way, and when: measures computed inside the compiled program."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit._doors import door, whole
from tacit.descent._received import received

Measure = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """Measures of the model at chosen steps. Step s is the iterate after s updates.

    Arguments:
    - `steps`: increasing step numbers. Those beyond the budget are refused.
    - `measures`: named functions of one model, traceable by JAX, each returning an array. The
      loss is always recorded beside them, under `loss`, and so is the `time` of a flow.

    A lane that ended before a step shows the iterate at which it ended. `Record.at_times` asks for
    times of a gradient flow instead of steps.
    """

    steps: Sequence[int]
    measures: Mapping[str, Measure] = dataclasses.field(default_factory=dict)
    times: Sequence[float] | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.times is None:
            object.__setattr__(self, "steps", _checked_steps(self.steps))
        else:
            object.__setattr__(self, "times", _checked_times(self.times))
            if len(self.steps):
                raise ValueError(
                    f"steps: received {self.steps!r}, they must be empty beside times; write "
                    "Record.at_times(times, measures)"
                )
            object.__setattr__(self, "steps", np.zeros(0, np.int64))
        if not isinstance(self.measures, Mapping):
            raise ValueError(
                f"measures: received {received(self.measures)}, it must be a dictionary of "
                'functions; write Record(steps, {"name": measure})'
            )
        if "loss" in self.measures:
            raise ValueError(
                "measures: received the name 'loss', it must be another, since the loss is always "
                "recorded; rename the measure"
            )
        for name, measure in self.measures.items():
            if not callable(measure):
                raise ValueError(
                    f"measures[{name!r}]: received {received(measure)}, it must be a function of "
                    "the model; write for instance lambda model: model.weights"
                )

    @classmethod
    @door(interval=whole(1), until=whole())
    def every(cls, interval: int, *, until: int, **measures: Measure) -> "Record":
        """Records at 0, `interval`, 2 `interval`, … up to and including `until`."""
        if interval < 1:
            raise ValueError(
                f"interval: received {interval!r}, it must be at least 1 step; raise it"
            )
        return cls(range(0, until + 1, interval), measures)

    @classmethod
    def at_times(
        cls, times: Sequence[float], measures: Mapping[str, Measure] | None = None
    ) -> "Record":
        """Records of a gradient flow at increasing times, which its steps then meet exactly.

        A lane that ended before a time shows its end, and `records["time"]` tells when that was.
        """
        if times is None:
            raise ValueError("times: received None, give a list of times such as [0.0, 1.0]")
        return cls((), {} if measures is None else measures, times=times)


def _checked_steps(given: Any) -> np.ndarray:
    try:
        steps = np.asarray(given)
        if isinstance(given, list | tuple) and any(isinstance(step, bool) for step in given):
            steps = np.zeros(())
    except ValueError:
        steps = np.zeros(())
    if steps.ndim != 1 or steps.size == 0 or not np.issubdtype(steps.dtype, np.integer):
        raise ValueError(
            f"steps: received {given!r}, they must be a list of whole numbers; write for instance "
            "Record([0, 10, 100])"
        )
    if steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise ValueError(
            f"steps: received {given!r}, they must increase from at least 0; sort them"
        )
    return steps.astype(np.int64)


def _checked_times(given: Any) -> np.ndarray:
    try:
        times = np.asarray(given, dtype=float)
        if isinstance(given, list | tuple) and any(isinstance(time, bool) for time in given):
            times = np.zeros(())
    except (TypeError, ValueError, OverflowError):
        times = np.zeros(())
    if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all():
        raise ValueError(
            f"times: received {given!r}, they must be a list of finite numbers; write for instance "
            "Record.at_times([0.0, 1.0, 10.0])"
        )
    if times[0] < 0 or (np.diff(times) <= 0).any():
        raise ValueError(
            f"times: received {given!r}, they must increase from at least 0; sort them"
        )
    return times
