"""Run an experiment: sweep, dataset, claims, figure, files."""

import contextlib
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit._doors import door, flag, function, having, number, path, text, whole
from tacit._errors import UsageError, shown
from tacit._files import FileKindError, folder_within, remove_stale
from tacit._phases import phase
from tacit.claims import SEED, Claim, DecidedClaims
from tacit.experiments import OUTCOMES, Experiment, accelerated
from tacit.reproduction._cell import ExperimentCell
from tacit.reproduction._changed_code import refuse_changed, words_on_changes
from tacit.reproduction._declaration import check_experiment, planned
from tacit.reproduction._fingerprint import chooses_x64, fingerprint
from tacit.reproduction._kept import keep_other
from tacit.reproduction._listing import PAGE_FILE, last_result, results_folder
from tacit.reproduction._missing import words_on_missing
from tacit.reproduction._more_seeds import (
    BUDGET_SECONDS,
    SEEDS_AT_MOST,
    Effort,
    MoreSeeds,
    OutOfTimeError,
    dataset_of,
)
from tacit.reproduction._page_record import claims_text, page_record
from tacit.reproduction._registry import find_experiment
from tacit.reproduction._remarks import remarks_on
from tacit.reproduction._reproduction import Reproduction
from tacit.store import PRESENT, Store, write_atomically
from tacit.sweep import Grid, Progress, SweepEvent, SweepSummary, run_sweep

if TYPE_CHECKING:
    import xarray

NO_RUN = "without a run"
_PAPER = "paper"  # the preset that adds seeds until its claims are decided, unless told otherwise


class ReproductionError(RuntimeError):
    """A run without any result: every batch failed. Its notes hold the first traceback."""


@door(
    answer="any",
    preset=text,
    results=path,
    fresh=flag,
    accept_changed=flag,
    until_decided=flag,
    budget=number(0, infinite=True),
    seeds_at_most=whole(1),
    retries=whole(),
    progress=function,
    executor=having("submit"),
)
def reproduce(
    experiment: str | type[Experiment] | Experiment,
    *,
    preset: str | None = None,
    seeds: int | range | None = None,
    results: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    accept_changed: bool = False,
    until_decided: bool | None = None,
    budget: float = BUDGET_SECONDS,
    seeds_at_most: int = SEEDS_AT_MOST,
    executor: Executor | None = None,
    retries: int = 1,
    progress: Progress | None = None,
    **overrides: Any,
) -> Reproduction:
    """Run an experiment and write its results to `results/ID/`.

    Cells that are stored already are not computed again, so that a second run is quick, and other
    values of a parameter or more seeds extend what is there.

    **Arguments:**

    - `experiment`: an id (`"lowdim/fig1a"`), a file (`"mine.py"` or `"mine.py:MyFigure"`), an
      `Experiment` class, or one with its parameters: `Fig3b(width=(40, 100))`.
    - `preset`: the set of parameters to start from, "quick" by default; an experiment with its
      parameters takes none.
    - `seeds`: run the seeds 0, …, N − 1 for a number N, or those of a range.
    - `results`: the folder of results; `TACIT_RESULTS` or `./results` if None.
    - `fresh`: move the existing store aside and start over.
    - `accept_changed`: keep stored cells that other code has computed than the experiment has now;
      they are refused otherwise. It is remembered with the store.
    - `until_decided`: add seeds to the cells that undecided claims read, and to no others, until
      every claim is decided, `seeds_at_most` is reached, or `budget` seconds have passed; None does
      so at the preset `paper`.
    - `executor`: any `concurrent.futures.Executor`; None computes in this process, on an
      accelerator in as many threads as the experiment's `at_once` says. See
      `tacit.sweep.ProcessWorkers` and `tacit.sweep.dask_workers`.
    - `retries`: how often a batch that raised is tried again, before its cells are tried alone.
    - `progress`: called with a `tacit.sweep.SweepEvent` as batches are handed out and end.
    - `overrides`: other values of parameters: `width=[40, 100]`.
    """
    start = time.perf_counter()
    if not budget >= 0:
        raise UsageError(f"budget: received {budget}, it must be at least 0 seconds")
    if seeds_at_most < 1:
        raise UsageError(f"seeds_at_most: received {seeds_at_most}, it must be at least 1")
    name, chosen = _chosen(experiment, preset, seeds, overrides)
    lacking = words_on_missing(chosen, preset=name, results=results, fresh=fresh)
    if lacking is not None:
        raise UsageError(f"{chosen.id}: {lacking}")
    plan = planned(chosen, name)
    folder = _created(results_folder(results), chosen.id)
    remove_stale(results_folder(results), of="index.html")  # of runs that were killed
    if (folder / "store").is_dir():  # else the folder may be anybody's
        remove_stale(folder)
    if fresh:
        Store.move_aside(folder / "store")
    store = Store(folder / "store", experiment=chosen.id, version=chosen.version)
    # Until the last file is written, so that nobody moves it aside.
    with store.at_work(), _workers(chosen, executor) as workers:
        kind = type(chosen)
        code = fingerprint(chosen)
        refuse_changed(store, plan, chosen, code, accept=accept_changed)
        own_x64 = code is None or chooses_x64(kind)
        if not own_x64 and _in_64_bits():
            store.warnings.append(
                f"{chosen.id}: JAX_ENABLE_X64 is set, and its cells are computed without, as by "
                'default; jax.config.update("jax_enable_x64", True) in its file is for them'
            )
        store.fit(plan, code=code)
        store.keep_plan(plan)

        by_name = kind.source if executor is not None else None
        values = chosen.axes() | chosen.constants()
        cell = ExperimentCell(by_name or kind, kind.version, values, code)

        def sweep(grid: Grid, deadline: float = math.inf) -> SweepSummary:
            with phase("running"):
                return run_sweep(
                    grid,
                    chosen.constants(),
                    cell,
                    store,
                    variables=plan.variables,
                    coords=plan.coords,
                    code=code,
                    own_x64=own_x64,
                    executor=workers,
                    retries=retries,
                    progress=_until(deadline, progress),
                )

        summary = sweep(chosen.grid())
        dataset = dataset_of(store, plan)
        _check_results(chosen, dataset, summary)
        claims = _decided(chosen, dataset)
        remarks = remarks_on(chosen, name, dataset, claims)
        efforts: dict[str, Effort] = {}
        if SEED in plan.axes:
            more = MoreSeeds(chosen, plan, store, dataset, claims, _decided)
            if name == _PAPER if until_decided is None else until_decided:
                lacking = chosen.missing()  # though every cell is stored
                more.run(
                    lambda grid, deadline: summary.add(sweep(grid, deadline)),
                    budget=budget if lacking is None else 0.0,
                    seeds_at_most=seeds_at_most,
                )
                if lacking is not None and more.undecided():
                    store.warnings.append(f"{chosen.id}: no seeds are added: {lacking}")
            claims, plan = more.claims, more.extended_plan()
            efforts = more.efforts(at_a_time=_at_a_time(workers))
        store.keep_plan(plan)
        store.consolidate(plan)
        reproduction = Reproduction(
            experiment=chosen,
            preset=name,
            dataset=dataset,
            claims=claims,
            outcomes=_counted(chosen, dataset),
            efforts=efforts,
            rounding=store.rounding(plan),
            seconds=time.perf_counter() - start,
            path=folder,
            summary=summary,
            warnings=tuple(store.warnings),
            remarks=remarks,
        )
        _write(reproduction, store)
        return reproduction


