"""References: what a preset gave when it was last looked at, committed as JSON."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.claims import Claim
from tacit.experiments import Experiment


@dataclass(frozen=True)
class Reference:
    """A committed run of a preset.

    **Arguments:**

    - `claims`: its claims.
    - `parameters`: all parameters of the preset, in words; None in a file of an older tacit.
    - `digest`: its stored variables in a few numbers each; None in a file of an older tacit.
    - `rounding`: what its rounding errors depend on, see `tacit.store.rounding`.
    """

    claims: tuple[Claim, ...]
    parameters: Mapping[str, str] | None
    digest: Mapping[str, Mapping[str, Any]] | None
    rounding: str = ""


def reference_path(experiment: Experiment | type[Experiment], preset: str) -> Path:
    """`reference/<figure>.<preset>.json` beside the file that defines the experiment."""
    figure = experiment.id.rpartition("/")[2]
    kind = experiment if isinstance(experiment, type) else type(experiment)
    return Path(inspect.getfile(kind)).parent / "reference" / f"{figure}.{preset}.json"


def load_reference(experiment: Experiment | type[Experiment], preset: str) -> Reference | None:
    """The reference of a preset, None when there is none.

    The file is the `claims.json` of a run: copy it there to make that run the reference.
    """
    try:
        record = json.loads(reference_path(experiment, preset).read_bytes())
    except FileNotFoundError:
        return None
    return Reference(
        claims=tuple(Claim.from_dict(claim) for claim in record["claims"]),
        parameters=record.get("parameters"),
        digest=record.get("digest"),
        rounding=record.get("rounding", ""),
    )


def in_words(experiment: Experiment) -> dict[str, str]:
    """All parameters, each as a string: `0, …, 9` where integers follow one another."""
    return {name: _written(getattr(experiment, name)) for name in experiment.parameters()}


def _written(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    whole = all(type(item) is int for item in value)
    if whole and len(value) > 2 and value == tuple(range(value[0], value[-1] + 1)):
        return f"{value[0]}, …, {value[-1]}"
    return ", ".join(map(str, value))
