"""Run an experiment: sweep, dataset, claims, figure, files."""

import functools
import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.experiments._base import OUTCOMES, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import ReproductionError, UsageError, nearest
from tacit.experiments._registry import find_experiment
from tacit.experiments._reproduction import Reproduction
from tacit.store import PRESENT, Plan, Store, write_atomically
from tacit.sweep import Batch, Progress, SweepSummary, run_sweep

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class _ExperimentCell:
    """An experiment's cell as the sweep's function.

    A worker finds the experiment by its source, an id or a file, and makes the config there from
    plain values: the classes of a user's file have no name that another process could import.
    """

    experiment: Experiment | str
    version: int
    values: Mapping[str, Any]

    def __call__(self, batch: Batch, fixed: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self.experiment
        experiment = _found(found) if isinstance(found, str) else found
        if experiment.version != self.version:
            raise ValueError(
                f"this worker has version {experiment.version} of {experiment.id}, asked for is "
                f"{self.version}: install the same tacit (or the same file) there"
            )
        own = {name: batch.values(name) for name in batch.cells[0]}
        arrays = experiment.cell(batch, experiment.Config(**{**self.values, **own}))
        words = {str(word) for word in np.ravel(arrays.get("outcome", []))}
        if not words <= set(OUTCOMES):
            wrong = sorted(words - set(OUTCOMES))
            raise ValueError(f"outcome: received {wrong}, allowed are {list(OUTCOMES)}")
        return arrays


# Once a process: what a file's functions have compiled must last from batch to batch.
_found = functools.cache(find_experiment)


def results_folder(results: str | os.PathLike[str] | None = None) -> Path:
    """The folder of all results: the one given, else `TACIT_RESULTS`, else `./results`."""
    return Path(results if results is not None else os.environ.get("TACIT_RESULTS") or "results")


def last_result(
    experiment_id: str, results: str | os.PathLike[str] | None = None
) -> dict[str, Any] | None:
    """What the last run of an experiment wrote to `claims.json`, None when there is none."""
    try:
        record = json.loads((results_folder(results) / experiment_id / "claims.json").read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def configured(
    experiment: Experiment, preset: str, seeds: int | None, overrides: Mapping[str, Any]
) -> Config:
    """A preset with other values, or a `UsageError`."""
    if preset not in experiment.presets:
        hint = nearest(preset, experiment.presets)
        raise UsageError(f"preset: {experiment.id} has no preset {preset!r}, {hint}")
    if seeds is not None and "seed" in overrides:
        raise UsageError(f"seeds: received {seeds} and values for seed, give one of the two")
    config = experiment.presets[preset].with_overrides(overrides)
    return config if seeds is None else config.with_seeds(seeds)


def reproduce(
    experiment: str | Experiment,
    *,
    preset: str = "quick",
    seeds: int | None = None,
    results: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    retries: int = 1,
    progress: Progress | None = None,
    **overrides: Any,
) -> Reproduction:
    """Run an experiment and write its results to `results/ID/`.

    Cells that are stored already are not computed again, so that a second run is quick, and other
    values of a parameter or more seeds extend what is there.

    **Arguments:**

    - `experiment`: an id (`"lowdim/fig1a"`), a file (`"mine.py"` or `"mine.py:MyFigure"`), or an
      `Experiment`.
    - `preset`: the set of parameters to start from.
    - `seeds`: run the seeds 0, …, seeds − 1.
    - `results`: the folder of results; `TACIT_RESULTS` or `./results` if None.
    - `fresh`: move the store that is there aside and start anew.
    - `executor`: any `concurrent.futures.Executor`; None computes in this process. See
      `tacit.sweep.ProcessWorkers` and `tacit.sweep.dask_workers`.
    - `retries`: how often a batch that raised is tried again, before its cells are tried alone.
    - `progress`: called with a `tacit.sweep.SweepEvent` as batches are handed out and end.
    - `overrides`: other values of parameters: `width=[40, 100]`.
    """
    start = time.perf_counter()
    found = find_experiment(experiment) if isinstance(experiment, str) else experiment
    config = configured(found, preset, seeds, overrides)
    lacking = found.missing()
    if lacking is not None:
        raise UsageError(f"{found.id}: {lacking}")
    plan = planned(found, config, preset)
    folder = _made(results_folder(results) / found.id)
    if fresh:
        Store.move_aside(folder / "store")
    store = Store(folder / "store", experiment=found.id, version=found.version)
    store.keep_plan(plan)

    here = executor is None or found.source is None
    summary = run_sweep(
        found.grid(config),
        config.fixed(),
        _ExperimentCell(
            found if here else str(found.source), found.version, config.axes() | config.fixed()
        ),
        store,
        variables=plan.variables,
        coords=plan.coords,
        executor=executor,
        retries=retries,
        progress=progress,
    )
    dataset = store.dataset(plan.axes, plan.fixed, plan.variables, plan.coords, attrs=plan.attrs)
    _mark_failed(found, dataset, summary)
    store.consolidate(plan)
    claims = tuple(found.claims(dataset, config))
    if len({claim.name for claim in claims}) != len(claims):
        raise ValueError(f"{found.id}: two claims have one name in {[c.name for c in claims]}")
    reproduction = Reproduction(
        experiment=found,
        config=config,
        preset=preset,
        dataset=dataset,
        claims=claims,
        outcomes=_counted(dataset["outcome"].values),
        seconds=time.perf_counter() - start,
        path=folder,
        summary=summary,
        warnings=tuple(store.warnings),
    )
    _write(reproduction)
    return reproduction


def planned(experiment: Experiment, config: Config, name: str) -> Plan:
    """The grid of a config with what is declared of its cells, checked before anything runs."""
    variables, coords = experiment.variables(config), experiment.coordinates(config)
    if "outcome" not in variables or variables["outcome"].dims:
        raise ValueError(f"{experiment.id}: variables must declare 'outcome', one word a cell")
    names = [*config.parameters(), *coords, *variables, PRESENT]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{experiment.id}: {twice} names two of parameters, coordinates, variables"
        )
    attrs = {n: {"long_name": p.doc, "units": p.units} for n, p in config.parameters().items()}
    return Plan(config.axes(), config.fixed(), variables, coords, attrs, name)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"results: the folder {str(folder)!r} cannot be made: {error.strerror}"
        ) from error
    return folder


def _mark_failed(experiment: Experiment, dataset: "xarray.Dataset", summary: SweepSummary) -> None:
    """A cell without a result ends as `failed`; a run without any result is an error."""
    present = dataset[PRESENT].values
    if summary.failed and not present.any():
        first = summary.failed[0]
        error = ReproductionError(
            f"{experiment.id}: every batch failed, the first ({first.batch.label}) with "
            f"{first.message}"
        )
        error.add_note(first.traceback)
        raise error
    words = np.where(present, dataset["outcome"].values, "failed")
    dataset["outcome"] = (dataset["outcome"].dims, words, dataset["outcome"].attrs)


def _counted(outcomes: np.ndarray) -> dict[str, int]:
    counts = {name: int(np.sum(outcomes == name)) for name in OUTCOMES}
    return {name: count for name, count in counts.items() if count}


def _write(reproduction: Reproduction) -> None:
    from tacit.draw import save_both

    text = json.dumps(reproduction.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)
    write_atomically(reproduction.path / "claims.json", f"{text}\n".encode())
    save_both(reproduction.figure(), reproduction.path / "figure")
