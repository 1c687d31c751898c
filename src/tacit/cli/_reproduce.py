"""`tacit reproduce`: what it runs, and who computes."""

import contextlib
import io
import json
import shlex
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit._files import NO_SPACE
from tacit.claims._shown import tally
from tacit.cli._console import open_console, tell
from tacit.cli._debugger import Debugged, open_debugger
from tacit.cli._explained import INTERRUPTED
from tacit.cli._narrator import Narrator, say
from tacit.cli._pages import Pages
from tacit.cli._telling import tell_run
from tacit.cli._text import many
from tacit.experiments import Experiment, UsageError, accelerated
from tacit.reproduction import (
    Reproduction,
    ReproductionError,
    expected_minutes,
    experiment_ids,
    find_experiment,
    free_programs,
    parse_seeds,
    parse_settings,
    place_in_own_file,
    reproduce,
    results_folder,
    words_on_missing,
)
from tacit.reproduction._profile import profiled, whole_words
from tacit.store import Store, StoreError, WriteError, write_atomically
from tacit.sweep import (
    ProcessWorkers,
    WorkerDiedError,
    WorkersError,
    WorkersLostError,
    core_count,
    dask_workers,
)

if TYPE_CHECKING:
    from rich.console import Console


UNDECIDED = 3


@dataclass(frozen=True)
class Request:
    """What is asked of every experiment; it can be sent to another process."""

    preset: str
    settings: tuple[str, ...]
    seeds: int | range | None
    results: Path | None
    fresh: bool
    accept_changed: bool
    until_decided: bool | None
    budget: float
    seeds_at_most: int
    compare: bool
    alone: bool = True
    debug: bool = False
    profile: bool = False

    def missing(self, kind: type[Experiment]) -> str | None:
        """What the experiment needs and this machine lacks, in words."""
        values = parse_settings(kind, self.settings)
        chosen = kind.from_preset(self.preset, seeds=self.seeds, **values)
        return words_on_missing(chosen, preset=self.preset, results=self.results, fresh=self.fresh)

    def run(
        self,
        kind: type[Experiment],
        console: "Console",
        executor: Executor | None,
        progress: "Narrator | None",
    ) -> dict[str, Any]:
        """Run one experiment, tell what came out, and give its record."""
        if not self.profile:
            return self._run(kind, console, executor, progress)
        with profiled() as profile:
            record = self._run(kind, console, executor, progress)
        if "skipped" not in record:
            tell(console, profile.words())
        return {**record, "profile": profile.to_dict()}

    def _run(
        self,
        kind: type[Experiment],
        console: "Console",
        executor: Executor | None,
        progress: "Narrator | None",
    ) -> dict[str, Any]:
        tell(console, f"{kind.id} · {self.preset} · {kind.summary}", indent=0, style="bold")
        if (words := self.missing(kind)) is not None:
            tell(console, f"skipped: {words}")
            return {"experiment": kind.id, "preset": self.preset, "skipped": words}
        try:
            made = reproduce(
                kind,
                preset=self.preset,
                seeds=self.seeds,
                results=self.results,
                fresh=self.fresh,
                accept_changed=self.accept_changed,
                until_decided=self.until_decided,
                budget=self.budget,
                seeds_at_most=self.seeds_at_most,
                executor=executor,
                progress=progress,
                **parse_settings(kind, self.settings),
            )
        except ReproductionError as error:
            return self._failed(kind, str(error))
        except (UsageError, StoreError) as error:
            if self.alone:
                raise
            return self._failed(kind, str(error))
        except (WriteError, WorkersError, WorkersLostError):
            raise  # the others would fail as well
        except (Exception, SystemExit) as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                raise
            if self.debug:
                open_debugger(error)
            return self._failed(kind, self._broken(kind, error))
        tell_run(console, made, compare=self.compare)
        return _record(made, compare=self.compare)

    def _failed(self, kind: type[Experiment], words: str) -> dict[str, Any]:
        say(words)
        return {"experiment": kind.id, "preset": self.preset, "error": words}

    def _broken(self, kind: type[Experiment], error: BaseException) -> str:
        """A sentence on an error in an experiment's own claims or figure, kept with its traceback.

        What was computed is stored, and the other experiments go on.
        """
        place = place_in_own_file(error)
        folder = results_folder(self.results) / kind.id
        text = "".join(traceback.format_exception(error))
        words = f"{kind.id}: {type(error).__name__}: {error}" + (f" ({place})" if place else "")
        if not folder.is_dir():
            return words
        write_atomically(folder / "error.txt", text.encode(errors="backslashreplace"))
        return f"{words}; the traceback is in {folder / 'error.txt'}"