def stored_run(
    experiment: str | type[Experiment] | Experiment,
    *,
    preset: str | None = None,
    seeds: int | range | None = None,
    results: str | os.PathLike[str] | None = None,
    **overrides: Any,
) -> Reproduction:
    """What is stored of an experiment, as `reproduce` gives it; nothing is computed or written.

    The arguments are those of `reproduce`; without a preset it is the last run's. Cells that are
    missing are a `UsageError`.
    """
    start = time.perf_counter()
    if isinstance(experiment, str):
        experiment = find_experiment(experiment)
    if preset is None and isinstance(experiment, type):
        last = (last_result(experiment.id, results) or {}).get("preset")
        preset = last if last in experiment.presets else None
    name, chosen = _chosen(experiment, preset, seeds, overrides)
    plan = planned(chosen, name)
    folder = results_folder(results) / chosen.id
    missing = len(plan)
    if (folder / "store" / "store.json").is_file():
        store = Store(
            folder / "store", experiment=chosen.id, version=chosen.version, read_only=True
        )
        store.fit(plan)
        store.warnings += words_on_changes(store, plan, chosen)
        missing = store.status(plan).missing
    if missing:
        raise UsageError(
            f"{chosen.id}: {missing} of {len(plan)} cells of {name} are not stored in "
            f"{str(folder)!r}; run it first, with the same parameters: tacit reproduce {chosen.id}"
        )
    dataset = dataset_of(store, plan)
    claims = _decided(chosen, dataset)
    remarks = remarks_on(chosen, name, dataset, claims)
    if name == _PAPER and SEED in plan.axes:  # with the seeds that were added to decide claims
        more = MoreSeeds(chosen, plan, store, dataset, claims, _decided)
        more.run(lambda grid, deadline: None, budget=0)
        claims = more.claims
    return Reproduction(
        experiment=chosen,
        preset=name,
        dataset=dataset,
        claims=claims,
        outcomes=_counted(chosen, dataset),
        efforts={},
        rounding=store.rounding(plan),
        seconds=time.perf_counter() - start,
        path=folder,
        summary=SweepSummary(),
        warnings=tuple(store.warnings),
        remarks=remarks,
    )


