"""The parameters of an experiment: one frozen dataclass of documented fields."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.experiments._errors import UsageError, nearest
from tacit.experiments._parameter import METADATA, Parameter
from tacit.store import SEED


@dataclass(frozen=True, kw_only=True)
class Config:
    """Base of the configs: subclass it as a frozen dataclass whose fields are `parameter(...)`s.

    ```python
    @dataclass(frozen=True, kw_only=True)
    class Fig1aConfig(Config):
        width: tuple[int, ...] = parameter((40,), "width of the student", low=1, swept=True)
        steps: int = parameter(15_000, "steps of Adam", low=1)
        seed: tuple[int, ...] = parameter(tuple(range(10)), "random seed", low=0, swept=True)
    ```

    A swept field is an axis of the grid; the others are the same for every cell. Values are
    checked and brought to the field's kind when the config is made, so that a config that exists
    is a valid one.
    """

    def __post_init__(self) -> None:
        for name, spec in self.parameters().items():
            object.__setattr__(self, name, spec.normalised(name, getattr(self, name)))
        self.check()

    def check(self) -> None:
        """Raise a `UsageError` where fields contradict each other; for subclasses to override."""

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """What is known of each field, in the order of the fields."""
        found = {}
        for entry in dataclasses.fields(cls):
            if METADATA not in entry.metadata:
                raise ValueError(f"{cls.__name__}.{entry.name} must be made with parameter(...)")
            found[entry.name] = entry.metadata[METADATA]
        return found

    @classmethod
    def parameter_named(cls, name: str) -> Parameter:
        """What is known of one field; a wrong name is a `UsageError` with the nearest ones."""
        known = cls.parameters()
        if name not in known:
            raise UsageError(f"{name}: there is no such parameter, {nearest(name, known)}")
        return known[name]

    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes of the grid: swept parameters and their values."""
        return {n: getattr(self, n) for n, spec in self.parameters().items() if spec.swept}

    def fixed(self) -> dict[str, Any]:
        """The parameters that all cells share; those of analysis only are not among them."""
        return {
            name: getattr(self, name)
            for name, spec in self.parameters().items()
            if not spec.swept and not spec.analysis
        }

    def with_overrides(self, overrides: Mapping[str, Any]) -> Self:
        """The config with other values; a swept field takes a list or a single value."""
        for name in overrides:
            self.parameter_named(name)
        return dataclasses.replace(self, **overrides)

    def with_seeds(self, count: int) -> Self:
        """The config with the seeds 0, …, count − 1."""
        spec = self.parameters().get(SEED)
        if spec is None or not spec.swept:
            raise UsageError(f"seeds: received {count}, but this experiment has no seeds")
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 100_000:
            raise UsageError(f"seeds: received {count!r}, allowed is an integer from 1 to 100000")
        return self.with_overrides({SEED: tuple(range(count))})