def run(
    ids: Sequence[str],
    *,
    every: bool,
    preset: str,
    settings: Sequence[str],
    seeds: str | None,
    results: Path | None,
    workers: int | None,
    scheduler: str | None,
    fresh: bool,
    accept_changed: bool,
    until_decided: bool | None,
    budget: float,
    seeds_at_most: int,
    compare: bool,
    dry_run: bool = False,
    debug: bool = False,
    profile: bool = False,
    as_json: bool,
) -> int:
    """Run the experiments; wrong use is found before the first begins."""
    if seeds_at_most < 1:
        raise UsageError(f"--seeds-at-most: received {seeds_at_most}, it must be at least 1")
    if debug and (workers is not None or scheduler is not None or every):
        raise UsageError(
            "--pdb: received with --workers, --scheduler or --all, but the debugger needs the "
            "experiment in this process: leave them out"
        )
    if profile and (workers is not None or scheduler is not None):
        raise UsageError(
            "--profile: received with --workers or --scheduler, but the clocks need each "
            "experiment in one process: leave them out; with --all each has one"
        )
    request = Request(
        preset,
        tuple(settings),
        parse_seeds(seeds),
        results,
        fresh,
        accept_changed,
        until_decided,
        budget,
        seeds_at_most,
        compare,
        debug=debug,
        profile=profile,
    )
    chosen = _chosen(ids, every, preset)
    request = replace(request, alone=len(chosen) == 1)
    named = [kind for kind in chosen if kind.id in ids or kind.source != kind.id]
    for kind in named:  # of a whole paper, as of all, those that lack something are skipped
        if (words := request.missing(kind)) is not None:
            raise UsageError(f"{kind.id}: {words}")
    if dry_run:
        from tacit.cli._dry_run import tell_plan

        return tell_plan(chosen, request, as_json=as_json)
    # With --json standard output is for the object alone.
    console = open_console(stderr=as_json)
    every = len(named) < len(chosen) and not debug
    processes = _processes(workers, scheduler, every=every)
    records: dict[str, dict[str, Any]] = {}
    narrator: Narrator | None = None
    pages = Pages(results_folder(results), several=len(chosen) > 1)
    try:
        if scheduler is None and processes is not None and len(chosen) >= 2 * processes:
            for kind, text, record in side_by_side(chosen, request, processes, console):
                console.file.write(text)
                records[kind.id] = record
                pages.update(kind.id)
        else:
            with Debugged() if debug else chosen_workers(processes, scheduler) as executor:
                for kind in chosen:
                    narrator = Narrator(console, kind.id)
                    records[kind.id] = request.run(kind, console, executor, narrator)
                    pages.update(kind.id)
                    if kind is not chosen[-1]:
                        free_programs()
    except KeyboardInterrupt:
        done = f"{len(records)} of {len(chosen)} experiments are done"
        folder = results_folder(results)
        _interrupted(done if narrator is None else _kept(folder, narrator.experiment), sys.argv[1:])
        return INTERRUPTED
    ordered = [records[kind.id] for kind in chosen]
    if len(ordered) > 1:
        tell(console, _in_all(ordered), indent=0, style="bold")
    tell(console, f"claims and figures: {pages.write()}", indent=0)
    if profile and len(ordered) > 1:
        tell(console, f"all: {whole_words(ordered)}", indent=0)
    if as_json:
        print(
            json.dumps(ordered[0] if len(ordered) == 1 else _several(ordered), ensure_ascii=False)
        )
    return _exit_code(ordered)


def _record(made: Reproduction, *, compare: bool) -> dict[str, Any]:
    record = made.to_dict()
    if compare:
        found = made.compare()
        record["moved"] = None if found.unable else [vars(movement) for movement in found.moved]
        if found.unable:
            record["not_compared"] = found.unable
    return record


def _in_all(records: Sequence[dict[str, Any]]) -> str:
    """How many experiments ran, and how all their claims came out."""
    counts = {
        "experiment": sum("claims" in record for record in records),
        "skipped": sum("skipped" in record for record in records),
        "failed": sum("error" in record for record in records),
    }
    words = [many(counts.pop("experiment"), "experiment")]
    words += [f"{count} {name}" for name, count in counts.items() if count]
    claims = [claim for record in records for claim in record.get("claims", ())]
    kinds = {"holds", "fails"}
    found = [
        (c["verdict"], c["verdict"] == c["expected"] if c["verdict"] in kinds else None)
        for c in claims
    ]
    return f"{', '.join(words)}; {tally(found)}"


def _exit_code(records: Sequence[dict[str, Any]]) -> int:
    """0 if all is as expected, 1 if something is not, moved or failed, 3 if undecided."""
    ran = [record for record in records if "skipped" not in record]
    if any(record.get("moved") for record in ran):
        return 1
    if any("error" in r or r["as_expected"] is False or "failed" in r["outcomes"] for r in ran):
        return 1
    return UNDECIDED if any(record["verdicts"]["undecided"] for record in ran) else 0


