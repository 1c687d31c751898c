"""How sharp a check is: the smallest change of each of its constants that it notices."""

import dataclasses
import functools
import hashlib
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from tacit.statements._instance import Instance, draw_instance
from tacit.statements._sharpness._numbers import Number
from tacit.statements._sharpness._rewritten import Rewritten, bare_source
from tacit.statements._statement import Statement, StatementError
from tacit.statements._trial import DrawInstance, margin_of

CHANGES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
"""The relative changes that are tried, up and down."""

_TENTH = CHANGES.index(0.1)


def measure_statement(
    statement: Statement, *, skip: Container[str] = (), draw: DrawInstance | None = None
) -> dict[str, float | None]:
    """The smallest change of each constant, up or down, that the check notices.

    A change is noticed if the check fails, or breaks, on one of the statement's instances of seed
    0. Constants are the keyword-only arguments that are numbers, and the numbers in the source
    (see `_numbers.py`) that the check reads on these instances. A number that must be whole, so
    that a tenth of it breaks the check with an error that asks for an integer, is no constant; nor
    is an argument that is named a sign.

    **Arguments:**

    - `statement`: whose check is measured.
    - `skip`: constants that are left out, because another check is known to notice them best.
    - `draw`: as for `try_statement`.

    **Returns:** a constant's name, or its place and the source around it → one of `CHANGES`, or
    None where not even doubling it or dropping it is noticed.
    """
    rewritten = Rewritten(statement.check)
    changeable = dataclasses.replace(statement, check=rewritten.check)
    share = draw or functools.cache(draw_instance)
    instances = [share(statement, 0, index, "") for index in range(statement.instances)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for instance in instances:
            margin_of(changeable, instance)
        read = sorted(rewritten.table.read)  # with the true constants
        found: dict[str, float | None] = {}
        for name, value in statement.constants.items():
            if _is_number(value) and "sign" not in name and name not in skip:
                change = functools.partial(_with_argument, name, value)
                _add(found, name, _Search(changeable, instances, change))
        names = _names_of(rewritten.numbers)
        for index in read:
            if names[index] not in skip:
                value = rewritten.numbers[index].value
                change = functools.partial(_with_number, rewritten.table, index, value)
                _add(found, names[index], _Search(changeable, instances, change))
    return found


def digest_of(statement: Statement) -> str:
    """A digest of what the sharpness depends on: the check, its bound and its generator."""
    parts = [
        Rewritten(statement.check).source,
        bare_source(statement.draw),
        repr((sorted(statement.constants.items()), statement.kind)),
        repr((statement.tolerance, statement.instances)),
    ]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def _add(found: dict[str, float | None], name: str, search: "_Search") -> None:
    noticed = search.smallest()
    if not search.whole:
        found[name] = noticed


def _names_of(numbers: list[Number]) -> list[str]:
    """A name for each number: its place and the source around it, counted where it is twice."""
    seen: Counter[str] = Counter()
    names = []
    for number in numbers:
        name = f"{number.place}: {number.value:g} in {number.text}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _is_number(value: Any) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and value != 0 and math.isfinite(value)


def _asks_for_an_integer(cause: BaseException | None) -> bool:
    """Whether an index, a shape or a count was not whole. Other errors are of the arithmetic."""
    words = re.search("integer|non-int", str(cause))
    return isinstance(cause, TypeError | IndexError) and words is not None


def _with_argument(name: str, value: float, by: float, fails: Callable[..., bool]) -> bool:
    return fails({name: value * (1 + by)})


def _with_number(
    table: list[Any], index: int, value: float, by: float, fails: Callable[..., bool]
) -> bool:
    table[index] = value * (1 + by)
    try:
        return fails({})
    finally:
        table[index] = value


class _Search:
    """The search for the smallest change of one constant that is noticed."""

    def __init__(
        self, statement: Statement, instances: list[Instance], change: Callable[..., bool]
    ) -> None:
        self.statement, self.instances, self.change = statement, instances, change
        self.whole = False
        self.signs = [1, -1]

    def smallest(self) -> float | None:
        """The smallest of `CHANGES`. What notices a change is taken to notice larger ones."""
        if self.notices(CHANGES[_TENTH]):
            if self.notices(CHANGES[0]):
                return CHANGES[0]
            smaller = reversed(CHANGES[1:_TENTH])
            last = CHANGES[_TENTH]
            for change in smaller:
                if not self.notices(change):
                    break
                last = change
            return last
        if self.whole:
            return None
        return next((by for by in CHANGES[_TENTH + 1 :] if self.notices(by)), None)

    def notices(self, by: float) -> bool:
        """Whether a change up or down is noticed; the sign that was noticed is tried first."""
        for sign in list(self.signs):
            if self.change(sign * by, self.fails):
                self.signs.sort(key=lambda one: one != sign)
                return True
        return False

    def fails(self, constants: Mapping[str, Any]) -> bool:
        """Whether the check fails on an instance, which is then tried first the next time."""
        for place, instance in enumerate(self.instances):
            try:
                met = self.statement.is_met(margin_of(self.statement, instance, constants))
            except StatementError as error:
                if _asks_for_an_integer(error.__cause__):
                    self.whole = True
                    return False
                met = False
            if not met:
                self.instances.insert(0, self.instances.pop(place))
                return True
        return False
