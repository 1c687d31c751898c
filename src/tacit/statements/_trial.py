"""A trial: a check on many instances, and the worst of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.statements._instance import Instance, call, draw_instance, require_hypotheses
from tacit.statements._statement import Statement


@dataclass(frozen=True)
class Trial:
    """What a check said of `instances` instances.

    **Arguments:**

    - `margin`: the worst: the largest residual of an equality, the smallest slack of an inequality.
    - `worst`: the instance that has it.
    - `met`: whether every instance satisfied the statement.
    """

    instances: int
    margin: float
    worst: Instance
    met: bool


def margin_of(
    statement: Statement, instance: Instance, constants: Mapping[str, Any] | None = None
) -> float:
    """The margin of one instance; what is not a number is as bad as can be."""
    margin = float(call(statement.check, instance, "the check", **(constants or {})))
    return statement.hopeless if np.isnan(margin) else margin


def try_statement(
    statement: Statement,
    *,
    instances: int | None = None,
    seed: int = 0,
    constants: Mapping[str, Any] | None = None,
    without: str = "",
    until_failure: bool = False,
) -> Trial:
    """Check a statement, perhaps with other constants or without one of its hypotheses.

    **Arguments:**

    - `instances`: how many; the statement's own number unless given.
    - `constants`: keyword arguments of the check in place of the true ones.
    - `without`: the hypothesis that the instances shall break.
    - `until_failure`: stop at the first instance that does not satisfy the statement.
    """
    count = statement.instances if instances is None else instances
    trial: Trial | None = None
    for index in range(count):
        instance = draw_instance(statement, seed, index, without)
        require_hypotheses(statement, instance)
        margin = margin_of(statement, instance, constants)
        if trial is None or statement.worse(margin, trial.margin):
            trial = Trial(index + 1, margin, instance, statement.is_met(margin))
        else:
            trial = Trial(index + 1, trial.margin, trial.worst, trial.met)
        if until_failure and not trial.met:
            break
    assert trial is not None
    return trial
