"""A trial: a check on many instances, with the worst of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.statements._instance import Instance, call_with_fields, draw_instance
from tacit.statements._statement import Statement

DrawInstance = Callable[[Statement, int, int, str], Instance]


@dataclass(frozen=True)
class Trial:
    """The outcome of a check on a number of instances.

    **Arguments:**

    - `instances`: how many were checked.
    - `margin`: the worst margin: the largest residual of an equality, the smallest slack of an
      inequality.
    - `worst`: the instance with that margin.
    - `met`: whether every instance satisfied the statement.
    """

    instances: int
    margin: float
    worst: Instance
    met: bool


def margin_of(
    statement: Statement, instance: Instance, constants: Mapping[str, Any] | None = None
) -> float:
    """The margin of one instance; a NaN counts as the worst possible margin."""
    margin = float(call_with_fields(statement.check, instance, "the check", **(constants or {})))
    return statement.worst_possible if np.isnan(margin) else margin


def try_statement(
    statement: Statement,
    *,
    instances: int | None = None,
    seed: int = 0,
    constants: Mapping[str, Any] | None = None,
    without: str = "",
    until_failure: bool = False,
    draw: DrawInstance = draw_instance,
) -> Trial:
    """Check a statement, perhaps with other constants or without one of its hypotheses.

    **Arguments:**

    - `instances`: how many; the statement's own number by default.
    - `seed`: of the instances.
    - `constants`: constants of the check in place of the true ones.
    - `without`: the hypothesis that the instances must break.
    - `until_failure`: whether to stop at the first instance that does not satisfy the statement.
    - `draw`: draws an instance. With `functools.cache(draw_instance)` trials share their instances.
    """
    count = statement.instances if instances is None else instances
    if count < 1:
        raise ValueError(f"instances: received {count!r}, allowed is an integer of at least 1")
    trial: Trial | None = None
    for index in range(count):
        instance = draw(statement, seed, index, without)
        margin = margin_of(statement, instance, constants)
        if trial is None or statement.is_worse(margin, trial.margin):
            trial = Trial(index + 1, margin, instance, statement.is_met(margin))
        else:
            trial = Trial(index + 1, trial.margin, trial.worst, trial.met)
        if until_failure and not trial.met:
            break
    assert trial is not None
    return trial
