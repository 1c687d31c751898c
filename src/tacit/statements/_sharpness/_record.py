"""The record of how sharp each check is, which comes with the package."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit._errors import UsageError
from tacit.statements._registry import find_statements
from tacit.statements._sharpness._measure import CHANGES, digest_of, measure_statement
from tacit.statements._statement import Statement

RECORD = Path(__file__).parent / "sharpness.json"
SHARP = 0.1
"""A constant is sharp if a change of a tenth, or a smaller one, is noticed."""


@dataclass(frozen=True)
class Constant:
    """A constant of a statement and the smallest relative change of it that the check notices.

    **Arguments:**

    - `name`: of the keyword-only argument, or the function and the source around the number.
    - `noticed`: one of 0.001, 0.01, 0.03, 0.1, 0.3 and 1; None if not even 1 is noticed.
    - `because`: why it is no smaller, for a constant that is not sharp.
    """

    name: str
    noticed: float | None
    because: str = ""

    @property
    def is_sharp(self) -> bool:
        """Whether a change of a tenth is noticed."""
        return self.noticed is not None and self.noticed <= SHARP


@dataclass(frozen=True)
class Sharpness:
    """How sharp the check of a statement is: its `constants`, the least sharp ones first."""

    constants: tuple[Constant, ...]

    @property
    def worst(self) -> float | None:
        """The smallest change that is noticed for every constant; None if there is no such one."""
        if not self.constants:
            return None
        return self.constants[0].noticed

    def __str__(self) -> str:
        if not self.constants:
            return "–"
        return f"{100 * self.worst:g}%" if self.worst is not None else "> 100%"

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's types; the constants that are not sharp are named."""
        return {
            "worst": self.worst,
            "constants": len(self.constants),
            "sharp": sum(one.is_sharp for one in self.constants),
            "loose": [
                {"constant": one.name, "noticed": one.noticed, "because": one.because}
                for one in self.constants
                if not one.is_sharp
            ],
        }


def sharpness_of(statement: Statement) -> Sharpness | None:
    """What the record says of a statement; None if it is not in there.

    A number in a function that several checks call counts for the check that notices it best (the
    first of them, if several do).
    """
    constants = _attributed().get(statement.id)
    if constants is None:
        return None
    found = [
        Constant(name, noticed, "" if _is_sharp(noticed) else _reason(statement, name))
        for name, noticed in constants.items()
    ]
    found.sort(key=lambda one: -(one.noticed or 2.0))
    return Sharpness(tuple(found))


def measure_sharpness(
    *targets: str | Statement,
    known: dict[str, Any] | None = None,
    progress: Callable[[Statement], None] | None = None,
) -> dict[str, Any]:
    """Measure how sharp the checks of statements are: the content of the record.

    **Arguments:**

    - `targets`: as for `verify`; if there is none, the statements that `known` lacks or has for
      another source.
    - `known`: a record, of which the other statements are kept. A number that one of them notices
      at the smallest change is not measured again.
    - `progress`: called with each statement before it is measured.
    """
    registered = [one.id for one in find_statements()]
    old = {} if known is None else known["statements"]
    chosen = find_statements(*targets) if targets else _stale(old)
    new: dict[str, Any] = {}
    measured = {one.id for one in chosen}
    sharpest = {
        name
        for statement, entry in old.items()
        if statement not in measured
        for name, at in entry["constants"].items()
        if _is_shared(name) and at == CHANGES[0]
    }
    for statement in chosen:
        if progress is not None:
            progress(statement)
        constants = measure_statement(statement, skip=sharpest)
        new[statement.id] = {"digest": digest_of(statement), "constants": constants}
        sharpest |= {
            name for name, at in constants.items() if _is_shared(name) and at == CHANGES[0]
        }
    every = {**old, **new}
    return {
        "changes": list(CHANGES),
        "statements": {name: every[name] for name in registered if name in every},
    }


def record_text(record: dict[str, Any]) -> str:
    """A record as JSON with one constant in a line."""
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def read_record(path: Path = RECORD) -> dict[str, Any]:
    """Read a record."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record["statements"], dict):
            raise TypeError("statements must be an object")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"sharpness: received {str(path)!r}, which cannot be read as a record of sharpness "
            f"({error}); delete it and measure again"
        ) from error
    found: dict[str, Any] = record
    return found


def stale_statements() -> list[str]:
    """The registered statements that the record lacks, or has for another source."""
    return [one.id for one in _stale(read_record()["statements"])]


def _stale(known: dict[str, Any]) -> list[Statement]:
    return [
        one
        for one in find_statements()
        if one.id not in known or known[one.id]["digest"] != digest_of(one)
    ]


@functools.cache
def _attributed() -> dict[str, dict[str, float | None]]:
    """The constants of each statement, with those that are shared at the sharpest statement."""
    statements: dict[str, Any] = read_record()["statements"] if RECORD.exists() else {}
    best: dict[str, tuple[float, str]] = {}
    for name, entry in statements.items():
        for constant, noticed in entry["constants"].items():
            value = 2.0 if noticed is None else noticed
            if _is_shared(constant) and value < best.get(constant, (3.0, ""))[0]:
                best[constant] = value, name
    return {
        name: {
            constant: noticed
            for constant, noticed in entry["constants"].items()
            if not _is_shared(constant) or best[constant][1] == name
        }
        for name, entry in statements.items()
    }


def _is_shared(constant: str) -> bool:
    """Whether a constant is a number in the source, which several checks may read."""
    return ": " in constant


def _is_sharp(noticed: float | None) -> bool:
    return noticed is not None and noticed <= SHARP


def _reason(statement: Statement, name: str) -> str:
    """What the statement says about a constant that is not sharp."""
    if not _is_shared(name):
        return statement.loose.get(name, "")
    pieces = {text: why for text, why in statement.loose.items() if text not in statement.constants}
    return next((why for text, why in pieces.items() if text in name), "")