def _several(records: list[dict[str, Any]]) -> dict[str, Any]:
    verdicts: dict[str, int] = {}
    for record in records:
        for word, count in record.get("verdicts", {}).items():
            verdicts[word] = verdicts.get(word, 0) + count
    return {
        "experiments": records,
        "verdicts": verdicts,
        "as_expected": {0: True if any(verdicts.values()) else None, 1: False}.get(
            _exit_code(records)
        ),
        "seconds": round(sum(record.get("seconds", 0.0) for record in records), 3),
    }


def _chosen(ids: Sequence[str], every: bool, preset: str) -> list[type[Experiment]]:
    if every == bool(ids):
        raise UsageError(
            "experiment: give ids, papers or files, or else --all; tacit list shows the ids"
        )
    if every:
        return _every(preset)
    papers: dict[str, list[str]] = {}
    for name in experiment_ids():
        papers.setdefault(name.partition("/")[0], []).append(name)
    names = [one for name in ids for one in papers.get(name, [name])]
    return [find_experiment(name) for name in dict.fromkeys(names)]


def _every(preset: str) -> list[type[Experiment]]:
    """All that can be loaded and have the preset; a plug-in that cannot is left out, as we say."""
    kinds = []
    for name in experiment_ids():
        try:
            kinds.append(find_experiment(name))
        except UsageError as error:
            print(f"tacit: left out: {error}", file=sys.stderr)
    chosen = [kind for kind in kinds if preset in kind.presets]
    for kind in kinds if chosen else ():
        if kind not in chosen:
            print(f"tacit: left out: {kind.id} has no preset {preset!r}", file=sys.stderr)
    return chosen or kinds


def _kept(folder: Path, experiment: str) -> str:
    """What is stored of an experiment, as `tacit status` counts it."""
    try:
        store = Store.existing(folder / experiment / "store", read_only=True)
        plan = store.plan()
        if plan is None:
            raise StoreError("it was never asked for anything")
        status = store.status(plan)
    except (StoreError, OSError):
        return "nothing was being computed"
    return f"{status.done} of {status.cells} cells of {experiment} are stored"


def _interrupted(kept: str, arguments: Sequence[str]) -> None:
    """Say what Ctrl-C left, and how to resume: without --fresh, which starts again."""
    command = shlex.join(["tacit", *(word for word in arguments if word != "--fresh")])
    say(f"interrupted: {kept}; to go on from there: {command}")


def _processes(workers: int | None, scheduler: str | None, *, every: bool) -> int | None:
    """Without a word of the user, one process a core for all experiments; a GPU is not shared."""
    if workers is not None or scheduler is not None or not every or accelerated():
        return workers
    cores = core_count()
    return cores if cores > 1 else None


def side_by_side(
    chosen: Sequence[type[Experiment]], request: Request, processes: int, console: "Console"
) -> Iterator[tuple[type[Experiment], str, dict[str, Any]]]:
    """Whole experiments in processes of one thread each, the longest first, told as they end.

    Each compiles its programs once, in the one process that runs it. Left early, the processes are
    ended at once; what they have stored is there for the next run.
    """
    width, coloured = console.width, console.is_terminal
    with ProcessWorkers(processes) as pool:
        futures = {
            pool.submit(_in_a_process, kind.source or kind.id, request, width, coloured): kind
            for kind in sorted(chosen, key=lambda kind: -expected_minutes(kind.id, request.preset))
        }
        for future in as_completed(futures):
            kind = futures[future]
            try:
                text, record = future.result()
            except WorkerDiedError:
                words = f"{kind.id}: its process died, perhaps for want of memory"
                say(words)
                text = ""
                record = {"experiment": kind.id, "preset": request.preset, "error": words}
            yield kind, text, record


def _in_a_process(
    source: str, request: Request, width: int, coloured: bool
) -> tuple[str, dict[str, Any]]:
    """One experiment from start to end: what is to be printed, and its record."""
    from rich.console import Console

    free_programs()  # of the experiment before
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=coloured)
    silent = Narrator(Console(file=io.StringIO()), source)
    record = request.run(find_experiment(source), console, None, silent)
    return text.getvalue(), record


@contextlib.contextmanager
def chosen_workers(workers: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """The executor that was asked for; None computes in this process."""
    if scheduler is not None:
        with dask_workers(scheduler, workers=workers, notice=say) as executor:
            yield executor
    elif workers is not None:
        with ProcessWorkers(workers) as executor:
            yield executor
    else:
        yield None