def _in_64_bits() -> bool:
    """Whether this process has asked JAX for numbers of 64 bits, if it has JAX by now."""
    jax = sys.modules.get("jax")
    asked = os.environ.get("JAX_ENABLE_X64", "").lower() in ("1", "true", "on", "yes", "y", "t")
    return asked if jax is None else bool(jax.config.jax_enable_x64)


def _until(deadline: float, progress: Progress | None) -> Progress:
    """The same reports, and an `OutOfTimeError` once a batch ends after the deadline."""

    def report(event: SweepEvent) -> None:
        if progress is not None:
            progress(event)
        if event.kind in ("computed", "failed") and time.monotonic() > deadline:
            raise OutOfTimeError

    return report


@contextlib.contextmanager
def _workers(experiment: Experiment, given: Executor | None) -> Iterator[Executor | None]:
    """The executor that was given; else, on an accelerator, threads, if the experiment wants some.

    Interrupted, a thread ends the batch that it computes.
    """
    if given is not None or experiment.at_once == 1 or not accelerated():
        yield given
        return
    with ThreadPoolExecutor(experiment.at_once, thread_name_prefix="batch") as threads:
        yield threads


def _at_a_time(executor: Executor | None) -> int:
    slots = getattr(executor, "slots", getattr(executor, "_max_workers", 1))
    return max(1, slots) if isinstance(slots, int) else 1


def _chosen(
    experiment: str | type[Experiment] | Experiment,
    preset: str | None,
    seeds: int | range | None,
    overrides: Mapping[str, Any],
) -> tuple[str, Experiment]:
    """The experiment with its parameters, and the name of its preset."""
    if isinstance(experiment, Experiment):
        if preset is not None:
            raise UsageError(
                f"preset: received {preset!r} with an experiment that has its parameters; give its "
                f"class instead, {type(experiment).__name__}, or no preset"
            )
        check_experiment(type(experiment))
        return "own", experiment.replace(seeds=seeds, **overrides)
    if isinstance(experiment, str):
        kind = find_experiment(experiment)
    elif isinstance(experiment, type) and issubclass(experiment, Experiment):
        kind = experiment
        check_experiment(kind)
    else:
        raise UsageError(
            f"experiment: received {experiment!r}, give an id, a file, or an Experiment"
        )
    name = preset or "quick"
    return name, kind.from_preset(name, seeds=seeds, **overrides)


def _created(root: Path, experiment: str) -> Path:
    folder = root / experiment
    try:
        folder_within(root, experiment, "store")
        folder.mkdir(parents=True, exist_ok=True)
    except FileKindError as error:
        raise UsageError(f"results: {error}") from None
    except OSError as error:
        raise UsageError(
            f"results: the folder {shown(str(folder))} cannot be created: {error.strerror}"
        ) from error
    return folder


def _check_results(
    experiment: Experiment, dataset: "xarray.Dataset", summary: SweepSummary
) -> None:
    """A run without any result is an error."""
    if summary.failed and not dataset[PRESENT].values.any():
        first = summary.failed[0]
        error = ReproductionError(
            f"{experiment.id}: every batch failed, the first ({first.batch.label}) with "
            f"{first.message}" + (f"; the traceback is in {first.record}" if first.record else "")
        )
        error.add_note(first.traceback)
        raise error


def _decided(experiment: Experiment, dataset: "xarray.Dataset") -> DecidedClaims:
    """The claims, if that is what they are, each under a name of its own."""
    made: Any = experiment.claims(dataset)
    claims = DecidedClaims(made if isinstance(made, Iterable) else (made,))
    wrong = [claim for claim in claims if not isinstance(claim, Claim)]
    if wrong:
        raise UsageError(
            f"{experiment.id}: claims() gave {wrong[0]!r}, return the Claims that it makes"
        )
    counts = Counter(claim.name for claim in claims)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise UsageError(f"{experiment.id}: two claims have one name, {twice[0]!r}; rename one")
    return claims


def _counted(experiment: Experiment, dataset: "xarray.Dataset") -> dict[str, int]:
    """How many runs ended how, and how many cells hold none."""
    ended, ran = dataset["outcome"], experiment.ran(dataset)
    counts = {name: int(((ended == name) & ran).sum()) for name in OUTCOMES}
    counts[NO_RUN] = int((~ran & ended.isin(OUTCOMES)).sum())
    return {name: count for name, count in counts.items() if count}


def _write(reproduction: Reproduction, store: Store) -> None:
    from tacit.draw import save_both

    keep_other(reproduction.path, reproduction.preset)
    costs = json.dumps(reproduction.costs(), indent=1, allow_nan=False, ensure_ascii=False)
    page = json.dumps(page_record(reproduction, store), allow_nan=False, ensure_ascii=False)
    for name, words in (
        ("claims.json", claims_text(reproduction)),
        ("run.json", f"{costs}\n"),
        (PAGE_FILE, f"{page}\n"),
    ):
        write_atomically(reproduction.path / name, words.encode())
    with phase("drawing"):
        save_both(reproduction.figure(), reproduction.path / "figure")
