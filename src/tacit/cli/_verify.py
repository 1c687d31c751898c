"""`tacit verify`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit._errors import UsageError
from tacit._files import FileKindError, WriteError, folder_within, write_atomically
from tacit.cli._console import open_console, open_table, tell
from tacit.cli._text import marked
from tacit.reproduction import results_folder

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.statements import Verification, Verified

_FEW = 3  # statements of which the words are given whole
_NUMBERS, _PLACE, _WORDS = 61, 26, 40  # columns that they take, with the space around them
_COLOURS = {"holds": "green", "holds with a correction": "cyan", "fails": "red"}


def run(
    targets: Sequence[str],
    *,
    instances: int | None,
    seed: int,
    mutations: bool,
    replay_file: Path | None,
    errata: Path | None,
    sharpness: Path | None,
    results: Path | None,
    as_json: bool,
) -> int:
    """Check statements, or one kept instance, or write the page of errata or of sharpness."""
    from tacit.statements import StatementError, errata_page, replay, verify

    given = {"--replay": replay_file, "--errata": errata, "--sharpness": sharpness}
    alone = [name for name, file in given.items() if file is not None]
    measured = sharpness is not None and sharpness.suffix == ".json"
    others = (targets and not measured) or instances is not None or mutations or len(alone) > 1
    if alone and others:
        raise UsageError(f"{alone[0]}: it stands alone, without statements and other options")
    # With --json standard output is for the object alone.
    console = open_console(stderr=as_json)
    try:
        if errata is not None:
            return _write("errata", errata, errata_page())
        if sharpness is not None:
            return _write_sharpness(sharpness, targets, console)
        if replay_file is not None:
            done = replay(replay_file)
        else:
            with console.status("") as status:
                done = verify(
                    *targets,
                    instances=instances,
                    seed=seed,
                    mutations=mutations,
                    progress=lambda one: status.update(one.id),
                )
    except StatementError as error:  # written wrongly, which is no verdict
        print(f"tacit: {error}", file=sys.stderr)
        return 1
    kept = {} if replay_file is not None else _kept(done, results_folder(results))
    if replay_file is None:
        _keep_margins(done, results_folder(results))
    _tell(console, done, kept)
    if as_json:
        record = done.to_dict()
        for entry in record["statements"]:
            entry["instance"] = str(kept[entry["id"]]) if entry["id"] in kept else None
        print(json.dumps(record, ensure_ascii=False))
    return 0 if done.as_expected else 1


def _write(what: str, path: Path, page: str) -> int:
    try:
        write_atomically(path, page.encode())
    except WriteError as error:
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise UsageError(f"{what}: {str(path)!r} cannot be written: {cause.strerror}") from error
    print(path)
    return 0


def _write_sharpness(path: Path, targets: Sequence[str], console: "Console") -> int:
    """The page, or the record, in which what is not measured now stays as it was."""
    from tacit.statements import measure_sharpness, read_record, record_text, sharpness_page

    if path.suffix == ".md":
        return _write("sharpness", path, sharpness_page())
    if path.suffix != ".json":
        raise UsageError(
            f"sharpness: received {str(path)!r}, allowed is a file that ends in .md or in .json"
        )
    known = read_record(path) if path.exists() else None
    with console.status("") as status:
        record = measure_sharpness(
            *targets, known=known, progress=lambda one: status.update(one.id)
        )
    return _write("sharpness", path, record_text(record))


def _kept(done: "Verification", folder: Path) -> dict[str, Path]:
    """The worst instance of each failing statement, each in its own file."""
    return {
        one.statement.id: one.worst.save(
            folder
            / "verify"
            / f"{one.statement.id}-seed{one.worst.seed}-{one.worst.index}.safetensors"
        )
        for one in done.statements
        if one.verdict == "fails"
    }


def _keep_margins(done: "Verification", folder: Path) -> None:
    """The last answer on each statement, for the report; where it cannot be kept, it is said."""
    from tacit.site import MARGINS, read_margins

    path = folder / MARGINS
    answers = {one["id"]: one for one in done.to_dict()["statements"]}
    text = json.dumps(read_margins(path) | answers, ensure_ascii=False, indent=1)
    try:
        path = folder_within(folder, str(MARGINS))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{text}\n".encode())
    except (OSError, FileKindError) as error:
        print(f"tacit: the margins are not kept for the report: {error}", file=sys.stderr)


def _tell(console: "Console", done: "Verification", kept: dict[str, Path]) -> None:
    # A long table has one line for each; what there is no room for is left out.
    long = len(done.statements) > _FEW
    left = console.width - max(len(one.statement.id) for one in done.statements) - _NUMBERS
    table = open_table()
    table.add_column("statement", overflow="fold", no_wrap=True)
    placed, worded = left >= _PLACE, left >= _PLACE + _WORDS
    if placed:
        table.add_column("place", no_wrap=True, overflow="ellipsis", max_width=_PLACE - 2)
    if worded:
        table.add_column(
            "in our words", overflow="ellipsis", no_wrap=long, max_width=left - _PLACE - 2
        )
    table.add_column("tried", justify="right", no_wrap=True)
    table.add_column("worst margin", no_wrap=True)
    table.add_column("sharp to", justify="right", no_wrap=True)
    table.add_column("verdict")
    for one in done.statements:
        mark = "" if one.as_expected else " ← not as expected"
        table.add_row(
            one.statement.id,
            *([marked(one.statement.place)] if placed else []),
            *([marked(one.statement.words)] if worded else []),
            str(one.claim.samples),
            f"{one.claim.measured:.1e} {'≤' if one.claim.relation == '<=' else '≥'} "
            f"{one.claim.bound:.0e}",
            "?" if one.sharpness is None else str(one.sharpness),
            f"[{_COLOURS.get(one.verdict, 'yellow')}]{one.verdict}{mark}[/]",
        )
    console.print(table)
    for one in done.statements:
        if not long and not worded:
            tell(console, f"{one.statement.id}: {one.statement.place}: {one.statement.words}")
        for line in _lines(one, kept):
            tell(console, line)
    tell(console, f"{_counts(done)}; {done.seconds:.1f} s")


def _lines(one: "Verified", kept: dict[str, Path]) -> list[str]:
    """What does not fit into the table: why, and where to look."""
    name = one.statement.id
    lines = []
    for erratum, trial in one.printed:
        word = "correction" if not trial.met else "NOT SHOWN, the printed form holds too"
        place = erratum.place or one.statement.place
        lines.append(f"{name}: {word} ({place}): {erratum.as_corrected}")
    lines += [f"{name}: NOT CAUGHT: {what}" for what, caught in one.mutants if not caught]
    if one.verdict == "fails" and one.statement.because:
        lines.append(f"{name}: expected to fail, because {one.statement.because}")
    if name in kept:
        lines.append(f"{name}: the worst instance: tacit verify --replay {kept[name]}")
    return lines


def _counts(done: "Verification") -> str:
    verdicts = [one.verdict for one in done.statements]
    return ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
