"""What a run needs and this machine lacks: nothing, where all that it would compute is stored."""

import os

from tacit._doors import door, flag, instance, path, text
from tacit.experiments import Experiment
from tacit.reproduction._declaration import planned
from tacit.reproduction._listing import results_folder
from tacit.store import Store, StoreError


@door(answer="any", experiment=instance(Experiment), preset=text, results=path, fresh=flag)
def words_on_missing(
    experiment: Experiment,
    *,
    preset: str = "own",
    results: str | os.PathLike[str] | None = None,
    fresh: bool = False,
) -> str | None:
    """What this machine lacks to compute an experiment, in one sentence; None if nothing.

    Nothing is lacking where every cell is stored already: claims and figures read the store alone.

    **Arguments:**

    - `experiment`: one with its parameters.
    - `preset`: the name of the preset that they are of.
    - `results`: the folder of results; `TACIT_RESULTS` or `./results` if None.
    - `fresh`: whether what is stored will be moved aside.
    """
    lacking = experiment.missing()
    if lacking is None or fresh or not _is_stored(experiment, preset, results):
        return lacking
    return None


def _is_stored(experiment: Experiment, preset: str, results: str | os.PathLike[str] | None) -> bool:
    folder = results_folder(results) / experiment.id / "store"
    if not (folder / "store.json").is_file():
        return False
    try:
        plan = planned(experiment, preset)
        store = Store(folder, experiment=experiment.id, version=experiment.version, read_only=True)
        return store.status(plan).missing == 0
    except (StoreError, OSError, ValueError, RuntimeError):
        return False  # without its data it may not know what it stores
