"""Reference claims: what a preset gave when it was last looked at, committed as JSON."""

import inspect
import json
from pathlib import Path

from tacit.claims import Claim
from tacit.experiments._experiment import Experiment


def reference_path(experiment: Experiment | type[Experiment], preset: str) -> Path:
    """`reference/<figure>.<preset>.json` beside the file that defines the experiment."""
    figure = experiment.id.rpartition("/")[2]
    kind = experiment if isinstance(experiment, type) else type(experiment)
    return Path(inspect.getfile(kind)).parent / "reference" / f"{figure}.{preset}.json"


def load_reference(experiment: Experiment | type[Experiment], preset: str) -> list[Claim] | None:
    """The reference claims of a preset, None when there are none.

    The file is the `claims.json` of a run: copy it there to make that run the reference.
    """
    try:
        record = json.loads(reference_path(experiment, preset).read_bytes())
    except FileNotFoundError:
        return None
    return [Claim.from_dict(claim) for claim in record["claims"]]
