"""What other values of the axes than the preset's mean for the claims, in sentences."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.claims import SEED, Claim
from tacit.experiments import Experiment
from tacit.reproduction._readers import values_unread
from tacit.reproduction._reference import load_reference

if TYPE_CHECKING:
    import xarray


def remarks_on(
    experiment: Experiment, preset: str, runs: "xarray.Dataset", claims: Sequence[Claim]
) -> tuple[str, ...]:
    """Which added values no claim reads, and which of the preset's claims have lost their runs.

    Nothing is said of seeds, of values that the preset has too, or of an experiment without claims.
    """
    kind = type(experiment)
    usual = (kind.from_preset(preset) if preset in kind.presets else kind()).axes()
    asked = {name: values for name, values in experiment.axes().items() if name != SEED}
    said = []
    for name, values in asked.items():
        common = set(usual[name])
        added = [value for value in values if value not in common]
        unread = values_unread(experiment, runs, claims, name, added) if claims else []
        if unread:
            said.append(f"no claim reads {name} = {', '.join(map(_written, unread))}")
    fewer = [name for name, values in asked.items() if set(usual[name]) - set(values)]
    lost = _lost(experiment, preset, claims) if fewer else []
    if lost:
        said.append(
            f"with these values of {', '.join(fewer)} these claims have no runs: {'; '.join(lost)}"
        )
    return tuple(said)


def _lost(experiment: Experiment, preset: str, claims: Sequence[Claim]) -> list[str]:
    """Claims without a measured number, and those of the reference that were not made at all."""
    reference = load_reference(experiment, preset)
    made = {claim.name for claim in claims}
    usual = reference.claims if reference is not None else ()
    without = [claim.name for claim in claims if math.isnan(claim.measured)]
    return [*without, *(claim.name for claim in usual if claim.name not in made)]


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
