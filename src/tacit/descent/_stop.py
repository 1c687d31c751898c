"""When a lane is done."""

import dataclasses

import numpy as np
from jax.typing import ArrayLike


@dataclasses.dataclass(frozen=True)
class Stop:
    """The budget of a descent and the conditions that end a lane before it.

    Arguments:
    - `steps`: the budget. A lane that uses it up ends as `stopped`.
    - `loss`: at or below it a lane is `converged`; a number or one for each lane. None is set by
      default: a loss may be negative, and a loss of zero goes on doing nothing.
    - `gradient`: at or below this Euclidean norm of the gradient a lane is `converged`.
    - `diverged`: above this loss (or at NaN) a lane is `diverged`.
    - `patience`: after this many steps in which the best loss did not fall by the fraction
      `progress` a lane is `stalled`. None: never.
    """

    steps: int
    loss: ArrayLike = -np.inf
    gradient: float = 0.0
    diverged: float = np.inf
    patience: int | None = None
    progress: float = 1e-3

    def __post_init__(self) -> None:
        if isinstance(self.steps, bool) or int(self.steps) != self.steps or self.steps < 0:
            raise ValueError(f"steps must be a whole number of at least 0, got {self.steps!r}")
        if np.isnan(np.asarray(self.loss, dtype=float)).any():
            raise ValueError(f"loss must be a number, got {self.loss!r}")
        if not self.gradient >= 0:
            raise ValueError(f"gradient must be at least 0, got {self.gradient!r}")
        if not self.diverged > 0:
            raise ValueError(f"diverged must be above 0, got {self.diverged!r}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1 step or None, got {self.patience!r}")
        if not 0 <= self.progress < 1:
            raise ValueError(f"progress must lie in [0, 1), got {self.progress!r}")
