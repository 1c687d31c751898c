"""Schedules: train, change the problem, and continue (warm) or start again (cold)."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, final

import numpy as np

from tacit._doors import check_fields, door, each, flag, instance, numbers, text
from tacit._types import PRNGKeyArray, precise
from tacit.descent._checks import PerLane, as_problem
from tacit.descent._descend import Method, descend
from tacit.descent._lanes import Lanes
from tacit.descent._method import as_method
from tacit.descent._problem import LossOrProblem
from tacit.descent._record import Record
from tacit.descent._result import DescentResult
from tacit.descent._stop import Stop

M = TypeVar("M")


@final
@dataclasses.dataclass(frozen=True)
class Warm:
    """Continue from where an earlier stage ended.

    Arguments:
    - `after`: the name of that stage; None is the one before.
    - `best`: from its iterate of least loss, in place of its last.
    """

    after: str | None = None
    best: bool = False

    def __post_init__(self) -> None:
        check_fields(self, after=text, best=flag)


@final
@dataclasses.dataclass(frozen=True)
class Cold:
    """Start again: from the schedule's own start, or from another `model` of the same kind."""

    model: Any = None


Start: TypeAlias = Warm | Cold


@final
@dataclasses.dataclass(frozen=True)
class Stage:
    """One descent of a schedule; all but `name` and `start` are arguments of `descend`.

    Arguments:
    - `name`: by which later stages and the result know it.
    - `problem`: a loss or a problem, or `Lanes` of them.
    - `method`, `stop`, `record`, `rate`, `key`, `hyperparameters`: as for `descend`.
    - `start`: `Warm()` (the default), `Warm(after=…)`, or `Cold()`. The first stage of a schedule
      starts at the schedule's start either way.
    """

    name: str
    problem: LossOrProblem[Any] | Lanes[Any]
    method: Method
    stop: Stop
    _: dataclasses.KW_ONLY
    start: Start = Warm()
    record: Record | None = None
    rate: PerLane | None = None
    key: PRNGKeyArray | Lanes[PRNGKeyArray] | None = None
    hyperparameters: Mapping[str, PerLane] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(
                f"name: received {self.name!r}, it must be a word; write for instance "
                "Stage('first', …)"
            )
        as_problem(self.problem.tree if isinstance(self.problem, Lanes) else self.problem)
        as_method(self.method)
        if self.record is not None:
            instance(Record)("record", self.record)
        if self.hyperparameters is not None:
            instance(Mapping)("hyperparameters", self.hyperparameters)
        if self.rate is not None:
            numbers(infinite=True, nan=True)("rate", self.rate)
        if not isinstance(self.start, Warm | Cold):
            raise ValueError(
                f"start: received {self.start!r}, it must be Warm(…) or Cold(…); leave it out to "
                "go on from the stage before"
            )
        if not isinstance(self.stop, Stop):
            raise ValueError(f"stop: received {self.stop!r}, it must be a Stop; write Stop(1000)")


@final
@dataclasses.dataclass(frozen=True)
class ScheduleResult(Generic[M]):
    """The descents of a schedule by the names of their stages, in order."""

    stages: dict[str, DescentResult[M]]
    parents: dict[str, str | None]  # the stage that each one continued; None: a start

    def __getitem__(self, name: str) -> DescentResult[M]:
        if name not in self.stages:
            raise KeyError(f"no stage {name!r}, there are {list(self.stages)}")
        return self.stages[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.stages)

    @property
    def last(self) -> DescentResult[M]:
        """The descent of the last stage."""
        return self.stages[list(self.stages)[-1]]

    def history(self, name: str) -> tuple[str, ...]:
        """The stages that led to the end of this one, itself last, since the latest cold
        start."""
        self[name]
        parent = self.parents[name]
        return (name,) if parent is None else (*self.history(parent), name)

    def converged(self, name: str) -> np.ndarray:
        """Which lanes converged in this stage and in every stage that led to it.

        A warm start from an unfinished run shows something else than one from a finished run.
        """
        ends = [np.asarray(self.stages[each].outcome) == "converged" for each in self.history(name)]
        return np.logical_and.reduce(ends)


@door(answer="any", stages=each(least=0), progress=flag, title=text)
@precise
def run_schedule(
    model: M, stages: Sequence[Stage], *, progress: bool | None = None, title: str = ""
) -> ScheduleResult[M]:
    """Run the stages one after another, from one model or `Lanes` of them.

    ```python
    result = run_schedule(model, [
        Stage("pre", few, flow, stop),
        Stage("warm", more, flow, stop),              # from where "pre" ended
        Stage("cold", more, flow, stop, start=Cold()),  # from the start again
    ])
    result["warm"].loss, result.converged("warm")
    ```

    Stages that share method, shapes and kind of problem share their compiled programs: adding
    observations to a mask costs no compilation. A method's own state (momenta, step sizes) starts
    afresh in every stage. A lane that diverged stays diverged.
    """
    if not stages:
        raise ValueError("stages: received none, there must be at least one; add a Stage")
    _check(stages)
    done: dict[str, DescentResult[M]] = {}
    parents: dict[str, str | None] = {}
    for stage in stages:
        begin, parent = _beginning(stage, model, done)
        done[stage.name] = descend(
            begin,
            stage.problem,
            stage.method,
            stop=stage.stop,
            record=stage.record,
            key=stage.key,
            rate=stage.rate,
            hyperparameters=stage.hyperparameters,
            progress=progress,
            title=", ".join(part for part in (title, stage.name) if part),
        )
        parents[stage.name] = parent
    return ScheduleResult(done, parents)


def _check(stages: Sequence[Stage]) -> None:
    """Wrong names are found before the first hour of training, not after it."""
    known: list[str] = []
    for place, stage in enumerate(stages):
        if not isinstance(stage, Stage):
            raise ValueError(
                f"stages[{place}]: received {stage!r}, it must be a Stage; write "
                "Stage(name, problem, method, stop)"
            )
        if stage.name in known:
            raise ValueError(
                f"stages[{place}].name: received {stage.name!r}, it must differ from the names of "
                "earlier stages; rename one"
            )
        after = stage.start.after if isinstance(stage.start, Warm) else None
        if after is not None and after not in known:
            raise ValueError(
                f"stages[{place}].start: received after = {after!r}, it must name an earlier "
                f"stage; choose one of {known}"
            )
        known.append(stage.name)


def _beginning(stage: Stage, model: M, done: dict[str, DescentResult[M]]) -> tuple[M, str | None]:
    """The model that a stage starts from, and the stage that made it."""
    if isinstance(stage.start, Cold):
        return (model if stage.start.model is None else stage.start.model), None
    if not done:
        return model, None
    parent = stage.start.after if stage.start.after is not None else list(done)[-1]
    return (done[parent].best if stage.start.best else done[parent].model), parent
