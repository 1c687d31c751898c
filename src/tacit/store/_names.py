"""The names that a store may have, and the two variables that every dataset has."""

import re

from tacit._errors import shown
from tacit.store._errors import StoreError

PRESENT = "present"  # which cells are stored
OUTCOME = "outcome"  # how a cell ended
OUTCOMES = ("converged", "stopped", "diverged", "stalled", "failed")

MOST_CELLS = 2_000_000
"""Of a grid: to look each of them up takes a minute, and a gigabyte for their addresses."""

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*")
_LONGEST_ID = 200  # folders have its parts as their names, of which 255 bytes are allowed
_HIGHEST_VERSION = 10**9


def is_id(experiment: object) -> bool:
    """Whether it is an experiment's id: `paper/figure`, and so a path that leads nowhere else."""
    return (
        isinstance(experiment, str)
        and len(experiment) <= _LONGEST_ID
        and _ID.fullmatch(experiment) is not None
    )


def check_identity(experiment: object, version: object) -> None:
    """A `StoreError` unless these can be the experiment and the version of a store."""
    if not is_id(experiment):
        raise StoreError(
            f"experiment: received {shown(experiment)}, the form is 'paper/figure': lower-case "
            f"letters, digits, '-' and '_', at most {_LONGEST_ID} characters"
        )
    whole = isinstance(version, int) and not isinstance(version, bool)
    if not whole or not 1 <= version <= _HIGHEST_VERSION:  # type: ignore[operator]
        raise StoreError(
            f"version: received {shown(version)}, allowed is an integer from 1 to "
            f"{_HIGHEST_VERSION:,}"
        )
