"""Several checkpoints of one training: how the rank of the change grows, and where it takes off."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._doors import door, path, whole
from tacit.checkpoints._checkpoint import INDEX, checkpoint_in
from tacit.checkpoints._delta import delta
from tacit.checkpoints._evaluation import Evaluation, evaluation
from tacit.checkpoints._files import CheckpointError
from tacit.checkpoints._inspection import Inspection, inspected
from tacit.checkpoints._spectrum import LEADING

_NUMBER = re.compile(r"\d+")
_ENDINGS = (".safetensors", INDEX, ".pt", ".pth")
_MOST = 10_000  # checkpoints
RISES = 1.5
"""How many times its smallest value the rank must reach to count as taking off."""


@dataclass(frozen=True)
class TrainingRun:
    """The change against training step.

    - `steps`: of the checkpoints after the first, which is the start.
    - `rank`: the ranks for 90% of the squared norm (`TensorChange.rank`), summed over the matrices.
      `stable_rank`, `effective_rank`: their means, weighted by the share of the norm.
    - `above_noise`: the singular values that stand out of noise, summed. `norm`: ‖Δ‖.
    - `losses`: with that of the start first; None if none was asked for.
    - `inspections`: of each checkpoint against the start.
    """

    start: str
    steps: tuple[int, ...]
    start_step: int
    inspections: tuple[Inspection, ...]
    losses: tuple[float, ...] | None = None

    @property
    def rank(self) -> np.ndarray:
        """The rank for 90% of the squared norm, summed over matrices."""
        return np.array([sum(t.rank for t in one.matrices) for one in self.inspections], float)

    @property
    def stable_rank(self) -> np.ndarray:
        """The stable rank, averaged over matrices by their share."""
        return self._mean("stable_rank")

    @property
    def effective_rank(self) -> np.ndarray:
        """The effective rank, averaged over matrices by their share."""
        return self._mean("effective_rank")

    @property
    def above_noise(self) -> np.ndarray:
        """How many singular values stand out of noise, summed over matrices."""
        return np.array(
            [
                sum(t.spectrum.edge().above for t in one.matrices if t.spectrum is not None)
                for one in self.inspections
            ],
            float,
        )

    @property
    def norm(self) -> np.ndarray:
        """‖Δ‖ of all tensors."""
        return np.array(
            [np.linalg.norm([t.norm for t in one.tensors]) for one in self.inspections], float
        )

    @property
    def take_off(self) -> int | None:
        """The step at which the rank takes off; None if it does not.

        It takes off if its last value is at least 1.5 times its smallest; then at the last step
        at which it has gone at most a quarter of the way from the smallest value to the last.
        """
        rank = self.rank
        low = int(np.argmin(rank))
        if rank[-1] < RISES * rank[low] or rank[-1] == rank[low]:
            return None
        near = rank <= rank[low] + 0.25 * (rank[-1] - rank[low])
        return self.steps[int(np.flatnonzero(near)[-1])]

    @property
    def best_step(self) -> int | None:
        """The step with the smallest loss; None without losses."""
        if self.losses is None:
            return None
        return (self.start_step, *self.steps)[int(np.nanargmin(self.losses))]

    def report(self) -> str:
        """The report, in Markdown."""
        from tacit.checkpoints._run_report import report_of

        return report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers for machines."""
        from tacit.checkpoints._run_report import record_of

        return record_of(self)

    def plot(self) -> Any:
        """A `tacit.draw.Figure`: ranks, norm and loss against training step."""
        from tacit.checkpoints._figures import run_figure

        return run_figure(self)

    def __repr__(self) -> str:
        return f"TrainingRun of {len(self.steps)} checkpoints, rank {self.rank[-1]:.0f} at the end"

    def _mean(self, name: str) -> np.ndarray:
        means = []
        for one in self.inspections:
            shares = np.array([t.share for t in one.matrices])
            ranks = np.array([getattr(t.spectrum, name) for t in one.matrices])
            means.append(float(shares @ ranks / shares.sum()) if shares.sum() else 0.0)
        return np.array(means)


@door(answer="any", folder=path, gates=whole(1, 64), leading=whole(1, 1024))
def inspect_run(
    folder: str | os.PathLike[str],
    *,
    before: Any = None,
    gates: int | None = None,
    leading: int = LEADING,
    evaluate: Any = None,
) -> TrainingRun:
    """The change against training step, for a folder of checkpoints.

    **Arguments:**

    - `folder`: its checkpoints are ordered by the last number in their names: files such as
      `step-500.safetensors`, or folders such as `checkpoint-500` with one in it.
    - `before`: the start; None takes the checkpoint with the smallest number.
    - `gates`, `leading`: as for `inspect`.
    - `evaluate`: a command or a function that gives the loss of a file of weights.
    """
    found = _ordered(Path(folder))
    measure = evaluation(evaluate)
    start_step, first = (0, before) if before is not None else found[0]
    rest = found if before is not None else found[1:]
    if not rest:
        raise CheckpointError(
            f"{folder} has one checkpoint, at least two are needed: the first is the start"
        )
    losses = [] if measure is None else [_loss(first, measure)]
    inspections = []
    for _, each in rest:
        with delta(first, each) as pair:
            inspections.append(inspected(pair, gates, leading))
        if measure is not None:
            losses.append(_loss(each, measure))
    return TrainingRun(
        str(first) if isinstance(first, str | os.PathLike) else "these arrays",
        tuple(step for step, _ in rest),
        start_step,
        tuple(inspections),
        tuple(losses) or None,
    )


def _ordered(folder: Path) -> list[tuple[int, Path]]:
    """The checkpoints of a folder with their steps, in their order."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be read: {error.strerror}") from None
    steps: dict[int, Path] = {}
    for name in names:
        place = folder / name
        target = checkpoint_in(place) if place.is_dir() else place
        if target is None or (not place.is_dir() and not name.endswith(_ENDINGS)):
            continue
        numbers = _NUMBER.findall(_stem(name))
        if not numbers or len(numbers[-1]) > 15:
            raise CheckpointError(
                f"{place} has no step number in its name: name checkpoints as step-500.safetensors"
            )
        step = int(numbers[-1])
        if step in steps:
            raise CheckpointError(f"{steps[step]} and {place} have the same step number, {step}")
        steps[step] = target
    if not steps:
        raise CheckpointError(
            f"{folder} has no checkpoints: .safetensors files, or folders of them"
        )
    if len(steps) > _MOST:
        raise CheckpointError(
            f"{folder} has {len(steps):,} checkpoints, at most {_MOST:,} are read"
        )
    return sorted(steps.items())


def _stem(name: str) -> str:
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _loss(checkpoint: Any, measure: Evaluation) -> float:
    if not isinstance(checkpoint, str | os.PathLike):
        raise CheckpointError("evaluate: the start must be a file to be measured")
    return measure(Path(checkpoint))
