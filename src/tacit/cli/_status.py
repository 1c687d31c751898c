"""`tacit status`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.cli._text import many, plain
from tacit.experiments import UsageError
from tacit.reproduction import (
    find_experiment,
    parse_seeds,
    parse_settings,
    planned,
    results_folder,
    words_on_changes,
)
from tacit.store import Plan, Status, Store, StoreError, stores_in
from tacit.sweep import Batch

_SHOWN_FAILURES = 10


@dataclass(frozen=True)
class _Row:
    experiment: str
    version: int
    name: str
    path: Path
    status: Status
    warnings: tuple[str, ...] = ()
    codes: Mapping[str | None, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment,
            "version": self.version,
            "preset": self.name,
            "path": str(self.path),
            **self.status.to_dict(),
            "codes": {code or "unknown": count for code, count in self.codes.items()},
            "warnings": list(self.warnings),
        }


def run(
    targets: Sequence[str],
    *,
    preset: str | None,
    settings: Sequence[str],
    seeds: str | None,
    results: Path | None,
    as_json: bool,
) -> int:
    """Print for each store how many cells are done, missing and failed."""
    asked = preset is not None or bool(settings) or seeds is not None
    rows: list[_Row] = []
    for target in targets or [str(results_folder(results))]:
        if not Path(target).is_dir() and targets:
            rows.append(_of_experiment(target, preset, settings, seeds, results))
        elif asked:
            raise UsageError(
                f"preset, set, seeds: received with the folder {target!r}, they need the id of an "
                "experiment"
            )
        else:
            rows += [_of_store(path) for path in _found(target)]
    if as_json:
        print(json.dumps({"stores": [row.to_dict() for row in rows]}, ensure_ascii=False))
    else:
        for row in rows:
            _tell(row)
    return 0


def _found(folder: str) -> list[Path]:
    found = stores_in(folder)
    if not found:
        raise StoreError(
            f"{folder} holds no store: give a folder of results, or an experiment's id"
        )
    return found


def _of_store(path: Path) -> _Row:
    store = Store.existing(path, read_only=True)
    plan = store.plan()
    if plan is None:
        # Parts alone, for example of a merge by hand: what is there is all that is known.
        return _row(store, None, Status(cells=len(store), done=len(store)))
    store.fit(plan)
    return _row(store, plan, store.status(plan))


def _of_experiment(
    name: str,
    preset: str | None,
    settings: Sequence[str],
    seeds: str | None,
    results: Path | None,
) -> _Row:
    given = preset is not None or bool(settings) or seeds is not None
    stored = results_folder(results) / name / "store"
    if not given and not name.endswith(".py") and (stored / "store.json").is_file():
        return _of_store(stored)  # what the last run asked for; nothing is imported for it
    experiment = find_experiment(name)
    chosen = preset or "quick"
    settled = parse_settings(experiment, settings)
    made = experiment.from_preset(chosen, seeds=parse_seeds(seeds), **settled)
    plan = planned(made, chosen)
    path = results_folder(results) / experiment.id / "store"
    if not path.exists():
        return _Row(
            experiment.id, experiment.version, chosen, path, Status(cells=len(plan), done=0)
        )
    store = Store(path, experiment=experiment.id, version=experiment.version, read_only=True)
    asked = plan if given else store.plan() or plan
    store.fit(asked)
    store.warnings += words_on_changes(store, asked, made)
    return _row(store, asked, store.status(asked))


def _row(store: Store, plan: Plan | None, status: Status) -> _Row:
    return _Row(
        store.identity.experiment,
        store.identity.version,
        plan.name if plan is not None else "",
        store.path,
        status,
        tuple(store.warnings),
        store.codes(plan) if plan is not None else {},
    )


def _tell(row: _Row) -> None:
    status = row.status
    title = " · ".join(word for word in (row.experiment, row.name, str(row.path)) if word)
    ended = ", ".join(f"{count} {word}" for word, count in status.outcomes.items())
    print(plain(title))
    print(
        f"  {many(status.cells, 'cell')}: {status.done} done{f' ({ended})' if ended else ''}, "
        f"{status.missing} missing, {len(status.failed)} failed"
        + (f"; {many(status.batches_at_work, 'batch')} at work" if status.batches_at_work else "")
    )
    known = [count for code, count in row.codes.items() if code is not None]
    if len(known) > 1:
        print(f"  computed by {len(known)} codes: {', '.join(map(str, known))} cells")
    for failure in status.failed[:_SHOWN_FAILURES]:
        print(plain(f"  failed: {Batch(0, (failure.cell,)).label}: {failure.message}"))
    hidden = len(status.failed) - _SHOWN_FAILURES
    if hidden > 0:
        print(f"  … and {hidden} more: --json lists them all")
    for warning in row.warnings:
        print(plain(f"  {warning}"))
